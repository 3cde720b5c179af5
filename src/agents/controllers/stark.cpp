// Plan, code, debug (STARK): three roles with windows of their own. The planner marks one block of the program with one
// piece of advice, the coder writes the body of that block and nothing else, and what failed goes to the debugger.
#include <algorithm>

#include "agents/anchors.h"
#include "agents/answer.h"
#include "agents/attempts.h"
#include "agents/controller.h"
#include "agents/window.h"
#include "search/attempt.h"

namespace solstice::agents {
namespace {

constexpr size_t kRivals = 2, kWindow = 5;  // with the node and the problem
constexpr double kPlanTemperature = 0.8, kCodeTemperature = 0.1, kDebugTemperature = 0.1;

const search::Proposal* latest_turn(const std::vector<const search::Proposal*>& turns, std::string_view role) {
  const auto found = std::find_if(turns.rbegin(), turns.rend(), [&](const auto* turn) { return turn->role == role; });
  return found == turns.rend() ? nullptr : *found;
}

// The plan that a node was made by; a repair inherits that of what it repairs.
const search::Proposal* plan_of(const search::Tree& tree, int node) {
  for (int id = node; id > 0; id = tree.node(id).proposal.parent) {
    if (const search::Proposal* plan = latest_turn(search::turns_of(tree, id), "plan")) return plan;
    if (!tree.node(tree.node(id).proposal.parent).failed()) return nullptr;
  }
  return nullptr;
}

// Node and problem have sections of their own.
Nodes sampled_to_five(const Situation& at, Nodes nodes, std::string_view role) {
  const size_t own = at.node == 0 ? 1 : 2;
  return sampled(at.tree, std::move(nodes), kWindow - own, at.briefing.seed, role);
}

Nodes plan_window(const Situation& at) {
  Nodes out = children_of(at.tree, at.node), leaders = leaders_of(at.tree);
  std::erase_if(leaders, [&](const search::Node* node) { return in_subtree(at.tree, *node, at.node); });
  add_some(out, leaders, kRivals);
  return sampled_to_five(at, std::move(out), "plan");
}

Nodes code_window(const Situation& at) {
  Nodes out = children_of(at.tree, at.node);
  for (const search::Node* sibling : siblings_of(at.tree, at.node))
    add_some(out, children_of(at.tree, sibling->id), sibling->children.size());
  return sampled_to_five(at, std::move(out), "code");
}

Nodes debug_window(const Situation& at) { return sampled_to_five(at, siblings_of(at.tree, at.node), "debug"); }

// The instructions of a role, with the form of its answer.
Result<Turn> role_turn(const Situation& at, const char* role, double temperature, const Json& properties) {
  Turn out;
  out.role = role;
  out.temperature = temperature;
  out.looks = true;
  out.goes_on = false;
  out.repair = std::string("repair_") + role;
  out.schema = closed_schema(with_looks(properties));
  SOLSTICE_TRY(std::string form, at.prompts.section(role));
  SOLSTICE_CHECK(add_looks(at.prompts, form));
  SOLSTICE_TRY(out.system, instructions(at.briefing, at.prompts, form));
  return out;
}

Result<Brought> read_plan(const Json& answer, const std::string& base) {
  Brought out;
  SOLSTICE_TRY(const std::optional<std::string> marked, program_of(answer, base));
  out.nothing_left = !marked;
  if (!marked) return out;
  SOLSTICE_TRY(const Block block, marked_in(base, *marked));
  if (answer.at("reason").as_string().empty())
    return fail(Code::bad_argument, "`reason` is empty: it is the advice that the block is rewritten by");
  out.artefact = Json::object().set("marked", *marked).set("what", block.what);
  return out;
}

Result<Turn> plan_turn(const Situation& at) {
  SOLSTICE_TRY(Turn out, role_turn(at, "plan", kPlanTemperature, answer_schema().at("properties")));
  out.read = read_plan;
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string ladder, ladder_section(at));
  SOLSTICE_TRY(const std::string base, base_section(at, at.tree.node(at.node)));
  SOLSTICE_TRY(const std::string awaited, awaited_section(at));
  SOLSTICE_TRY(const std::string budget, budget_section(at, at.tree.trials()));
  SOLSTICE_TRY(out.messages, one_message(within(at, out), {problem, ladder}, plan_window(at), {base, awaited, budget}));
  return out;
}

// Where device code may be written: of it the index has examples.
Turn look_turn(const search::Proposal& plan) {
  Turn out;
  out.queries = {plan.reason};
  return out;
}

Result<Turn> code_turn(const Situation& at, const search::Proposal& plan, const search::Proposal* looked) {
  const Json properties = Json::object()
                              .set("reason", text_schema("what changes and why it should be faster, in one sentence"))
                              .set("body", text_schema("what stands between the markers from now on"));
  SOLSTICE_TRY(Turn out, role_turn(at, "code", kCodeTemperature, properties));
  SOLSTICE_TRY(Block block, block_of(plan.artefact.at("marked").as_string()).context("a plan of this run"));
  const search::Node& node = at.tree.node(at.node);
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string task,
               at.prompts.section("block", {{"which", name_with_author(node)},
                                            {"result", result_text(at.tree, node, at.briefing)},
                                            {"what", block.what},
                                            {"advice", plan.reason},
                                            {"marked", plan.artefact.at("marked").as_string()}}));
  std::string found;
  if (looked) {
    SOLSTICE_TRY(found, at.prompts.section("found", {{"found", looked->artefact.at("found").as_string()}}));
  }
  SOLSTICE_TRY(out.messages, one_message(within(at, out), {problem}, code_window(at), {found, task}));
  out.read = [block = std::move(block)](const Json& answer, const std::string&) -> Result<Brought> {
    Brought brought;
    SOLSTICE_TRY(brought.program, spliced(block, answer.at("body").as_string()));
    return brought;
  };
  return out;
}

Result<Turn> debug_turn(const Situation& at) {
  SOLSTICE_TRY(Turn out, role_turn(at, "debug", kDebugTemperature, answer_schema().at("properties")));
  out.read = candidate_of;
  out.repair = "repair";
  out.goes_on = true;
  SOLSTICE_TRY(const std::string problem, problem_section(at));
  SOLSTICE_TRY(const std::string base, base_section(at, at.tree.node(at.node)));
  std::string advice;
  if (const search::Proposal* plan = plan_of(at.tree, at.node)) {
    SOLSTICE_TRY(advice, at.prompts.section(
                             "planned", {{"what", plan->artefact.at("what").as_string()}, {"advice", plan->reason}}));
  }
  SOLSTICE_TRY(const std::string budget, budget_section(at, at.tree.trials()));
  SOLSTICE_TRY(out.messages, one_message(within(at, out), {problem}, debug_window(at), {base, advice, budget}));
  return out;
}

Result<Turn> stark_turn(const Situation& at) {
  if (at.tree.node(at.node).failed()) return debug_turn(at);
  const std::vector<const search::Proposal*> turns = search::open_turns(at.tree);
  const search::Proposal* plan = latest_turn(turns, "plan");
  if (!plan) return plan_turn(at);
  const search::Proposal* looked = latest_turn(turns, "look");
  if (!looked && at.briefing.writes != Writes::kUcut) return look_turn(*plan);
  return code_turn(at, *plan, looked);
}

}  // namespace

extern const ControllerSpec solstice_controllers_stark;
const ControllerSpec solstice_controllers_stark = {
    .name = "stark",
    .about = "Three roles: one plans and marks a block, one writes that block, one mends what failed",
    .source = "arXiv 2510.16996",
    .turn = stark_turn,
};

}  // namespace solstice::agents
