#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/interrupt.h"
#include "flow/dropin.h"
#include "flow/session.h"
#include "numerics/value_families.h"
#include "run/abba.h"

namespace solstice::flow {
namespace {

constexpr size_t kFinalists = 3;

std::vector<const search::Node*> finalists(const search::Tree& tree) {
  std::vector<const search::Node*> usable;
  for (const search::Node& node : tree.nodes()) {
    if (node.usable()) usable.push_back(&node);
  }
  std::stable_sort(usable.begin(), usable.end(),
                   [](const auto* a, const auto* b) { return a->measurement->time < b->measurement->time; });
  if (usable.size() > kFinalists) usable.resize(kFinalists);
  return usable;
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

void add_errors(Session& state, const CaseVerdict& verdict) {
  for (const OutputVerdict& output : verdict.outputs) {
    auto row = [&](const char* who, double normwise, double elementwise, bool limited) {
      auto found = std::find_if(state.report.errors.begin(), state.report.errors.end(),
                                [&](const ErrorRow& r) { return r.output == output.output && r.who == who; });
      if (found != state.report.errors.end() && found->normwise >= normwise) return;
      ErrorRow r{output.output, who, normwise, elementwise, 0, 0, verdict.name};
      if (limited) r.normwise_limit = output.limit_normwise, r.elementwise_limit = output.limit_elementwise;
      if (found != state.report.errors.end()) {
        *found = r;
      } else {
        state.report.errors.push_back(r);
      }
    };
    if (output.pytorch_normwise) row("PyTorch eager", *output.pytorch_normwise, output.pytorch_elementwise.value_or(0), false);
    row("winner", output.normwise, output.elementwise, true);
  }
}

// All cases, one set in memory at a time. A family that memory has no room for is skipped, and the report says so.
Result<Verdict> verify_fully(Session& state, int node) {
  Verdict all;
  state.report.errors.clear();
  for (const CaseRequest& request : full_requests()) {
    if (interrupted()) return fail(Code::interrupted, "stopped during the final verification");
    Result<std::optional<PreparedCase>> prepared = prepare_case(*state.oracle, *state.judge, *state.problem, request);
    if (!prepared.ok() && prepared.error().code == Code::too_large) {
      state.report.warnings.push_back(fmt::format("not verified with {}: {}", request.title(), prepared.error().message));
      continue;
    }
    if (!prepared.ok()) return std::move(prepared).error();
    if (!*prepared) continue;
    SOLSTICE_TRY(Verdict verdict, state.judge->verify(state.gpu_device->plan_of(node), {(*prepared)->judge}));
    SOLSTICE_CHECK(release_case(*state.oracle, *state.judge, **prepared, *state.trial_case, request.set));
    for (const CaseVerdict& one : verdict.cases) add_errors(state, one);
    const bool passed = verdict.passed();
    if (all.cases.empty()) all = verdict;
    else all.cases.insert(all.cases.end(), verdict.cases.begin(), verdict.cases.end());
    if (passed) continue;
    all.outcome = verdict.outcome;
    all.message = fmt::format("{}: {}", request.title(), verdict.message);
    return all;
  }
  return all;
}

Result<Timing> time_against_original(Session& state, int node) {
  SOLSTICE_TRY(const Verdict verdict, state.judge->verify(state.gpu_device->plan_of(node), state.trial_cases));
  if (!verdict.passed()) return fail(Code::candidate_failed, "it passed before and fails now: " + verdict.message);
  const run::TimeBlock candidate = [&](int repetitions) -> Result<std::vector<double>> {
    SOLSTICE_TRY(run::TimedBlock block, state.judge->time_block(state.trial_cases, repetitions));
    if (!block.verdict.passed()) return fail(Code::candidate_failed, "a timed result is wrong: " + block.verdict.message);
    return std::move(block.seconds);
  };
  const run::TimeBlock original = [&](int repetitions) -> Result<std::vector<double>> {
    SOLSTICE_TRY(OracleBlock block, state.oracle->time_eager("trial", {repetitions, 1}));
    return std::move(block.seconds);
  };
  run::AbbaOptions options;
  options.budget = Seconds(4);
  options.most_rounds = 10;
  return run::time_abba(candidate, original, [&] { return state.judge->clocks(); }, options);
}

Status copy_outcome(Session& state, int node) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(state.gpu_device->folder_of(node), error)) {
    SOLSTICE_TRY(const std::string bytes, read_file(entry.path()));
    SOLSTICE_CHECK(write_file(state.out / entry.path().filename(), bytes));
  }
  if (error) return fail(Code::io_error, "cannot read the winner's folder: " + error.message());
  return success();
}

void remove_dropin(const Session& state) {
  std::error_code ignored;  // what is not there need not be removed
  for (const char* name : {"model_new.py", "dropin.json"}) std::filesystem::remove(state.out / name, ignored);
}

Measured measured_of(const std::vector<double>& seconds, double median) {
  Measured out;
  out.median = Seconds(median);
  out.samples = static_cast<int>(seconds.size());
  if (seconds.empty()) return out;
  out.low = Seconds(*std::min_element(seconds.begin(), seconds.end()));
  out.high = Seconds(*std::max_element(seconds.begin(), seconds.end()));
  return out;
}

void not_faster(Session& state, std::string why) {
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason = std::move(why);
}

// The judge's speedup and the headline's should agree: the same kernels, two timers.
std::string agreement(const Timing& timing, const OracleComparison& headline) {
  const double ratio = headline.speedup / timing.speedup;
  if (ratio > 0.95 && ratio < 1.05) return "";
  return fmt::format("the judge measured {:.3g}x (cold L2, fresh content, kernels without Python), ModelNew.forward {:.3g}x: "
                     "{:.1f} us of the drop-in's {:.1f} us are outside the kernels",
                     timing.speedup, headline.speedup, (headline.medians[1] - timing.candidate.value) * 1e6,
                     headline.medians[1] * 1e6);
}

// A module given as an object has no file to make a drop-in of; solstice.optimize() attaches the kernels to it, and the
// judge's own comparison decides.
Result<std::string> judge_alone(Session& state) {
  const Timing& timing = state.winner->timing;
  Headline& h = state.report.headline;
  h.speedup = timing.speedup;
  h.speedup_low = timing.interval999[0];
  h.speedup_high = timing.interval999[1];
  h.agreement = "measured by the judge; a module without a source file has no model_new.py to time";
  if (timing.win) {
    state.report.outcome = RunOutcome::kFaster;
  } else {
    remove_dropin(state);
    not_faster(state, fmt::format("the best verified candidate is {:.3g}x of the original: {}", timing.speedup, timing.note));
  }
  return fmt::format("{:.3g}x", timing.speedup);
}

}  // namespace

