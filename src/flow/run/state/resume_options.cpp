#include "flow/run/state/resume_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "flow/run/report/report_text.h"
#include "flow/run/state/commands.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace {

// Results of a batch may be of any device.
std::string device_asked_for(const OptimizeOptions& options) {
  return options.place.detached ? "auto" : options.place.device;
}

std::string weights_word(bool frozen) { return frozen ? "frozen" : "live"; }
std::string on_or_off(bool on) { return on ? "on" : "off"; }
// Earlier versions kept a truth.
std::string rewrites_word(const Json& kept) { return kept.is_bool() ? on_or_off(kept.as_bool()) : kept.as_string(); }

Status take_file(const RunRecord& run, OptimizeOptions& out) {
  if (!out.left_out.contains("FILE") || out.module.oracle_fd) return success();
  if (run.file.empty()) {
    return fail(Code::bad_argument, fmt::format("the module of run {} was passed from Python", run.id),
                fmt::format("pass it again: `{}`", python_call(run.id, out.store)));
  }
  out.module.file = run.file;
  out.module.of = run.options.at("of").as_string();
  out.module.class_name = run.options.at("class_name").as_string();
  if (out.module.mode.empty()) out.module.mode = run.options.at("mode").as_string();
  return success();
}

// A language model that takes part for the first time has time as in a new run.
void take_search_options(const RunRecord& run, OptimizeOptions& out) {
  const Json& had = run.options;
  const auto taken = [&](const char* option, const char* member) {
    return out.left_out.contains(option) && !had.at(member).is_null();
  };
  const bool first_model = out.agent.wanted() && had.at("agent").as_string().empty();
  if (taken("--trials", "trials")) out.search.trials = static_cast<int>(had.at("trials").as_int());
  if (taken("--budget", "budget") && !first_model) out.search.budget = Seconds(had.at("budget").as_double());
  if (taken("--eps", "eps")) out.search.eps = had.at("eps").as_double();
  if (taken("--window", "window")) out.search.window = static_cast<int>(had.at("window").as_int());
  if (taken("--roi", "roi")) out.search.roi = had.at("roi").as_double();
  if (out.left_out.contains("--out") && !out.place.detached) out.out = run.folder;
}

void take_options(const store::LoadedRun& loaded, OptimizeOptions& out) {
  const RunRecord& run = loaded.run;
  const Json& had = run.options;
  const auto taken = [&](const char* option, const char* member) {
    return out.left_out.contains(option) && !had.at(member).is_null();
  };
  const bool measured_since = had.at("device").as_string() == "model" && is_of_gpu(loaded);  // by a batch
  if (taken("--device", "device") && !out.place.detached && !measured_since)
    out.place.device = had.at("device").as_string();
  if (taken("--machine", "machine") && !out.place.detached) out.place.machine = had.at("machine").as_string();
  if (taken("--numerics", "numerics")) out.terms.numerics = had.at("numerics").as_string();
  if (taken("--weights", "frozen")) out.terms.frozen = had.at("frozen").as_bool();
  if (taken("--rewrites", "rewrites")) out.terms.rewrites = rewrites_word(had.at("rewrites"));
  if (taken("--memory", "memory")) out.search.memory = had.at("memory").as_bool();
  if (taken("--findings", "findings")) out.search.findings = had.at("findings").as_bool();
  if (taken("--counters", "counters")) out.diagnosis.counters = had.at("counters").as_bool();
  if (out.place.detached) out.module.name = run.problem;  // as batches name it
  if (out.left_out.contains("--seed")) out.search.seed = static_cast<uint64_t>(run.seed);
  // Nothing is found out of a machine that is elsewhere.
  if (out.place.detached && out.left_out.contains("--machine") && !run.machine.empty()) out.place.machine = run.machine;
}

void take_lead(const store::LoadedRun& loaded, RunOptions& out) {
  out.had_batches = is_measured_elsewhere(loaded.run);
  out.led_before = lead_of(loaded.run.options);
  out.model_since = model_since(out.led_before, out.agent, loaded.events.size());
}

