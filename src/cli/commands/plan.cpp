// solstice plan: the schedules that a search would try first, by the cost models alone.
#include "propose/plan.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/subject.h"
#include "cli/table.h"
#include "cli/values.h"
#include "propose/expert.h"

namespace solstice::cli {
namespace {

// In the order in which a search proposes them while nothing is measured.
Result<std::vector<search::Proposal>> first_proposals(propose::Formulation formulation, int count) {
  propose::Expert expert({std::move(formulation)});
  search::Tree tree;
  std::vector<search::Proposal> out;
  while (tree.trials() < count) {
    SOLSTICE_TRY(std::optional<search::Proposal> proposal, expert.propose(tree, tree.trials() == 0 ? 0 : 1));
    if (!proposal) break;
    proposal->parent = tree.trials() == 0 ? 0 : 1;
    out.push_back(*proposal);
    tree.add(std::move(*proposal));
  }
  return out;
}

Json proposals_json(const std::vector<search::Proposal>& proposals) {
  Json out = Json::array();
  for (const search::Proposal& p : proposals) {
    Json settings = Json::array();
    for (const std::string& setting : p.settings) settings.push(setting);
    out.push(Json::object().set("program", p.program).set("schedules", settings).set("predicted", p.predicted.value));
  }
  return out;
}

Result<int> run_plan(const Invocation& in) {
  SOLSTICE_TRY(const int count, parse_int("--proposals", in.get("--proposals"), 1, 1000));
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(in.get("--machine")));
  SOLSTICE_TRY(ir::BoundText subject, load_subject(in.get("SUBJECT")));
  SOLSTICE_TRY(propose::Plan plan, propose::plan(std::make_shared<const ir::BoundText>(std::move(subject)),
                                                 {machine, in.get("--numerics"), in.get("--weights") == "frozen"}));
  SOLSTICE_TRY(const std::vector<search::Proposal> proposals, first_proposals(std::move(plan.formulation), count));
  if (in.json()) {
    fmt::print("{}\n", proposals_json(proposals).dump(2));
    return 0;
  }
  for (size_t i = 0; i < proposals.size(); ++i) {
    fmt::print("{}# {}; predicted {}\n{}", i ? "\n" : "", proposals[i].reason, show(proposals[i].predicted), proposals[i].program);
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_plan;
const Command solstice_commands_plan = {
    .name = "plan",
    .summary = "Cut a module or problem into scheduled kernels by the cost models alone",
    .help =
        "Prints the candidate that a search measures first, and with --proposals those that it would try next if nothing "
        "were measured. `compile` takes them. Needs neither a GPU nor a compiler.",
    .example = "solstice plan examples/softmax.py --proposals 3",
    .parameters = {{"SUBJECT", "", "a Python file (optionally :Class) or a .ucut problem", "", {}, true, false},
                   {"--proposals", "COUNT", "how many candidates", "1", {}, false, false},
                   {"--machine", "NAME", "machine to plan for", "h200", {}, false, false},
                   {"--numerics", "POLICY", "which products are legal", "reference", {"reference", "high", "medium"}, false, false},
                   {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
                   json_flag()},
    .run = run_plan,
};

}  // namespace solstice::cli
