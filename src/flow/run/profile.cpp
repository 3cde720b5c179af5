#include "flow/run/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/version.h"
#include "diagnose/external.h"
#include "evaluate/findings/diagnosis.h"
#include "flow/run/state/resume_options.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace {

Status check_kernel(const Facts& facts, const std::string& kernel) {
  if (kernel.empty()) return success();
  std::vector<std::string> names;
  for (const KernelSheet& sheet : facts.kernels) names.push_back(sheet.kernel);
  if (std::find(names.begin(), names.end(), kernel) != names.end()) return success();
  return fail(Code::not_found, fmt::format("the program has no kernel `{}`", kernel),
              fmt::format("its kernels are {}", fmt::join(names, ", ")));
}

// The built-in tools, and those that are executables, which `own` keeps.
Result<std::vector<const diagnose::Tool*>> tools_of(const std::vector<std::string>& commands,
                                                    std::vector<std::unique_ptr<diagnose::Tool>>& own) {
  std::vector<const diagnose::Tool*> out = diagnose::all_tools();
  for (const std::string& command : commands) {
    SOLSTICE_TRY(std::unique_ptr<diagnose::Tool> tool, diagnose::tool_named(command));
    out.push_back(tool.get());
    own.push_back(std::move(tool));
  }
  return out;
}

// Facts that were saved may be anyone's: what they were taken with, where that is not what is here.
std::vector<std::string> notes_on(const Facts& facts, const machine::Machine& machine) {
  std::vector<std::string> out;
  if (!facts.version.empty() && facts.version != version())
    out.push_back(
        fmt::format("the facts were taken by solstice {}, and are diagnosed by {}: what either version alone "
                    "reads is missing",
                    facts.version, version()));
  if (!facts.device.empty() && facts.device != machine.device)
    out.push_back(
        fmt::format("the facts were taken on `{}`, and are held against the ceilings of `{}`: shares of "
                    "ceilings are those of the latter",
                    facts.device, machine.title));
  return out;
}

// The way out where a module cannot be loaded: its programs can.
std::string without_module(const std::string& run) {
  return fmt::format(
      "`solstice export {} DIR` writes its programs, and `solstice profile DIR/programs/N.ucut` reads "
      "one without its module",
      run);
}

Status check_loadable(const RunRecord& run, const ModuleOptions& given) {
  if (run.summary.at(kCut).as_bool())
    return fail(Code::bad_argument, fmt::format("run {} cut its module: its programs are those of its stages", run.id),
                fmt::format("`solstice show {}` lists the runs of its stages, and `solstice show STAGE --trial N` has "
                            "the findings of each trial",
                            run.id));
  if (run.options.at("part").as_bool())
    return fail(Code::bad_argument,
                fmt::format("run {} is of a stage of a module, which cannot be loaded by itself", run.id),
                without_module(run.id));
  if (!given.file.empty()) return success();
  if (run.file.empty())
    return fail(Code::bad_argument,
                fmt::format("the module of run {} was given as an object, which cannot be loaded again", run.id),
                "name a file that makes it: --of FILE.py:NAME; " + without_module(run.id));
  std::error_code ignored;
  if (std::filesystem::is_regular_file(run.file, ignored)) return success();
  return fail(Code::not_found, fmt::format("the file of run {} is gone: {}", run.id, run.file),
              "name where it is now: --of FILE.py; " + without_module(run.id));
}

}  // namespace

Status take_module_of(const store::LoadedRun& loaded, RunOptions& options, Progress& progress) {
  const RunRecord& run = loaded.run;
  SOLSTICE_CHECK(check_loadable(run, options.module));
  options.left_out.erase("--device");  // it is profiled on what is here
  options.left_out.erase("--machine");
  options.left_out.insert("--rewrites");
  if (options.module.file.empty()) {
    options.left_out.insert("FILE");
  } else if (options.module.mode.empty()) {
    options.module.mode = run.options.at("mode").as_string();
  }
  SOLSTICE_CHECK(take_as_begun(loaded, options));
  if (!run.machine.empty()) options.predicted_machine = run.machine;
  StoredRun now;
  SOLSTICE_CHECK(read_source(options.module, now));
  if (now.problem_key != run.problem_key)
    progress.message(fmt::format("{} is not what it was when run {} began: the program is held against what it is now",
                                 options.module.file.string(), run.id));
  return success();
}

namespace {

// Findings on the kernel, as its own where it shares them with others, and those on the whole program.
void keep_kernel(const std::string& kernel, std::vector<Finding>& findings) {
  std::erase_if(findings, [&](Finding& finding) {
    std::string& on = finding.place.kernel;
    const auto shared = std::find(finding.also.begin(), finding.also.end(), kernel);
    if (shared != finding.also.end()) std::swap(*shared, on);
    const auto its_move = [&](const FindingAction& action) {
      return action.kind != ActionKind::kText && action.kernel == kernel;
    };
    std::stable_partition(finding.actions.begin(), finding.actions.end(), its_move);
    return !on.empty() && on != kernel;
  });
}

}  // namespace

Result<Profile> profile_facts(Facts facts, const ProfileOptions& wanted) {
  SOLSTICE_CHECK(check_kernel(facts, wanted.kernel));
  diagnose::leave_out(wanted.without, facts);
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(facts.machine));
  const evaluate::Setting setting{machine, facts.numerics, facts.frozen};
  Profile out;
  std::vector<std::unique_ptr<diagnose::Tool>> own;
  diagnose::DiagnoseOptions options;
  options.without = wanted.without;
  SOLSTICE_TRY(options.tools, tools_of(wanted.tools, own));
  out.diagnosis = evaluate::diagnose_facts(facts, setting, std::move(options));
  if (!wanted.kernel.empty()) keep_kernel(wanted.kernel, out.diagnosis.findings);
  out.predicted = facts.device.empty();
  out.notes = notes_on(facts, machine);
  out.facts = std::move(facts);
  return out;
}

Result<Profile> profile_program(const std::string& text, const std::string& name, const RunOptions& options,
                                const ProfileOptions& wanted, Progress& progress) {
  RunOptions keeping = options;
  const std::vector<std::string>& without = wanted.without;
  keeping.diagnosis.keep_facts = true;
  keeping.diagnosis.all_counters |= !wanted.tools.empty();  // which may read any
  keeping.diagnosis.counters = std::find(without.begin(), without.end(), "counters") == without.end();
  SOLSTICE_TRY(const ProgramRun done, run_program(text, name, keeping, progress));
  const search::Measurement& m = done.measurement;
  if (m.state == TrialState::kIllegal) {
    Error error = fail(Code::program_invalid, name + " cannot be compiled", "correct it and run the command again");
    error.listing = m.detail;
    return error;
  }
  if (!m.usable()) {
    return fail(Code::candidate_failed, fmt::format("the program is {}: {}", enum_name(m.state), m.detail),
                "`solstice run` shows the whole verdict");
  }
  SOLSTICE_TRY(Facts facts, from_json<Facts>(m.record.at("diagnosed")));
  SOLSTICE_TRY(Profile out, profile_facts(std::move(facts), wanted));
  out.predicted = done.predicted;
  out.original = done.original;
  return out;
}

}  // namespace solstice::flow
