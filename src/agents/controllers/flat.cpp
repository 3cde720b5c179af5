// Measure, implement: every attempt is asked for on its own, with what bears on the node that it goes on from
// ("MI", flat; the window of a coder is STARK's: the node, its children, the best elsewhere).
#include "agents/controller.h"
#include "agents/window.h"

namespace solstice::agents {
namespace {

constexpr size_t kMostChildren = 5, kLeaders = 2, kFailures = 3;

Nodes flat_window(const search::Tree& tree, int node) {
  Nodes out, leaders = leaders_of(tree);
  std::erase(leaders, &tree.node(node));
  add_some(out, children_of(tree, node), kMostChildren);
  add_some(out, leaders, kLeaders);
  add_some(out, failures_of(tree), kFailures);
  return out;
}

Result<Turn> flat_turn(const Situation& at) {
  SOLSTICE_TRY(Turn out, candidate_turn(at, Json::object()));
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string ladder, ladder_section(at));
  SOLSTICE_TRY(const std::string base, base_section(at, at.tree.node(at.node)));
  SOLSTICE_TRY(const std::string awaited, awaited_section(at));
  SOLSTICE_TRY(const std::string budget, budget_section(at, at.tree.trials()));
  // The last of the window matters least.
  SOLSTICE_TRY(out.messages,
               one_message(within(at, out), {problem, ladder}, flat_window(at.tree, at.node), {base, awaited, budget}));
  return out;
}

}  // namespace

extern const ControllerSpec solstice_controllers_flat;
const ControllerSpec solstice_controllers_flat = {
    .name = "flat",
    .about = "Every attempt is a question of its own: the problem, the program to go on from, what was tried around it",
    .source = "arXiv 2603.29010 (MI), arXiv 2510.16996 (windows)",
    .turn = flat_turn,
};

}  // namespace solstice::agents
