// The end of the search: the fastest trials are verified in full, timed in turn against the original, and the best of
// them wins.
#include <fmt/format.h>

#include <algorithm>

#include "flow/measured.h"
#include "flow/report_text.h"
#include "flow/session.h"
#include "numerics/value_families.h"
#include "run/abba.h"

namespace solstice::flow {
namespace {

constexpr size_t kFinalists = 3;
constexpr double kWithin = 1.05;  // of the fastest: beyond this a trial's few repetitions decide well enough

std::vector<Finalist> finalists_of(const search::Tree& tree) {
  std::vector<const search::Node*> usable;
  for (const search::Node& node : tree.nodes()) {
    if (node.usable()) usable.push_back(&node);
  }
  std::stable_sort(usable.begin(), usable.end(),
                   [](const auto* a, const auto* b) { return a->measurement->time < b->measurement->time; });
  std::vector<Finalist> out;
  for (const search::Node* node : usable) {
    if (out.size() == kFinalists || node->measurement->time > usable[0]->measurement->time * kWithin) break;
    out.emplace_back().node = node->id;
  }
  return out;
}

// Every value family and weight variant of the full verification, the default one first.
std::vector<CaseRequest> full_requests() {
  std::vector<CaseRequest> requests;
  for (int64_t seed : {1, 2}) requests.push_back({"full", seed, "default", "built"});
  requests.push_back({"full", 3, "default", "perturbed"});
  for (const numerics::ValueFamily& family : numerics::value_families()) {
    if (family.name != "default") requests.push_back({"full", 7, std::string(family.name), "built"});
  }
  return requests;
}

// The worst error of each output, of PyTorch and of the candidate.
void add_errors(std::vector<ErrorRow>& rows, const CaseVerdict& verdict) {
  for (const OutputVerdict& output : verdict.outputs) {
    const auto add = [&](const char* who, double normwise, double elementwise, bool limited) {
      auto found = std::find_if(rows.begin(), rows.end(), [&](const ErrorRow& r) { return r.output == output.output && r.who == who; });
      if (found == rows.end()) {
        rows.push_back({output.output, who, -1, 0, 0, 0, ""});
        found = rows.end() - 1;
      }
      if (found->normwise >= normwise) return;
      *found = {output.output, who, normwise, elementwise, 0, 0, verdict.name};
      if (limited) found->normwise_limit = output.limit_normwise, found->elementwise_limit = output.limit_elementwise;
    };
    if (output.pytorch_normwise) add("PyTorch eager", *output.pytorch_normwise, output.pytorch_elementwise.value_or(0), false);
    add("winner", output.normwise, output.elementwise, true);
  }
}

// Out of the running, for a reason that the report tells.
void refuse(Session& state, Finalist& finalist, std::string why) {
  finalist.refused = std::move(why);
  state.report.warnings.push_back(finalist.refused);
}

class FullVerification {
 public:
  FullVerification(Session& state, Finalist& finalist) : state_(state), finalist_(finalist) {}

  // One process for all cases: two slots, one for each pass; one set of the oracle in memory at a time.
  Result<Verdict> run() {
    SOLSTICE_TRY(all_, state_.judge->verify(plan(), state_.trial_cases, 2));
    for (const CaseVerdict& one : all_.cases) add_errors(finalist_.errors, one);
    for (const CaseRequest& request : full_requests()) {
      if (!all_.passed()) break;
      SOLSTICE_CHECK(try_case(request));
    }
    state_.judge->release();
    return std::move(all_);
  }

 private:
  std::filesystem::path plan() const { return state_.gpu_device->plan_of(finalist_.node); }

  // A case that the oracle has no room for beside the candidate gets all the memory there is.
  Result<std::optional<PreparedCase>> prepared(const CaseRequest& request) {
    Result<std::optional<PreparedCase>> made = prepare_case(*state_.oracle, *state_.judge, *state_.problem, request);
    if (made.ok() || made.error().code != Code::too_large || !state_.judge->held()) return made;
    state_.judge->release();
    return prepare_case(*state_.oracle, *state_.judge, *state_.problem, request);
  }