Status accept_winner(Session& state) {
  if (!state.gpu) return success();
  return stage(state, "verify", "all value families, then ABBA against the original", [&]() -> Result<std::string> {
    std::string refused;
    for (const search::Node* node : finalists(state.tree)) {
      SOLSTICE_TRY(Verdict verdict, verify_fully(state, node->id));
      if (!verdict.passed()) {
        refused = fmt::format("trial {} failed the full verification: {}", node->id + 1, verdict.message);
        state.report.warnings.push_back(refused);
        continue;
      }
      SOLSTICE_TRY(Timing timing, time_against_original(state, node->id));
      state.winner = Accepted{node->id, std::move(verdict), std::move(timing)};
      return fmt::format("trial {} verified on {} cases, {:.3g}x [{:.3g}, {:.3g}]", node->id + 1, state.winner->verdict.cases.size(),
                         state.winner->timing.speedup, state.winner->timing.interval999[0], state.winner->timing.interval999[1]);
    }
    not_faster(state, refused.empty() ? "no candidate was verified" : refused);
    return state.report.reason;
  });
}

Status check_dropin(Session& state) {
  if (!state.winner) return success();
  return stage(state, "drop-in", "model_new.py against the original", [&]() -> Result<std::string> {
    SOLSTICE_CHECK(copy_outcome(state, state.winner->node));
    const DropinParts parts{state.problem->graph, state.problem->imported, state.problem->subject, state.hello.flags,
                            state.machine->arch, state.options.frozen};
    SOLSTICE_CHECK(write_dropin(parts, state.out));
    state.judge->release();
    if (!state.problem->subject.file) return judge_alone(state);
    const std::string path = (state.out / "model_new.py").string();
    SOLSTICE_TRY(const OracleDropinCheck check, state.oracle->check_dropin(path));
    if (!check.passed || !check.fallbacks.empty()) {
      remove_dropin(state);
      std::string why = check.state_dict == "loads" ? "" : "state_dict: " + check.state_dict;
      for (const OracleTrial& trial : check.trials) {
        if (!trial.passed) why = fmt::format("seed {}: {}", trial.seed, trial.reason);
      }
      if (!check.fallbacks.empty()) why = "the drop-in fell back: " + check.fallbacks[0];
      not_faster(state, "the drop-in fails KernelBench's check: " + why);
      return state.report.reason;
    }
    SOLSTICE_TRY(const OracleComparison headline, state.oracle->time_dropin(path, "trial", {10, 3, 6}));
    Headline& h = state.report.headline;
    h.original = measured_of(headline.seconds[0], headline.medians[0]);
    h.replacement = measured_of(headline.seconds[1], headline.medians[1]);
    h.speedup = headline.speedup;
    h.speedup_low = headline.interval[0];
    h.speedup_high = headline.interval[1];
    h.agreement = agreement(state.winner->timing, headline);
    Measured kernels;
    kernels.median = state.winner->timing.candidate;
    h.kernels = kernels;
    if (headline.interval[0] <= 1.0 || headline.speedup < 1.005) {
      remove_dropin(state);
      not_faster(state, fmt::format("the best verified candidate is {:.3g}x [{:.3g}, {:.3g}] of the original: no win beyond noise",
                                    headline.speedup, headline.interval[0], headline.interval[1]));
      return state.report.reason;
    }
    state.report.outcome = RunOutcome::kFaster;
    return fmt::format("{:.3g}x [{:.3g}, {:.3g}]", headline.speedup, headline.interval[0], headline.interval[1]);
  });
}

}  // namespace solstice::flow
