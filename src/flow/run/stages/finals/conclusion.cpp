#include "flow/run/stages/finals/conclusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "evaluate/preparation.h"
#include "flow/run/stages/finals/next_finalists.h"

namespace solstice::flow {
namespace {

// The full verification refused what its trial had accepted, or no trial was right.
bool nothing_verified(const search::Tree& tree, const std::vector<Finalist>& finalists) {
  const auto failed = [](const Finalist& f) { return f.verdict && !f.verdict->passed(); };
  const auto passed = [](const Finalist& f) { return f.verdict && f.verdict->passed(); };
  if (!tree.best()) return trials_done(tree) > 0;
  return std::any_of(finalists.begin(), finalists.end(), failed) &&
         std::none_of(finalists.begin(), finalists.end(), passed);
}

// No trial came to an end, since the time was up.
bool ran_out_of_time(const search::Tree& tree, search::Stop stop) {
  if (stop != search::Stop::kTime && stop != search::Stop::kTrials) return false;
  int given_up = 0;
  for (const search::Node& node : tree.nodes()) {
    if (!node.measurement || node.id == 0) continue;
    if (!node.measurement->record.at(evaluate::kGivenUp).as_bool()) return false;
    ++given_up;
  }
  return given_up > 0 || stop == search::Stop::kTime;
}

std::string why_no_trial(const Run& run, search::Stop stop) {
  switch (stop) {
    case search::Stop::kTime:
      return fmt::format("the budget of {} was used up before one could finish", time_text(run.options.search.budget));
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

bool is_outcome(const Error& error) {
  return error.code == Code::unsupported_operator || error.code == Code::not_yet || error.code == Code::module_trace ||
         error.code == Code::module_branches;
}

bool is_of_the_user(const Error& error) {
  return is_outcome(error) || error.code == Code::module_forward || error.code == Code::interrupted;
}

bool is_mistake(const Error& error) {
  return error.code == Code::module_import || error.code == Code::not_found || error.code == Code::bad_argument ||
         error.code == Code::program_invalid;
}

void distrust_graph(Run& run, const Problem& problem, const std::vector<Finalist>& finalists, const Status& done) {
  if (problem.cached.empty() || interrupted()) return;
  if (done.ok() ? !nothing_verified(run.tree, finalists) : is_of_the_user(done.error())) return;
  std::error_code ignored;  // gone is gone
  std::filesystem::remove(problem.cached, ignored);
  run.report.warnings.push_back("the module's graph came from the cache; it was dropped, and the next run traces anew");
}

void conclude_search(Run& run, search::Stop stop, bool gpu) {
  Report& report = run.report;
  if (report.outcome != RunOutcome::kNone && report.outcome != RunOutcome::kNotFaster) return;
  const search::Node* best = run.tree.best();
  report.out_of_time = ran_out_of_time(run.tree, stop);
  if (report.out_of_time || trials_done(run.tree) == 0) {
    report.outcome = RunOutcome::kNotFaster;
    report.reason = "no trial was run: " + why_no_trial(run, report.out_of_time ? search::Stop::kTime : stop);
  } else if (!gpu) {
    const std::string why = lacks_module(run)              ? run.why_predicted
                            : run.options.asked_to_predict ? "--device model"
                                                           : "no GPU";
    report.reason = best ? fmt::format("{}: nothing was measured; the best candidate is predicted to take {}", why,
                                       time_text(best->measurement->time))
                         : fmt::format("{}: nothing was measured, and no candidate passed its checks{}", why,
                                       first_refusal(run.tree));
  }
  if (!gpu) report.outcome = RunOutcome::kPredicted;
  if (!interrupted() || report.outcome == RunOutcome::kNone) return;
  report.outcome = RunOutcome::kInterrupted;
  report.reason = "the search was stopped; so far: " + report.reason;
}

Status worth_keeping(const search::Tree& tree) {
  if (!interrupted() || tree.best()) return success();
  return fail(Code::interrupted, kNothingUsable);
}

Error that_left(Error error, const std::filesystem::path& out) {
  std::error_code ignored;
  if (std::filesystem::exists(out / "report.json", ignored)) {
    error.message += fmt::format("; the earlier outcome in {} is unchanged", out.string());
  }
  return error;
}

}  // namespace solstice::flow
