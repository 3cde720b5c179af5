#include "flow/run/stages/conclusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/interrupt.h"
#include "base/time_text.h"

namespace solstice::flow {
namespace {

// The full verification refused what its trial had accepted, or no trial was right.
bool nothing_verified(const Session& state) {
  const auto failed = [](const Finalist& f) { return f.verdict && !f.verdict->passed(); };
  const auto passed = [](const Finalist& f) { return f.verdict && f.verdict->passed(); };
  if (!state.tree.best()) return state.standing().trials > 0;
  return std::any_of(state.finalists.begin(), state.finalists.end(), failed) &&
         std::none_of(state.finalists.begin(), state.finalists.end(), passed);
}

std::string why_no_trial(const Session& state) {
  switch (state.stop) {
    case search::Stop::kTime:
      return fmt::format("the budget of {} was used up before one could finish", time_text(state.options.budget));
    case search::Stop::kInterrupted:
      return "the run was stopped";
    case search::Stop::kShared:
      return "the budget that it shared went to other problems";
    case search::Stop::kPolicyEnded:
      return "moves are left, but the policy asked for none of them";
    case search::Stop::kPolicyFailed:
      return "the policy failed";
    default:
      return "there was none to propose";
  }
}

}  // namespace

std::string first_refusal(const search::Tree& tree) {
  for (const search::Node& node : tree.nodes()) {
    if (node.failed()) return fmt::format("; trial {}: {}", node.id, node.measurement->detail);
  }
  return "";
}

bool is_outcome(const Error& error) {
  return error.code == Code::unsupported_operator || error.code == Code::not_yet || error.code == Code::module_trace;
}

bool is_of_the_user(const Error& error) {
  return is_outcome(error) || error.code == Code::module_forward || error.code == Code::interrupted;
}

void measure_memory(Session& state) {
  if (!state.gpu || state.report.outcome != RunOutcome::kFaster) return;
  const Status measured = stage(state, "memory", "peaks of both", [&]() -> Result<std::string> {
    SOLSTICE_TRY(const OracleMemory original, state.oracle->memory("trial"));
    SOLSTICE_TRY(const OracleMemory replacement, state.oracle->memory("trial", dropin_path(state).string()));
    state.report.original_peak_memory = original.peak;
    state.report.replacement_peak_memory = replacement.peak;
    return std::string();
  });
  if (!measured.ok()) state.report.warnings.push_back("peak memory was not measured: " + measured.error().message);
}

void distrust_graph(Session& state, const Status& done) {
  if (!state.problem || state.problem->cached.empty() || !state.gpu || interrupted()) return;
  if (done.ok() ? !nothing_verified(state) : is_of_the_user(done.error())) return;
  std::error_code ignored;  // gone is gone
  std::filesystem::remove(state.problem->cached, ignored);
  state.report.warnings.push_back(
      "the module's graph came from the cache; it was dropped, and the next run traces anew");
}

void conclude_search(Session& state) {
  Report& report = state.report;
  if (report.outcome != RunOutcome::kNone && report.outcome != RunOutcome::kNotFaster) return;
  if (state.standing().trials == 0) {
    report.outcome = RunOutcome::kNotFaster;
    report.reason = "no trial was run: " + why_no_trial(state);
  }
  if (state.gpu || report.outcome != RunOutcome::kNone) return;
  report.outcome = RunOutcome::kNotFaster;
  const search::Node* best = state.tree.best();
  report.reason = best ? fmt::format("no GPU: the best candidate is predicted to take {}; nothing was measured",
                                     time_text(best->measurement->time))
                       : "no GPU, and no candidate passed its checks" + first_refusal(state.tree);
}

Status worth_keeping(const Session& state) {
  if (!interrupted() || state.tree.best()) return success();
  return fail(Code::interrupted, "stopped before any candidate was found usable");
}

Error that_left(Error error, const std::filesystem::path& out) {
  std::error_code ignored;
  if (std::filesystem::exists(out / "report.json", ignored)) {
    error.message += fmt::format("; the earlier outcome in {} is unchanged", out.string());
  }
  return error;
}

}  // namespace solstice::flow
