// solstice list: what can be chosen from, printed from the tables that the program itself uses.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/table.h"
#include "families/family.h"
#include "ir/import/import.h"
#include "machine/machine.h"

namespace solstice::cli {
namespace {

Json knob_json(const families::KnobSpec& knob) {
  Json values = Json::array();
  for (const std::string& value : knob.values) values.push(value);
  return Json::object()
      .set("name", knob.name)
      .set("type", knob.type)
      .set("values", values)
      .set("range", knob.range)
      .set("default", knob.otherwise)
      .set("help", knob.help);
}

std::string legal(const families::KnobSpec& knob) {
  return knob.values.empty() ? knob.range : fmt::format("{}", fmt::join(knob.values, ", "));
}

Status list_families(bool json) {
  Json all = Json::array();
  for (const families::Family* family : families::all_families()) {
    const auto knobs = family->knobs ? family->knobs() : std::vector<families::KnobSpec>{};
    if (json) {
      Json entry = Json::object().set("name", family->name).set("help", family->help).set("available", family->available);
      Json list = Json::array();
      for (const auto& knob : knobs) list.push(knob_json(knob));
      all.push(entry.set("knobs", list));
      continue;
    }
    fmt::print("{}{}\n{}", family->name, family->available ? "" : " (not yet)", hanging("", family->help, 4, 100));
    for (const auto& knob : knobs) {
      std::string text = fmt::format("{} [{}]", knob.help, legal(knob).empty() ? knob.type : legal(knob));
      if (!knob.otherwise.empty()) text += fmt::format(" [default: {}]", knob.otherwise);
      fmt::print("{}", hanging("  " + knob.name, text, 20, 100));
    }
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return success();
}

// As docs/legality.md has them.
void list_rules(bool json) {
  Json all = Json::array();
  for (const families::Family* family : families::all_families()) {
    if (!family->rules) continue;
    if (!json) fmt::print("## {}\n\n| rule | code | what must hold |\n| --- | --- | --- |\n", family->name);
    for (const families::RuleText& rule : family->rules()) {
      if (!json) fmt::print("| {} | {} | {} |\n", rule.id, rule.code, rule.text);
      all.push(Json::object().set("family", family->name).set("id", rule.id).set("code", rule.code).set("rule", rule.text));
    }
    if (!json) fmt::print("\n");
  }
  if (json) fmt::print("{}\n", all.dump(2));
}

Status list_machines(bool json) {
  SOLSTICE_TRY(const auto names, machine::list_machines());
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows = {{"name", "title", "arch", "SMs", "memory", "ceilings"}};
  for (const std::string& name : names) {
    SOLSTICE_TRY(const machine::Machine m, machine::load_machine(name));
    all.push(Json::object()
                 .set("name", m.name)
                 .set("title", m.title)
                 .set("arch", m.arch)
                 .set("sm_count", m.sm_count)
                 .set("memory_bytes", m.memory.value)
                 .set("measured", !m.measured.empty())
                 .set("file", m.file.string()));
    rows.push_back({m.name, m.title, m.arch, std::to_string(m.sm_count), show(m.memory),
                    m.measured.empty() ? "datasheet only" : "measured " + m.measured.date});
  }
  fmt::print("{}", json ? all.dump(2) + "\n" : table(rows));
  return success();
}

// One line a group: the operators that the importer writes equations for.
void list_importable(bool json) {
  const std::vector<ir::OperatorInfo> operators = ir::list_operators();
  Json all = Json::array();
  for (size_t i = 0; i < operators.size();) {
    const std::string& group = operators[i].group;
    Json names = Json::array();
    std::string line;
    for (; i < operators.size() && operators[i].group == group; ++i) {
      names.push(operators[i].op);
      line += (line.empty() ? "" : ", ") + operators[i].op;
    }
    if (!json) fmt::print("{}\n{}", group, hanging("", line, 4, 100));
    all.push(Json::object().set("group", group).set("operators", names));
  }
  if (json) fmt::print("{}\n", all.dump(2));
}

Result<int> run_list(const Invocation& in) {
  const std::string& kind = in.get("KIND");
  if (kind == "machines") SOLSTICE_CHECK(list_machines(in.json()));
  if (kind == "families") SOLSTICE_CHECK(list_families(in.json()));
  if (kind == "rules") list_rules(in.json());
  if (kind == "operators") list_importable(in.json());
  return 0;
}

}  // namespace

extern const Command solstice_commands_list;
const Command solstice_commands_list = {
    .name = "list",
    .summary = "Print the kernel families with their knobs, their rules, the machine descriptions, or the operators known",
    .help =
        "rules: what the knobs of a family must keep, where it is kept as data (docs/legality.md).\n"
        "operators: those of PyTorch that the importer writes as equations; any other makes a module `unsupported`.",
    .example = "solstice list families",
    .parameters = {{"KIND", "", "what to list", "", {"families", "rules", "machines", "operators"}, true, false}, json_flag()},
    .run = run_list,
};

}  // namespace solstice::cli
