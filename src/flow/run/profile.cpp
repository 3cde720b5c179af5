#include "flow/run/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "diagnose/external.h"
#include "evaluate/findings/diagnosis.h"

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

}  // namespace

Result<Profile> profile_facts(Facts facts, const ProfileOptions& wanted) {
  SOLSTICE_CHECK(check_kernel(facts, wanted.kernel));
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(facts.machine));
  const evaluate::Setting setting{machine, facts.numerics, facts.frozen};
  Profile out;
  std::vector<std::unique_ptr<diagnose::Tool>> own;
  diagnose::DiagnoseOptions options;
  options.without = wanted.without;
  SOLSTICE_TRY(options.tools, tools_of(wanted.tools, own));
  out.diagnosis = evaluate::diagnose_facts(facts, setting, std::move(options));
  if (!wanted.kernel.empty()) {
    std::erase_if(out.diagnosis.findings, [&](const Finding& f) { return f.place.kernel != wanted.kernel; });
  }
  out.predicted = facts.device.empty();
  out.facts = std::move(facts);
  return out;
}

Result<Profile> profile_program(const std::string& text, const std::string& name, const OptimizeOptions& options,
                                const ProfileOptions& wanted, Progress& progress) {
  OptimizeOptions keeping = options;
  const std::vector<std::string>& without = wanted.without;
  keeping.diagnosis.keep_facts = true;
  keeping.diagnosis.counters = std::find(without.begin(), without.end(), "counters") == without.end();
  SOLSTICE_TRY(const ProgramRun done, run_program(text, name, keeping, progress));
  const search::Measurement& m = done.measurement;
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
