#include "flow/run/partial.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/time_text.h"
#include "flow/run/begin.h"
#include "flow/run/parts/ahead.h"
#include "flow/run/parts/assembly.h"
#include "flow/run/parts/cut.h"
#include "flow/run/parts/refused_calls.h"
#include "flow/run/parts/stage_progress.h"
#include "flow/run/parts/stage_runs.h"
#include "flow/run/problem/written.h"
#include "flow/run/stages/finals/conclusion.h"
#include "flow/run/stages/prepare/compiler.h"
#include "flow/run/state/resume_options.h"
#include "record/diagnosis/diagnosis_time.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr int kMostCuts = 12;    // a call that is refused makes other stages
constexpr int kLeastTrials = 4;  // of a stage
constexpr int kTwinTrials = 2;   // of one that is equal to an earlier one: the best of that one, and the next
constexpr Seconds kOneTrial{2};  // compiles a candidate also where its kernels are slow to compile

int trials_of(const std::vector<StageOutcome>& stages) {
  int out = 0;
  for (const StageOutcome& each : stages) out += each.trials();
  return out;
}

Seconds spent_on(const std::vector<StageOutcome>& stages, const char* what) {
  Seconds out{0};
  for (const StageOutcome& each : stages) {
    if (!each.report) continue;
    const auto found = each.report->timings.find(what);
    if (found != each.report->timings.end()) out += found->second;
  }
  return out;
}

class Parts {
 public:
  Parts(Run& run, const OptimizePart& optimize, Opened& opened, const Problem& whole)
      : run_(run),
        optimize_(optimize),
        opened_(opened),
        whole_(whole),
        assembly_(run, opened, whole, [&run] { return run.engine.judge->clocks(); }),
        ahead_(run, opened) {}

  // False: nothing is ours.
  Result<bool> cut() {
    const Seconds began = monotonic_now();
    if (!opened_.gpu) SOLSTICE_CHECK(open_compiler(run_, opened_));  // with a GPU its judge starts it
    const Status done = stage(run_, "parts", "cutting the module", [&]() -> Result<std::string> {
      SOLSTICE_TRY(const sol::PredictedCalls calls, predict_calls(oracle(), opened_.machine, whole_.subject.flags));
      run_.report.predicted_original = calls.original;  // by the same prices as its parts
      for (int round = 0; round < kMostCuts; ++round) {
        SOLSTICE_TRY(cut_, cut_module(oracle(), refused_, calls));
        SOLSTICE_TRY(const bool settled, look_at_stages());
        if (settled) break;
      }
      SOLSTICE_CHECK(enter_stage(oracle(), 0));
      return fmt::format("stages of ours: {}, calls of PyTorch's: {}", cut_.stages.size(), cut_.calls.size());
    });
    SOLSTICE_CHECK(done);
    took_ = monotonic_now() - began;
    return !cut_.stages.empty();
  }

  // What of the module its calls one by one do not give, as where its graph misses an effect; "" where they give all.
  Result<std::string> difference() {
    const Result<ScheduleCheck> found = check_schedule(oracle());
    if (!found.ok() && opened_.gpu) return found.error();
    const std::string left_out = found.ok() ? found->left_out : found.error().message;
    if (!left_out.empty()) run_.report.warnings.push_back("the module's calls were not compared with it: " + left_out);
    if (!found.ok() || found->differences.empty()) return std::string();
    return fmt::format("the module cannot be cut: its calls one by one do not give its results ({})",
                       fmt::join(found->differences, "; "));
  }

  Status optimize_stages() {
    SOLSTICE_CHECK(identify_object(run_, whole_));
    if (opened_.gpu) SOLSTICE_CHECK(open_compiler(run_, opened_));
    SOLSTICE_CHECK(describe_run(run_));
    if (run_.stored.resumed) {
      SOLSTICE_TRY(before_, stage_runs(*run_.stored.store, run_.report.run));
    }
    for (const CutStage& stage : cut_.stages) {
      if (interrupted())
        done_.push_back({stage, {}, {}, "not tried: the run was stopped before it", true});
      else
        SOLSTICE_CHECK(optimize_stage(stage));
    }
    oracle().stop_when(nullptr);  // what was found is put together, also after Ctrl-C
    return enter_stage(oracle(), 0);
  }

