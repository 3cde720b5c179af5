#include "flow/run/stages/search/budget.h"

#include "flow/run/agent/handover.h"

namespace solstice::flow {
namespace {

// Settings of one plan are seldom more than this apart: a plan whose best is so much slower than the original is no
// win.
constexpr double kLost = 3;
constexpr Seconds kNoEnd{1e9};

}  // namespace

search::Budget expert_budget(const Run& run, const Yardstick& yardstick) {
  const SearchOptions& options = run.options.search;
  search::Budget out;
  out.time = options.in_turns ? kNoEnd : options.budget;
  out.trials = options.trials;
  out.bound = yardstick.bound;
  out.rule.least = 4;
  if (options.eps > 0) out.rule.eps = options.eps;
  if (options.roi > 0) out.rule.roi = options.roi;
  if (options.window > 0) out.rule.window = options.window;
  // 0, never, where the original is timed elsewhere
  if (options.window > 0) out.lost = (yardstick.original.time + yardstick.original.dispatch) * kLost;
  out.measured = yardstick.measured || run.tree.measured();
  out.hopeless = out.measured ? 1.10 : 0;  // where times are predictions, every one is shown
  if (!run.agent) out.since = taken_back_at(run.tree);
  return out;
}

search::Budget agent_budget(const Run& run, const Yardstick& yardstick) {
  search::Budget out = expert_budget(run, yardstick);
  out.finish = true;
  out.lost = Seconds(0);  // a model that writes whole programs may still find another way
  out.since = model_leads_since(run.tree, run.options.model_since);
  return out;
}

}  // namespace solstice::flow