  // A family that memory has no room for is skipped, and the report says so.
  Status try_case(const CaseRequest& request) {
    Result<std::optional<PreparedCase>> made = prepared(request);
    if (!made.ok() && made.error().code == Code::too_large) {
      state_.report.warnings.push_back(fmt::format("not verified with {}: {}", request.title(), made.error().message));
      return success();
    }
    if (!made.ok()) return std::move(made).error();
    if (!*made) return success();
    const std::vector<run::JudgeCase> cases = {(*made)->judge};
    SOLSTICE_TRY(Verdict verdict, state_.judge->held() ? state_.judge->verify_more(cases) : state_.judge->verify(plan(), cases, 2));
    SOLSTICE_CHECK(release_case(*state_.oracle, *state_.judge, **made, *state_.trial_case, request.set));
    for (const CaseVerdict& one : verdict.cases) add_errors(finalist_.errors, one);
    all_.cases.insert(all_.cases.end(), verdict.cases.begin(), verdict.cases.end());
    if (verdict.passed()) return success();
    all_.outcome = verdict.outcome;
    all_.message = fmt::format("{}: {}", request.title(), verdict.message);
    return success();
  }

  Session& state_;
  Finalist& finalist_;
  Verdict all_;
};

Status verify_fully(Session& state, Finalist& finalist) {
  if (finalist.verdict || !finalist.refused.empty()) return success();
  SOLSTICE_TRY(finalist.verdict, FullVerification(state, finalist).run());
  if (finalist.verdict->passed()) return success();
  refuse(state, finalist, fmt::format("trial {} failed the full verification: {}", finalist.node + 1, finalist.verdict->message));
  return success();
}

// Verified on the trial's case once more, in a process that stays; `sharers` are still to be held, itself among them.
Status hold(Session& state, Finalist& finalist, int sharers) {
  if (!finalist.refused.empty()) return success();
  SOLSTICE_TRY(const Verdict verdict, state.judge->verify(state.gpu_device->plan_of(finalist.node), state.trial_cases, 0, sharers));
  if (verdict.passed()) {
    finalist.process = state.judge->held();
  } else {
    refuse(state, finalist, fmt::format("trial {} passed before and fails now: {}", finalist.node + 1, verdict.message));
  }
  return success();
}

run::TimeBlock block_of(Session& state, const Finalist& finalist) {
  return [&state, process = finalist.process](int repetitions) -> Result<std::vector<double>> {
    state.judge->use(process);
    SOLSTICE_TRY(run::TimedBlock block, state.judge->time_block(state.trial_cases, repetitions));
    if (!block.verdict.passed()) return fail(Code::candidate_failed, "a timed result is wrong: " + block.verdict.message);
    return std::move(block.seconds);
  };
}

// One block under CUPTI, after all that is timed by events: the span without the launch's own latency, and what ran, which
// must be the same in every repetition.
Status trace_span(Session& state, Finalist& finalist, int repetitions) {
  state.judge->use(finalist.process);
  SOLSTICE_TRY(run::TimedBlock block, state.judge->time_block(state.trial_cases, repetitions, run::Tracer::kCupti));
  if (block.verdict.passed()) {
    finalist.span = measured_of(block.seconds);
    finalist.activities = std::move(block.activities);
  } else if (block.verdict.outcome == Outcome::kCrashed) {  // it ran before: the trace failed
    state.report.warnings.push_back(fmt::format("trial {} was not traced: {}", finalist.node + 1, block.verdict.message));
  } else {
    refuse(state, finalist, fmt::format("trial {}, traced: {}", finalist.node + 1, block.verdict.message));
  }
  return success();
}

Status trace_spans(Session& state, const std::vector<Finalist*>& finalists, int repetitions) {
  SOLSTICE_TRY(const RunnerHello runner, state.judge->runner());
  state.report.versions["CUPTI"] = runner.cupti ? runner.cupti_note : "none: " + runner.cupti_note;
  if (!runner.cupti) return success();
  for (Finalist* finalist : finalists) {
    if (finalist->timing) SOLSTICE_CHECK(trace_span(state, *finalist, repetitions));
  }
  return success();
}

Status time_in_turn(Session& state) {
  std::vector<Finalist*> in;
  int sharers = static_cast<int>(state.finalists.size());
  for (Finalist& finalist : state.finalists) {
    SOLSTICE_CHECK(hold(state, finalist, sharers--));
    if (finalist.process) in.push_back(&finalist);
  }
  const run::TimeBlock original = [&](int repetitions) -> Result<std::vector<double>> {
    SOLSTICE_TRY(OracleBlock block, state.oracle->time_eager("trial", {repetitions, 1}));
    return std::move(block.seconds);
  };
  run::AbbaOptions options;
  options.budget = Seconds(1.5);  // it ranks them; the headline is measured on the drop-in
  options.most_rounds = 10;
  options.repetitions = repetitions_for(*state.problem, options.repetitions);
  const auto time_all = [&] {
    std::vector<run::TimeBlock> blocks;
    for (const Finalist* finalist : in) blocks.push_back(block_of(state, *finalist));
    return run::time_interleaved(blocks, original, [&] { return state.judge->clocks(); }, options);
  };
  auto timed = time_all();
  while (!timed.ok() && timed.error().code == Code::too_large && in.size() > 1) {  // the original needs room too
    refuse(state, *in.back(), fmt::format("trial {} was not timed in turn with faster ones: no memory is left for it", in.back()->node + 1));
    in.back()->process.reset();
    in.pop_back();
    state.judge->release();
    timed = time_all();
  }
  if (!timed.ok()) return std::move(timed).error();
  for (size_t i = 0; i < in.size(); ++i) {
    if ((*timed)[i].ok()) {
      in[i]->timing = std::move((*timed)[i]).value();
    } else {
      refuse(state, *in[i], fmt::format("trial {}: {}", in[i]->node + 1, (*timed)[i].error().message));
    }
  }
  SOLSTICE_CHECK(trace_spans(state, in, options.repetitions));
  for (Finalist* finalist : in) finalist->process.reset();
  state.judge->release();
  return success();
}

// The judge's L2 is cold. What is faster than its inputs can arrive has not done the work.
void void_impossible(Session& state) {
  for (Finalist& finalist : state.finalists) {
    if (!finalist.timing || !state.sol || !sol::violates(*state.sol, finalist.timing->candidate, sol::Cache::kCold)) continue;
    refuse(state, finalist, fmt::format("trial {}: {:.3g} ms is below the io bound of {:.3g} ms: the work cannot have been done", finalist.node + 1,
                                   finalist.timing->candidate.value * 1e3, state.sol->io.time.value * 1e3));
  }
}

// Those that were timed, fastest first.
std::vector<Finalist*> ranked(Session& state) {
  std::vector<Finalist*> out;
  for (Finalist& finalist : state.finalists) {
    if (finalist.refused.empty() && finalist.timing) out.push_back(&finalist);
  }
  std::stable_sort(out.begin(), out.end(), [](const Finalist* a, const Finalist* b) { return a->timing->speedup > b->timing->speedup; });
  return out;
}

Status pick(Session& state) {
  for (Finalist* finalist : ranked(state)) {
    SOLSTICE_CHECK(verify_fully(state, *finalist));
    if (!finalist->refused.empty()) continue;
    state.winner = finalist;
    state.report.errors = finalist->errors;
    break;
  }
  return success();
}

// No candidate won: the first refusal says why.
std::string no_winner(Session& state) {
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason = "no candidate was verified";
  for (const Finalist& finalist : state.finalists) {
    if (finalist.refused.empty()) continue;
    state.report.reason = finalist.refused;
    break;
  }
  return state.report.reason;
}

Status verify_favourite(Session& state) {
  return stage(state, "verify", "all value families", [&]() -> Result<std::string> {
    state.finalists = finalists_of(state.tree);
    for (Finalist& finalist : state.finalists) {
      SOLSTICE_CHECK(verify_fully(state, finalist));
      if (!finalist.refused.empty()) continue;
      return fmt::format("trial {} passed {} cases", finalist.node + 1, finalist.verdict->cases.size());
    }
    return no_winner(state);
  });
}

Status time_finalists(Session& state) {
  return stage(state, "finalists", "timed in turn against the original", [&]() -> Result<std::string> {
    SOLSTICE_CHECK(time_in_turn(state));
    void_impossible(state);
    SOLSTICE_CHECK(pick(state));
    if (state.winner) {
      const Timing& timing = *state.winner->timing;
      return fmt::format("trial {} of {} finalists, {:.3g}x [{:.3g}, {:.3g}]", state.winner->node + 1, state.finalists.size(),
                         timing.speedup, timing.interval999[0], timing.interval999[1]);
    }
    return no_winner(state);
  });
}

// No noise makes a win of a candidate that took 1.5 times as long as the original: it is not measured further.
bool hopeless(Session& state) {
  constexpr double kHopeless = 1.5;
  const search::Node* best = state.tree.best();
  if (!best || state.eager.value <= 0) return false;
  const Seconds time = best->measurement->time;
  if (time.value < kHopeless * state.eager.value) return false;
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason = fmt::format("the best candidate, trial {}, took {} where the original takes {}: {:.3g}x, not measured further",
                                    best->id + 1, time_text(time), time_text(state.eager), state.eager / time);
  state.progress.message(state.report.reason);
  return true;
}

}  // namespace

Status choose_winner(Session& state) {
  if (!state.gpu || hopeless(state)) return success();
  SOLSTICE_CHECK(verify_favourite(state));
  if (state.report.outcome != RunOutcome::kNone) return success();
  return time_finalists(state);
}

}  // namespace solstice::flow
