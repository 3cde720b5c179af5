#include "flow/run/state/resume_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "flow/run/opening.h"
#include "flow/run/report/report_text.h"

namespace solstice::flow {
namespace {

// Results of a batch may be of any device.
std::string device_asked_for(const OptimizeOptions& options) { return options.detached ? "auto" : options.device; }

std::string weights_word(bool frozen) { return frozen ? "frozen" : "live"; }
std::string on_or_off(bool on) { return on ? "on" : "off"; }

// Before it is known what is there, a record says what was asked for.
bool names_gpu(const RunRecord& run) { return !run.device.empty() && run.device != "auto" && run.device != "model"; }

std::string python_call(const std::string& run, const std::filesystem::path& store) {
  const std::string named = store.empty() ? "" : fmt::format(", store=\"{}\"", store.string());
  return fmt::format("solstice.optimize(module, example_inputs, resume=\"{}\"{})", run, named);
}

Status take_file(const RunRecord& run, OptimizeOptions& out) {
  if (!out.left_out.contains("FILE") || out.oracle_fd) return success();
  if (run.file.empty()) {
    return fail(Code::bad_argument,
                fmt::format("run {} is of a module that was passed in Python, which has to pass it again: `{}`", run.id,
                            python_call(run.id, out.store)));
  }
  out.file = run.file;
  out.class_name = run.options.at("class_name").as_string();
  return success();
}

// A language model that takes part for the first time has time as in a new run.
void take_search_options(const RunRecord& run, OptimizeOptions& out) {
  const Json& had = run.options;
  const auto taken = [&](const char* option, const char* member) {
    return out.left_out.contains(option) && !had.at(member).is_null();
  };
  const bool first_model = out.agent.wanted() && had.at("agent").as_string().empty();
  if (taken("--trials", "trials")) out.trials = static_cast<int>(had.at("trials").as_int());
  if (taken("--budget", "budget") && !first_model) out.budget = Seconds(had.at("budget").as_double());
  if (taken("--eps", "eps")) out.eps = had.at("eps").as_double();
  if (taken("--window", "window")) out.window = static_cast<int>(had.at("window").as_int());
  if (taken("--roi", "roi")) out.roi = had.at("roi").as_double();
  if (out.left_out.contains("--out") && !out.detached) out.out = run.folder;
}

void take_options(const store::LoadedRun& loaded, OptimizeOptions& out) {
  const RunRecord& run = loaded.run;
  const Json& had = run.options;
  const auto taken = [&](const char* option, const char* member) {
    return out.left_out.contains(option) && !had.at(member).is_null();
  };
  const bool measured_since = had.at("device").as_string() == "model" && is_of_gpu(loaded);  // by a batch
  if (taken("--device", "device") && !out.detached && !measured_since) out.device = had.at("device").as_string();
  if (taken("--machine", "machine") && !out.detached) out.machine = had.at("machine").as_string();
  if (taken("--numerics", "numerics")) out.numerics = had.at("numerics").as_string();
  if (taken("--weights", "frozen")) out.frozen = had.at("frozen").as_bool();
  if (taken("--rewrites", "rewrites")) out.rewrites = had.at("rewrites").as_bool();
  if (taken("--memory", "memory")) out.memory = had.at("memory").as_bool();
  if (out.detached) out.problem = run.problem;  // as batches name it
  if (out.left_out.contains("--seed")) out.seed = static_cast<uint64_t>(run.seed);
  // Nothing is found out of a machine that is elsewhere.
  if (out.detached && out.left_out.contains("--machine") && !run.machine.empty()) out.machine = run.machine;
}

// Options that are not as the run has them.
class Differences {
 public:
  Differences(const OptimizeOptions& options, const std::string& source, const store::LoadedRun& loaded)
      : options_(options), source_(source), run_(loaded.run), of_gpu_(is_of_gpu(loaded)) {
    look_at_file();
    if (!options_.detached) look_at_device();  // results of a batch may be of any
    look_at_options();
    look_at_key();
  }

  const std::vector<std::string>& found() const { return found_; }
  bool changed() const { return changed_; }  // the file is not what it was

 private:
  void add(const std::string& name, const std::string& had, const std::string& given) {
    found_.push_back(fmt::format("{} (the run has {}, given is {})", name, had, given));
  }

  void look_at_file() {
    if (options_.file.empty() || problem_key(source_, options_.class_name) == run_.problem_key) return;
    const std::string given = whole_path(options_.file), had_class = run_.options.at("class_name").as_string();
    const auto shown = [](const std::string& name) {
      return name.empty() ? std::string("none") : fmt::format("`{}`", name);
    };
    if (had_class != options_.class_name) add("the class", shown(had_class), shown(options_.class_name));
    if (problem_key(source_, had_class) == run_.problem_key) return;
    changed_ = run_.file == given;
    if (changed_) found_.push_back(fmt::format("FILE (the text of {} has changed since the run began)", given));
    if (!changed_) add("FILE", run_.file.empty() ? "a module that was passed in Python" : run_.file, given);
  }

  void look_at_device() {
    if (options_.device == "model" && of_gpu_) add("--device", gpu_of(run_), options_.device);
    if (of_gpu_ || run_.options.at("device").as_string() != "model") return;
    if (options_.device != "model") add("--device", "model", options_.device);
    if (options_.gpus.given()) add("--devices", "none: --device is model", options_.gpus.text());
  }