  Status assemble() {
    SOLSTICE_CHECK(assembly_.finish(cut_, done_));
    run_.report.timings["search"] = spent_on(done_, "search");
    for (const char* what : {kDiagnosisTime, kDiagnosisWaited}) {
      if (const Seconds spent = spent_on(done_, what); spent.value > 0) run_.report.timings[what] = spent;
    }
    return success();
  }

 private:
  run::OracleClient& oracle() { return *run_.engine.oracle; }

  // Asks of each stage which of its calls cannot be ours. False: some cannot, and the module is cut anew.
  Result<bool> look_at_stages() {
    bool settled = true;
    for (const CutStage& stage : cut_.stages) {
      if (good_.contains(stage.names)) continue;
      SOLSTICE_CHECK(enter_stage(oracle(), stage.number));
      Result<LookedAt> found = refused_calls(run_, opened_);
      if (!found.ok() && !is_outcome(found.error())) return found.error();
      if (!found.ok()) found = LookedAt{all_of(stage, found.error().message), "", {}};
      if (found->refused.empty()) good_[stage.names] = found->key;
      settled = settled && found->refused.empty();
      // What stands before the first refusal is unlikely to be cut otherwise.
      if (settled && stage.like == 0) ahead_.begin(found->problem, run_.options.search.budget);
      refused_.merge(found->refused);
    }
    return settled;
  }

  static Refused all_of(const CutStage& stage, const std::string& why) {
    Refused out;
    for (const std::string& name : stage.names) out[name] = why;
    return out;
  }

  Status optimize_stage(const CutStage& stage) {
    SOLSTICE_CHECK(enter_stage(oracle(), stage.number));
    const OptimizeOptions options = options_of(stage);
    StageProgress progress(run_.progress, fmt::format("stage {}: ", stage.number));
    const std::string like = options.module.like.empty() ? "" : fmt::format(", equal to stage {}", stage.like);
    progress.message(fmt::format("{} on {}{}", stage.title, fmt::join(stage.inputs, ", "), like));
    if (!options.resume.empty())
      progress.message(fmt::format("run {} {}", options.resume,
                                   options.search.searched ? "has searched it already" : "began its search"));
    const Result<OptimizeOutcome> outcome = optimize_(options, progress);
    if (!run_.engine.oracle) return outcome.error();  // it held the module
    if (!outcome.ok()) {
      done_.push_back({stage, {}, {}, "it failed: " + outcome.error().message});
      return success();
    }
    done_.push_back({stage, outcome->report, outcome->out, ""});
    return success();
  }

  // Half of the budget is shared evenly, since a small stage is planned as slowly as a large one, and half by the
  // predicted time in PyTorch. A stage has its share, whatever those before it took, and what they left; where that is
  // no time to search, its first choice is tried alone.
  OptimizeOptions options_of(const CutStage& stage) {
    OptimizeOptions out = static_cast<const OptimizeOptions&>(run_.options);
    const SearchOptions& whole = run_.options.search;
    const int tried = trials_of(done_);
    const Seconds spent = spent_on(done_, "search");
    const Seconds budget = time_for_stages();
    const double own = share(stage, 0), left = share(stage, stage.number);
    out.module = {};
    out.module.name = fmt::format("{}, stage {}", name_of_problem(run_.options), stage.number);
    out.module.oracle_fd = run_.options.module.oracle_fd;
    out.module.part = true;
    out.module.part_of = run_.report.run;
    const auto known = good_.find(stage.names);
    const auto before = before_.find({out.module.name, known == good_.end() ? "" : known->second});
    out.resume = before == before_.end() ? "" : before->second.id;
    if (before != before_.end()) out.search.searched = before->second.over;
    out.left_out.clear();  // all is given, by the module's run
    out.out = run_.folders.fresh / "stages" / fmt::format("stage_{}", stage.number);
    out.search.budget = std::max(budget * own, (budget - spent) * left);
    const double most = std::max(whole.trials * own, (whole.trials - tried) * left);
    out.search.trials = std::max(kLeastTrials, static_cast<int>(most));
    if (const std::string like = run_of(stage.like); !like.empty()) {
      out.module.like = like;
      out.search.trials = kTwinTrials;
    }
    if (out.search.budget < kOneTrial) {  // which would end before it has found anything
      out.search.budget = kOneTrial;
      out.search.trials = 1;
    }
    out.baselines = false;
    out.keep = false;
    return out;
  }

