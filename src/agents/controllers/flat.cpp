// Measure, implement: every attempt is asked for on its own, with what bears on the node that it goes on from
// ("MI", flat; the window of a coder is STARK's: the node, its children, the best elsewhere).
#include <algorithm>

#include "agents/controller.h"
#include "llm/ledger.h"

namespace solstice::agents {
namespace {

constexpr size_t kMostChildren = 5, kLeaders = 2, kFailures = 3;

using Nodes = std::vector<const search::Node*>;

void add_some(Nodes& out, const Nodes& from, size_t most) {
  for (const search::Node* node : from) {
    if (most == 0) return;
    if (std::find(out.begin(), out.end(), node) != out.end()) continue;
    out.push_back(node);
    --most;
  }
}

// The newest first.
Nodes children_of(const search::Tree& tree, int node) {
  Nodes out;
  for (const int child : tree.node(node).children) out.insert(out.begin(), &tree.node(child));
  return out;
}

Nodes leaders_of(const search::Tree& tree, int but) {
  Nodes out;
  for (const search::Node& node : tree.nodes()) {
    if (node.id > 0 && node.id != but && node.usable()) out.push_back(&node);
  }
  const auto place = [&](const search::Node* node) {
    return std::pair(!tree.comparable(*node), node->measurement->time);
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) { return place(a) < place(b); });
  return out;
}

Nodes failures_of(const search::Tree& tree) {
  Nodes out;
  for (const search::Node& node : tree.nodes()) {
    if (node.failed()) out.insert(out.begin(), &node);
  }
  return out;
}

Nodes window_of(const search::Tree& tree, int node) {
  Nodes out;
  add_some(out, children_of(tree, node), kMostChildren);
  add_some(out, leaders_of(tree, node), kLeaders);
  add_some(out, failures_of(tree), kFailures);
  return out;
}

Result<std::vector<llm::Message>> converse_flat(const Situation& at) {
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string ladder, ladder_section(at));
  Nodes window = window_of(at.tree, at.node);
  SOLSTICE_TRY(const std::string base, base_section(at, at.tree.node(at.node)));
  SOLSTICE_TRY(const std::string awaited, awaited_section(at));
  SOLSTICE_TRY(const std::string budget, budget_section(at, at.tree.trials()));
  // The last of the window matters least.
  for (;; window.pop_back()) {
    SOLSTICE_TRY(const std::string tried, tried_section(at, window));
    std::string text = problem;
    for (const std::string& section : {ladder, tried, base, awaited, budget})
      text += section.empty() ? "" : "\n" + section;
    if (window.empty() || llm::estimated_tokens(text) <= at.most_tokens)
      return std::vector<llm::Message>{{llm::Role::kUser, std::move(text)}};
  }
}

Json no_more() { return Json::object(); }

}  // namespace

extern const ControllerSpec solstice_controllers_flat;
const ControllerSpec solstice_controllers_flat = {
    .name = "flat",
    .about = "Every attempt is a question of its own: the problem, the program to go on from, what was tried around it",
    .source = "arXiv 2603.29010 (MI), arXiv 2510.16996 (windows)",
    .extra = no_more,
    .converse = converse_flat,
};

}  // namespace solstice::agents
