#include "flow/run/begin.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/file.h"
#include "base/version.h"
#include "flow/run/account.h"
#include "flow/run/state/build_identity.h"
#include "flow/run/state/stored_runs.h"
#include "llm/secret.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::string working_folder() {
  std::error_code gone;  // then nothing there can be reproduced
  return fs::current_path(gone).string();
}

// The command line without its keys: reports and exports are shown to others.
std::vector<std::string> without_secrets(const Run& run) {
  const llm::Scrubber environment = llm::secrets_of_environment();
  std::vector<std::string> out;
  for (const std::string& word : run.options.command)
    out.push_back(environment.scrub(run.agent ? run.agent->scrub(word) : word));
  return out;
}

}  // namespace

void begin_report(Run& run) {
  Report& report = run.report;
  const RunOptions& options = run.options;
  report.problem = name_of_problem(options);
  report.file = whole_path(options.module.file);
  report.class_name = options.module.class_name;
  const std::string name = options.module.class_name.empty() ? "" : ":" + options.module.class_name;
  if (!options.module.of.empty()) report.original = whole_path(options.module.of) + name;
  report.command = without_secrets(run);
  report.working_folder = working_folder();
  report.created = utc_now();
  report.versions["solstice"] = std::string(version());
  report.options = {
      {"numerics", options.terms.numerics},
      {"weights", options.terms.frozen ? "frozen" : "live"},
      {"rewrites", options.terms.rewrites},
      {"memory", options.search.memory ? "on" : "off"},
      {"findings", options.search.findings ? "on" : "off"},
      {"budget", fmt::format("{:.0f} s, {}", options.search.budget.value, counted(options.search.trials, "trial"))}};
  if (!options.module.mode.empty()) report.options["mode"] = options.module.mode;
  if (run.agent) report.options["agent"] = run.agent->title();
  if (options.place.gpus.given()) report.options["devices"] = options.place.gpus.text();
}

Status describe_run(Run& run) {
  std::map<std::string, std::string> versions = run.report.versions;
  // Of a run that was measured elsewhere it is the build that measured.
  const std::optional<store::LoadedRun>& resumed = run.stored.resumed;
  const bool keeps = run.options.place.detached && resumed && is_of_gpu(*resumed) && versions.count("build");
  if (!keeps) versions["build"] = build_identity();
  const Json bounds = bounds_in_seconds(run.report);
  const Json summary = bounds.size() > 0 ? Json::object().set("bounds", bounds) : Json();
  return run.stored.store->describe_run(run.report.run, run.report.machine, run.report.device, versions, summary);
}

Status identify_object(Run& run, const Problem& problem) {
  if (!run.options.module.file.empty()) return success();
  StoredRun& stored = run.stored;
  stored.problem_key = key_of_object(problem);
  if (stored.resumed && !stored.resumed->events.empty() && stored.resumed->run.problem_key != stored.problem_key)
    return fail(Code::bad_argument, fmt::format("run {} is of another module", run.report.run));
  return stored.store->identify_run(run.report.run, stored.problem_key);
}

}  // namespace solstice::flow