  void look_at_options() {
    const Json& had = run_.options;
    const auto compare = [&](const char* name, const Json& kept, const std::string& before, const std::string& given) {
      if (!kept.is_null() && before != given) add(name, before, given);
    };
    // Where no machine is given it is known later, and then compared.
    if (!options_.machine.empty() && !run_.machine.empty() && options_.machine != run_.machine)
      add("--machine", run_.machine, options_.machine);
    compare("--numerics", had.at("numerics"), had.at("numerics").as_string(), options_.numerics);
    compare("--weights", had.at("frozen"), weights_word(had.at("frozen").as_bool()), weights_word(options_.frozen));
    compare("--rewrites", had.at("rewrites"), on_or_off(had.at("rewrites").as_bool()), on_or_off(options_.rewrites));
    compare("--memory", had.at("memory"), on_or_off(had.at("memory").as_bool()), on_or_off(options_.memory));
  }

  // All that the record of an earlier Solstice has.
  void look_at_key() {
    if (!run_.options.is_null()) return;
    OptimizeOptions asked = options_;
    asked.detached = false;
    for (const char* device : {"auto", "gpu", "model"}) {
      asked.device = device;
      if (options_key_of(asked) == run_.options_key) return;
    }
    found_.push_back(fmt::format(
        "--numerics or --weights (given are {} and {}; a Solstice that kept no options began the run, so which "
        "it has is in its command: `{}`)",
        options_.numerics, weights_word(options_.frozen), shell_text(run_.working_folder, run_.command)));
  }

  const OptimizeOptions& options_;
  const std::string& source_;
  const RunRecord& run_;
  const bool of_gpu_;
  std::vector<std::string> found_;
  bool changed_ = false;
};

std::string with_store(std::vector<std::string> command, const std::filesystem::path& store) {
  if (!store.empty()) command.insert(command.end(), {"--store", store.string()});
  return shell_text(command);
}

// What the record of a Solstice that kept no options lacks: its file's class, numerics and weights, as its command has
// them.
std::vector<std::string> arguments_of(const RunRecord& run) {
  std::vector<std::string> out;
  for (size_t i = 0; run.options.is_null() && i < run.command.size(); ++i) {
    const std::string& word = run.command[i];
    const size_t colon = word.rfind(".py:");
    if (colon != word.npos && !run.file.empty()) out.push_back(run.file + word.substr(colon + 3));
    if (word.starts_with("--numerics=") || word.starts_with("--weights=")) out.push_back(word);
    if (word != "--numerics" && word != "--weights") continue;
    if (i + 1 < run.command.size()) out.insert(out.end(), {word, run.command[i + 1]});
  }
  return out;
}

}  // namespace

Json search_options(const OptimizeOptions& options) {
  Json out = Json::object()
                 .set("trials", options.trials)
                 .set("eps", options.eps)
                 .set("window", options.window)
                 .set("roi", options.roi);
  return options.detached ? out.set("batches", true)
                          : out.set("budget", options.budget.value);  // batches wait for days
}

Json kept_options(const OptimizeOptions& options) {
  Json out = search_options(options)
                 .set("class_name", options.class_name)
                 .set("device", device_asked_for(options))
                 .set("numerics", options.numerics)
                 .set("frozen", options.frozen)
                 .set("rewrites", options.rewrites)
                 .set("memory", options.memory);
  // Whoever measures elsewhere finds out what it is.
  return options.detached ? out : out.set("machine", options.machine);
}

std::string options_key_of(const OptimizeOptions& options) {
  return Hasher().add(device_asked_for(options)).add(options.numerics).add(int64_t{options.frozen}).hex();
}

Result<OptimizeOptions> as_begun(OptimizeOptions options) {
  SOLSTICE_TRY(store::Store store, existing_store(options.store));
  SOLSTICE_CHECK(store.close_abandoned());
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(options.resume));
  options.resume = loaded.run.id;
  SOLSTICE_CHECK(take_file(loaded.run, options));
  take_options(loaded, options);
  take_search_options(loaded.run, options);
  return options;
}

Status check_as_begun(const OptimizeOptions& options, const std::string& source, const store::LoadedRun& loaded) {
  const RunRecord& run = loaded.run;
  const Differences differences(options, source, loaded);
  if (differences.found().empty()) return success();
  const std::string way_out = differences.changed() ? "a new run is one of the new text: leave --resume out"
                                                    : fmt::format("what is not given is as the run has it: `{}`",
                                                                  command_to_resume(options, run));
  return fail(Code::bad_argument, fmt::format("run {} of {} cannot go on with other options than it has: {}; {}",
                                              run.id, run.problem, fmt::join(differences.found(), ", "), way_out));
}

bool is_of_gpu(const store::LoadedRun& loaded) {
  if (names_gpu(loaded.run)) return true;
  return std::any_of(loaded.events.begin(), loaded.events.end(), [](const store::StoredEvent& stored) {
    const std::optional<search::Measurement>& found = stored.event.measurement;
    return stored.event.node > 0 && found && found->state == TrialState::kVerified;
  });
}

std::string gpu_of(const RunRecord& run) { return names_gpu(run) ? run.device : "a GPU"; }

bool is_measured_elsewhere(const RunRecord& run) {
  return run.state == RunState::kWaiting || run.options.at("batches").as_bool();
}

std::string command_to_resume(const OptimizeOptions& options, const RunRecord& run) {
  if (options.oracle_fd || run.file.empty()) return python_call(run.id, options.store);
  std::vector<std::string> command = {"solstice", "optimize", "--resume", run.id};
  if (options.detached) command = {"solstice", "propose", run.id};
  const std::vector<std::string> more = arguments_of(run);
  command.insert(command.end(), more.begin(), more.end());
  return with_store(std::move(command), options.store);
}

std::string command_to_propose(const std::string& run, const std::filesystem::path& store) {
  return with_store({"solstice", "propose", run}, store);
}

std::string command_to_optimize(const std::string& run, const std::filesystem::path& store) {
  return with_store({"solstice", "optimize", "--resume", run}, store);
}

}  // namespace solstice::flow