// Options that are not as the run has them.
class Differences {
 public:
  Differences(const OptimizeOptions& options, const StoredRun& now, const store::LoadedRun& loaded)
      : options_(options), now_(now), run_(loaded.run), of_gpu_(is_of_gpu(loaded)) {
    look_at_file();
    if (!options_.place.detached) look_at_device();  // results of a batch may be of any
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
    if (options_.module.file.empty() || problem_key(now_.source, now_.of, options_.module) == run_.problem_key) return;
    const std::string given = whole_path(options_.module.file), of = whole_path(options_.module.of);
    const std::string had_of = run_.options.at("of").as_string();
    ModuleOptions had;
    had.class_name = run_.options.at("class_name").as_string();
    had.mode = run_.options.at("mode").as_string();
    const auto shown = [](const std::string& name) {
      return name.empty() ? std::string("none") : fmt::format("`{}`", name);
    };
    if (had.class_name != options_.module.class_name)
      add("the class", shown(had.class_name), shown(options_.module.class_name));
    if (had.mode != options_.module.mode) add("the mode", shown(had.mode), shown(options_.module.mode));
    if (had_of != of) return add("--of", shown(had_of), shown(of));
    if (problem_key(now_.source, now_.of, had) == run_.problem_key) return;
    changed_ = run_.file == given;
    const std::string texts = of.empty() ? given : fmt::format("{} or {}", given, of);
    if (changed_) found_.push_back(fmt::format("FILE (the text of {} has changed since the run began)", texts));
    if (!changed_) add("FILE", run_.file.empty() ? "a module that was passed in Python" : run_.file, given);
  }

  void look_at_device() {
    if (options_.place.device == "model" && of_gpu_) add("--device", gpu_of(run_), options_.place.device);
    if (of_gpu_ || run_.options.at("device").as_string() != "model") return;
    if (options_.place.device != "model") add("--device", "model", options_.place.device);
    if (options_.place.gpus.given()) add("--devices", "none: --device is model", options_.place.gpus.text());
  }

  void look_at_options() {
    const Json& had = run_.options;
    const auto compare = [&](const char* name, const Json& kept, const std::string& before, const std::string& given) {
      if (!kept.is_null() && before != given) add(name, before, given);
    };
    // A machine that is not given is known later, and then compared.
    if (!options_.place.machine.empty() && !run_.machine.empty() && options_.place.machine != run_.machine)
      add("--machine", run_.machine, options_.place.machine);
    compare("--numerics", had.at("numerics"), had.at("numerics").as_string(), options_.terms.numerics);
    compare("--weights", had.at("frozen"), weights_word(had.at("frozen").as_bool()),
            weights_word(options_.terms.frozen));
    compare("--rewrites", had.at("rewrites"), rewrites_word(had.at("rewrites")), options_.terms.rewrites);
    compare("--memory", had.at("memory"), on_or_off(had.at("memory").as_bool()), on_or_off(options_.search.memory));
    compare("--findings", had.at("findings"), on_or_off(had.at("findings").as_bool()),
            on_or_off(options_.search.findings));
  }

  // All that the record of an earlier Solstice has.
  void look_at_key() {
    if (!run_.options.is_null()) return;
    OptimizeOptions asked = options_;
    asked.place.detached = false;
    for (const char* device : {"auto", "gpu", "model"}) {
      asked.place.device = device;
      if (options_key_of(asked) == run_.options_key) return;
    }
    found_.push_back(fmt::format(
        "--numerics or --weights (given are {} and {}; a Solstice that kept no options began the run, so which "
        "it has is in its command: `{}`)",
        options_.terms.numerics, weights_word(options_.terms.frozen), shell_text(run_.working_folder, run_.command)));
  }

  const OptimizeOptions& options_;
  const StoredRun& now_;
  const RunRecord& run_;
  const bool of_gpu_;
  std::vector<std::string> found_;
  bool changed_ = false;
};

}  // namespace

Json search_options(const OptimizeOptions& options) {
  Json out = Json::object()
                 .set("trials", options.search.trials)
                 .set("eps", options.search.eps)
                 .set("window", options.search.window)
                 .set("roi", options.search.roi);
  return options.place.detached ? out.set("batches", true)
                                : out.set("budget", options.search.budget.value);  // batches wait for days
}

