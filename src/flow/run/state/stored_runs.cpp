#include "flow/run/state/stored_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "flow/run/problem/written.h"
#include "lang/embed.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

// Before it is known what is there, a record says what was asked for.
bool names_gpu(const RunRecord& run) { return !run.device.empty() && run.device != "auto" && run.device != "model"; }

}  // namespace

Result<store::Store> store_of(const fs::path& named) {
  if (!named.empty()) return store::Store::open(named);
  SOLSTICE_TRY(const fs::path usual, store::Store::default_folder());
  return store::Store::open(usual);
}

Result<store::Store> existing_store(const fs::path& named) {
  std::error_code error;
  if (!named.empty() && !fs::exists(named / "runs.db", error)) {
    return fail(Code::not_found, fmt::format("{} is no run store: it has no runs.db", named.string()),
                "name the folder of one; without --store it is yours");
  }
  return store_of(named);
}

std::string problem_key(const std::string& source, const std::string& of, const ModuleOptions& module) {
  return hash_hex(source + (of.empty() ? "" : "\n--of\n" + of) + module.class_name +
                  (module.mode.empty() ? "" : "\n--" + module.mode));
}

Status read_source(const ModuleOptions& module, StoredRun& stored) {
  if (!module.file.empty()) {
    SOLSTICE_TRY(stored.source, is_program(module.file) ? lang::read_program(module.file) : read_file(module.file));
  }
  if (!module.of.empty()) {
    SOLSTICE_TRY(stored.of, read_file(module.of));
  }
  stored.problem_key = problem_key(stored.source, stored.of, module);
  return success();
}

std::string whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return path.empty() || error ? path.string() : whole.lexically_normal().string();
}

bool is_of_gpu(const store::LoadedRun& loaded) {
  if (names_gpu(loaded.run)) return true;
  return std::any_of(loaded.events.begin(), loaded.events.end(), [](const store::StoredEvent& stored) {
    const std::optional<search::Measurement>& found = stored.event.measurement;
    return stored.event.node > 0 && found && found->state == TrialState::kVerified;
  });
}

std::string gpu_of(const RunRecord& run) { return names_gpu(run) ? run.device : "a GPU"; }

std::optional<search::Stop> stop_named(const std::string& word) {
  const std::vector<const char*> names = enum_names(search::Stop{});
  const auto name = std::find(names.begin(), names.end(), word);
  if (name == names.end()) return std::nullopt;
  return static_cast<search::Stop>(name - names.begin());
}

bool is_measured_elsewhere(const RunRecord& run) {
  return run.state == RunState::kWaiting || run.options.at("batches").as_bool();
}

}  // namespace solstice::flow
