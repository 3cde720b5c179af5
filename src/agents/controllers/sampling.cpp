// A sample of what a model writes for the problem itself: every attempt is asked for as if it were the first. The
// baseline of searches that learn from what was tried.
#include "agents/controller.h"

namespace solstice::agents {
namespace {

Result<Turn> sampling_turn(const Situation& at) {
  SOLSTICE_TRY(Turn out, candidate_turn(at, Json::object()));
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string ladder, ladder_section(at));
  SOLSTICE_TRY(const std::string base, base_section(at, at.tree.node(0)));
  SOLSTICE_TRY(out.messages, one_message(within(at, out), {problem, ladder}, {}, {base}));
  return out;
}

std::optional<int> from_the_problem(const search::Tree&) { return 0; }

}  // namespace

extern const ControllerSpec solstice_controllers_sampling;
const ControllerSpec solstice_controllers_sampling = {
    .name = "sampling",
    .about = "Every attempt from the problem itself, without history: a baseline",
    .source = "arXiv 2510.16996 (sampling)",
    .turn = sampling_turn,
    .from = from_the_problem,
};

}  // namespace solstice::agents