Json kept_options(const OptimizeOptions& options) {
  Json out = search_options(options)
                 .set("class_name", options.module.class_name)
                 .set("mode", options.module.mode)
                 .set("of", whole_path(options.module.of))
                 .set("device", device_asked_for(options))
                 .set("numerics", options.terms.numerics)
                 .set("frozen", options.terms.frozen)
                 .set("rewrites", options.terms.rewrites)
                 .set("memory", options.search.memory)
                 .set("findings", options.search.findings)
                 .set("counters", options.diagnosis.counters);
  if (options.module.part) out.set("part", true).set("part_of", options.module.part_of);
  // Whoever measures elsewhere finds out what it is.
  return options.place.detached ? out : out.set("machine", options.place.machine);
}

std::string options_key_of(const OptimizeOptions& options) {
  return Hasher().add(device_asked_for(options)).add(options.terms.numerics).add(int64_t{options.terms.frozen}).hex();
}

Status check_whole(const RunRecord& run, const OptimizeOptions& options) {
  const std::string anew = run.file.empty() ? "" : fmt::format(": `{}`", shell_text(run.working_folder, run.command));
  if (run.options.at("part").as_bool()) {
    if (options.module.part) return success();  // its module's run goes on
    const std::string parent = run.options.at("part_of").as_string();
    return fail(
        Code::bad_argument,
        fmt::format("run {} ({}) is a part of {}: a stage is no module of its own, and continues with it", run.id,
                    run.problem, parent.empty() ? "a module's run" : "run " + parent),
        parent.empty() ? "optimize the module anew, without --resume" : "`solstice optimize --resume " + parent + "`");
  }
  if (!run.summary.at(kCut).as_bool()) return success();
  if (run.state == RunState::kFinished)
    return fail(
        Code::bad_argument,
        fmt::format("run {} has optimised {} in parts, and has ended: nothing is left to do", run.id, run.problem),
        "for another search optimize it anew, without --resume" + anew);
  if (!options.place.detached) return success();
  return fail(Code::bad_argument,
              fmt::format("run {} cut {} into parts, which batches do not measure", run.id, run.problem),
              fmt::format("`solstice optimize --resume {}` continues where the GPU is", run.id));
}

Status take_as_begun(const store::LoadedRun& loaded, OptimizeOptions& options) {
  SOLSTICE_CHECK(take_file(loaded.run, options));
  take_options(loaded, options);
  take_search_options(loaded.run, options);
  return success();
}

Status check_as_begun(const OptimizeOptions& options, const StoredRun& now, const store::LoadedRun& loaded) {
  const RunRecord& run = loaded.run;
  const Differences differences(options, now, loaded);
  if (differences.found().empty()) return success();
  const std::string way_out =
      differences.changed()
          ? "to use the new text begin a new run: leave --resume out"
          : fmt::format("options that are not given are those of the run: `{}`", command_to_resume(options, run));
  return fail(Code::bad_argument,
              fmt::format("run {} of {} cannot continue with other options than it began with: {}; {}", run.id,
                          run.problem, fmt::join(differences.found(), ", "), way_out));
}

Status complete_options(const store::LoadedRun* resumed, RunOptions& options) {
  AgentTerms before;
  if (resumed) {
    SOLSTICE_TRY(before, terms_of(resumed->run));
    take_lead(*resumed, options);
  }
  if (before.expert && !before.tune)
    before.tune = 0;  // terms are kept whole: these are of a Solstice whose expert did not tune
  options.agent.terms = options.agent.terms.or_as(before).or_as(AgentTerms::usual());
  std::string& policy = options.search.policy;
  if (policy.empty() && resumed) policy = resumed->run.policy;
  if (policy.empty()) policy = "greedy";
  options.named_out = !options.out.empty() && !(resumed && options.left_out.contains("--out"));
  options.asked_to_predict = options.place.device == "model" && !options.left_out.contains("--device");
  if (resumed && !resumed->run.machine.empty()) options.predicted_machine = resumed->run.machine;
  return success();
}

}  // namespace solstice::flow
