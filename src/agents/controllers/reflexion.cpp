// One line of attempts (Reflexion): each goes on from the one before, whatever became of it, with what the model wrote
// about those before. The baseline of searches that choose where to go on.
#include <fmt/format.h>

#include <algorithm>

#include "agents/answer.h"
#include "agents/attempts.h"
#include "agents/controller.h"
#include "agents/window.h"
#include "llm/structured.h"

namespace solstice::agents {
namespace {

constexpr size_t kMostTold = 5, kMostReflections = 3;  // the latest

// The model's own, the newest first.
Nodes line_of(const search::Tree& tree) {
  Nodes out;
  for (const search::Node& node : tree.nodes()) {
    if (node.id > 0 && node.proposal.by_model()) out.insert(out.begin(), &node);
  }
  return out;
}

Json reflexion_members() {
  return Json::object().set(
      "reflection",
      text_schema("why the last attempt came out as it did, and what follows for the next; empty at the first"));
}

// The latest, in their order; "" where there are none.
Result<std::string> reflections_section(const Situation& at, const Nodes& line) {
  std::vector<std::string> lines;
  for (const search::Node* node : line) {
    const Json answer = llm::parse_answer(node->proposal.answer, Json::object().set("type", "object")).json;
    const std::string& text = answer.at("reflection").as_string();
    if (!text.empty() && lines.size() < kMostReflections)
      lines.insert(lines.begin(), fmt::format("- before {}: {}\n", name_of(*node), text));
  }
  if (lines.empty()) return std::string();
  std::string text;
  for (const std::string& each : lines) text += each;
  return at.prompts.section("reflections", {{"reflections", text}});
}

Result<Turn> reflexion_turn(const Situation& at) {
  SOLSTICE_TRY(Turn out, candidate_turn(at, reflexion_members()));
  const Nodes line = line_of(at.tree);
  Nodes told;
  add_some(told, line, kMostTold);
  std::erase(told, &at.tree.node(at.node));
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string ladder, ladder_section(at));
  SOLSTICE_TRY(const std::string reflections, reflections_section(at, line));
  SOLSTICE_TRY(const std::string base, base_section(at, at.tree.node(at.node)));
  SOLSTICE_TRY(const std::string awaited, awaited_section(at));
  SOLSTICE_TRY(const std::string budget, budget_section(at, at.tree.trials()));
  SOLSTICE_TRY(out.messages,
               one_message(within(at, out), {problem, ladder}, told, {reflections, base, awaited, budget}));
  return out;
}

// The last attempt that there is something to go on from.
std::optional<int> from_the_last(const search::Tree& tree) {
  for (const search::Node* node : line_of(tree)) {
    if (node->open()) return node->id;
  }
  return std::nullopt;
}

}  // namespace

extern const ControllerSpec solstice_controllers_reflexion;
const ControllerSpec solstice_controllers_reflexion = {
    .name = "reflexion",
    .about = "One line of attempts, each from the last, with what the model wrote of those before: a baseline",
    .source = "arXiv 2303.11366",
    .turn = reflexion_turn,
    .from = from_the_last,
};

}  // namespace solstice::agents
