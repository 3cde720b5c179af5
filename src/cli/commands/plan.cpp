// solstice plan: the schedules that a search would try first, by the cost models alone.
#include "propose/formulation/plan.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/named_module.h"
#include "cli/subject.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "evaluate/candidate.h"
#include "evaluate/kernel_table.h"
#include "lang/print.h"
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

// Where each proposal's time goes, in their order.
Result<std::vector<KernelTable>> tables_of(const std::vector<search::Proposal>& proposals,
                                           const evaluate::Setting& setting) {
  std::vector<KernelTable> out;
  for (const search::Proposal& proposal : proposals) {
    SOLSTICE_TRY(KernelTable table, evaluate::kernel_table(proposal.program, setting));
    out.push_back(std::move(table));
  }
  return out;
}

// As comments: what `plan` prints is a program.
std::string comment_of(const KernelTable& kernels) {
  std::string out = "# ";
  for (const char c : table(cells_of(kernels))) out += c == '\n' ? std::string("\n# ") : std::string(1, c);
  out.erase(out.size() - 2);
  for (const std::string& reason : reasons_of(kernels)) out += "# " + reason + "\n";
  return out;
}

Json proposals_json(const std::vector<search::Proposal>& proposals, const std::vector<KernelTable>& tables) {
  Json out = Json::array();
  for (size_t i = 0; i < proposals.size(); ++i) {
    const search::Proposal& p = proposals[i];
    const Json settings = text_list(p.settings);
    Json one = Json::object().set("program", p.program).set("schedules", settings).set("predicted", p.predicted.value);
    out.push(one.set("kernels", to_json(tables[i])));
  }
  return out;
}

// A program that has a schedule is its own plan.
Result<search::Proposal> given_schedule(const ir::BoundText& subject, const evaluate::Setting& setting,
                                        const std::string& file) {
  search::Proposal out;
  out.program = lang::print(subject.tree);
  out.reason = "the given schedule";
  const evaluate::Checked checked = evaluate::check(out.program, setting);
  if (!checked.ok()) return refusal(checked.diagnostics, out.program, file);
  for (const ir::Kernel& kernel : subject.program.kernels) {
    if (ir::is_space(kernel.knobs)) {
      return fail(Code::bad_argument,
                  fmt::format("kernel `{}` of {} is a space of settings; `plan` shows the schedule of a program, "
                              "or plans a problem",
                              kernel.name, file));
    }
    out.settings.push_back(fmt::format("{}({})", kernel.family, ir::to_text(kernel.knobs)));
  }
  SOLSTICE_TRY(out.predicted, evaluate::predict(*checked.program, setting));
  return out;
}

Result<std::vector<search::Proposal>> proposals_for(ir::BoundText subject, const machine::Machine& machine, int count,
                                                    const Invocation& in) {
  const bool frozen = in.get("--weights") == "frozen";
  if (!subject.program.is_problem()) {
    SOLSTICE_TRY(search::Proposal given,
                 given_schedule(subject, {machine, in.get("--numerics"), frozen}, in.get("SUBJECT")));
    return std::vector<search::Proposal>{std::move(given)};
  }
  Result<propose::Plan> plan =
      propose::plan(std::make_shared<const ir::BoundText>(std::move(subject)), {machine, in.get("--numerics"), frozen});
  if (!plan.ok()) return in_its_file(std::move(plan.error()), in.get("SUBJECT"));
  return first_proposals(std::move(plan->formulation), count);
}

Result<int> run_plan(const Invocation& in) {
  SOLSTICE_TRY(const int count, parse_int("--proposals", in.get("--proposals"), 1, 1000));
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(in.get("--machine")));
  SOLSTICE_TRY(ir::BoundText subject, load_subject(in.get("SUBJECT"), in));
  SOLSTICE_TRY(const std::vector<search::Proposal> proposals, proposals_for(std::move(subject), machine, count, in));
  const evaluate::Setting setting{machine, in.get("--numerics"), in.get("--weights") == "frozen"};
  SOLSTICE_TRY(const std::vector<KernelTable> tables, tables_of(proposals, setting));
  if (in.json()) {
    fmt::print("{}\n", proposals_json(proposals, tables).dump(2));
    return 0;
  }
  for (size_t i = 0; i < proposals.size(); ++i) {
    fmt::print("{}# {}; predicted {}\n{}{}", i ? "\n" : "", proposals[i].reason, show(proposals[i].predicted),
               comment_of(tables[i]), proposals[i].program);
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_plan;
const Command solstice_commands_plan = {
    .name = "plan",
    .summary = "Print the kernels and schedules that the cost models choose, without a search",
    .help =
        "Prints the candidate that a search measures first and, with --proposals, those that it would try next "
        "without measurements; `compile` accepts them. Where the time goes, kernel by kernel, stands above each as "
        "comments. A program that already has a schedule is printed with its "
        "predicted time. Needs neither a GPU nor a compiler.",
    .example = "solstice plan examples/softmax.py --proposals 3",
    .parameters =
        {{"SUBJECT", "", kSubjectHelp, "", {}, true, false},
         {"--proposals", "COUNT", "candidates to print", "1", {}, false, false},
         {"--machine", "NAME", "machine to plan for", "h200", {}, false, false},
         {"--numerics",
          "POLICY",
          "accuracy policy, which decides the legal matrix products",
          "reference",
          {"reference", "high", "medium"},
          false,
          false},
         {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
         eval_flag(),
         train_flag(),
         why_flag(),
         json_flag()},
    .run = run_plan,
};

}  // namespace solstice::cli
