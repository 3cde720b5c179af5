#include "flow/run/stages/known.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/paths.h"

namespace solstice::flow {
namespace {

// The program on disk: another build may generate other code for the same text.
std::string identity_on_disk() {
  const Result<std::filesystem::path> self = executable_path();
  struct stat found {};
  if (!self.ok() || ::stat(self->c_str(), &found) != 0) return "";
  Hasher hasher;
  hasher.add(static_cast<int64_t>(found.st_size))
      .add(static_cast<int64_t>(found.st_mtim.tv_sec))
      .add(static_cast<int64_t>(found.st_mtim.tv_nsec));
  std::error_code ignored;  // without kernels nothing compiles, which others report
  if (const Result<std::filesystem::path> kernels = data_folder("kernels"); kernels.ok()) {
    int64_t newest = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*kernels, ignored)) {
      newest = std::max(newest, static_cast<int64_t>(entry.last_write_time(ignored).time_since_epoch().count()));
    }
    hasher.add(newest);
  }
  return hasher.hex();
}

// Of other numerics, or with other weights, are other candidates; runs of an earlier Solstice do not say.
bool same_terms(const RunRecord& run, const Session& state) {
  const Json& options = run.options;
  if (options.is_null()) return true;
  return options.at("numerics").as_string() == state.options.numerics &&
         options.at("frozen").as_bool() == state.options.frozen;
}

bool same_place(const RunRecord& run, const Session& state) {
  const auto version = [&run](const char* what) {
    const auto found = run.versions.find(what);
    return found == run.versions.end() ? std::string() : found->second;
  };
  return run.machine == state.machine->name && run.device == state.report.device &&
         version("build") == build_identity() && version("driver") == state.engine.driver;
}

}  // namespace

const std::string& build_identity() {
  static const std::string identity = identity_on_disk();
  return identity;
}

std::vector<propose::Known> known_candidates(Session& state) {
  std::vector<propose::Known> out;
  if (!state.gpu || !state.store) return out;
  // A run that goes on is told nothing of those that began after it.
  const std::string before = state.resumed ? state.resumed->run.started : "";
  const Result<std::vector<store::LoadedRun>> runs = state.store->verified_trials(state.problem_key, before);
  if (!runs.ok()) {
    log_warning("earlier runs do not order this search", Json::object().set("why", runs.error().text()));
    return out;
  }
  for (const store::LoadedRun& loaded : *runs) {
    if (!same_place(loaded.run, state) || !same_terms(loaded.run, state)) continue;
    for (const TrialRecord& trial : loaded.trials) {
      if (trial.measured) out.push_back({trial.settings, trial.program, *trial.measured, trial.equations, trial.cut});
    }
  }
  return out;
}

}  // namespace solstice::flow