  // What import and cutting took counts, of cutting but for half of the time.
  Seconds time_for_stages() const {
    const Seconds left = run_.options.search.budget - run_.imported;
    return std::max(left - took_, left * 0.5);
  }

  // Of a stage among those from number `from` on; every one takes a launch. What is found for a stage serves all that
  // are equal to it.
  double share(const CutStage& stage, int from) const {
    Seconds all{0};
    int count = 0;
    for (const CutStage& each : cut_.stages) {
      if (each.number < from) continue;
      all += served_by(each);
      ++count;
    }
    return all.value > 0 ? 0.5 / count + 0.5 * (served_by(stage) / all) : 1.0 / count;
  }

  Seconds served_by(const CutStage& stage) const {
    Seconds out{0};
    for (const CutStage& each : cut_.stages) {
      const bool own = each.number == stage.number && stage.like == 0;
      if (own || each.like == stage.number) out += each.seconds;
    }
    return out;
  }

  // Of the stage of this number; "" where it has none.
  std::string run_of(int number) const {
    for (const StageOutcome& each : done_) {
      if (each.stage.number == number && each.report) return each.report->run;
    }
    return "";
  }

  Run& run_;
  const OptimizePart& optimize_;
  Opened& opened_;
  const Problem& whole_;
  Assembly assembly_;
  CompiledAhead ahead_;
  Cut cut_;
  Seconds took_{0};  // to cut
  Refused refused_;
  std::map<std::vector<std::string>, std::string> good_;  // calls of stages that can be planned; keys of their problems
  StageRuns before_;                                      // of a run that goes on
  std::vector<StageOutcome> done_;
};

bool is_a_parts_fault(const Status& done) {
  constexpr Code kOfParts[] = {Code::unsupported_operator, Code::not_yet, Code::module_branches};
  return !done.ok() && std::find(std::begin(kOfParts), std::end(kOfParts), done.error().code) != std::end(kOfParts);
}

std::string note_of_branches(const Error& refused) {
  const std::string name = fs::path(refused.file).filename().string();
  return fmt::format(
      "{}the flow of control depends on the values of a tensor: the drop-in goes the way of the example "
      "inputs, and a call that goes another way runs the original",
      name.empty() ? "" : fmt::format("{}:{}: ", name, refused.line));
}

}  // namespace

bool may_be_cut(const Run& run, const Status& done) {
  if (is_program(run.options.module.file)) return false;  // its calls are not known to Python
  if (run.options.module.part || run.options.search.only) return false;
  const bool searched = run.stored.resumed && !run.stored.resumed->events.empty();  // as a whole
  return !run.options.place.detached && !searched && is_a_parts_fault(done);
}

Result<Parted> optimize_parts(Run& run, const OptimizePart& optimize, Opened& opened, const Problem& whole,
                              std::string& why_not) {
  Parts parts(run, optimize, opened, whole);
  const Result<bool> any = parts.cut();
  if (!any.ok() && is_of_the_user(any.error()) && any.error().code != Code::interrupted) {
    why_not = any.error().message;
    return Parted::kNone;
  }
  if (!any.ok()) return any.error();
  if (!*any) return Parted::kNone;
  SOLSTICE_TRY(why_not, parts.difference());
  if (!why_not.empty()) return Parted::kNone;
  if (run.options.search.in_turns) return Parted::kLater;
  if (whole.refused && whole.refused->code == Code::module_branches)
    run.report.warnings.push_back(note_of_branches(*whole.refused));
  SOLSTICE_CHECK(run.stored.store->keep_summary(run.report.run, Json::object().set(kCut, true)));
  SOLSTICE_CHECK(parts.optimize_stages());
  SOLSTICE_CHECK(parts.assemble());
  return Parted::kDone;
}

}  // namespace solstice::flow
