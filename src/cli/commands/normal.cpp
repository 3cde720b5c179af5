// solstice normal: the normal form of a program, node by node.
#include "ir/normal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "cli/command.h"
#include "ir/bind.h"
#include "lang/embed.h"

namespace solstice::cli {
namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

Json node_json(const ir::Program& program, const ir::NormalNode& node) {
  Json roles = Json::object();
  for (const auto& [index, role] : node.roles) roles.set(index, role);
  return Json::object()
      .set("anchor", node.anchor)
      .set("equation", to_text(program, program.equation(node.equation)))
      .set("roles", std::move(roles));
}

void print_json(const ir::NormalForm& normal) {
  Json nodes = Json::array(), passes = Json::array();
  for (const ir::NormalNode& node : normal.nodes) nodes.push(node_json(normal.program, node));
  for (const ir::PassReport& pass : normal.passes) {
    passes.push(Json::object()
                    .set("name", pass.name)
                    .set("ran", pass.ran)
                    .set("microseconds", pass.microseconds)
                    .set("reductions", static_cast<int64_t>(pass.reductions))
                    .set("terms", static_cast<int64_t>(pass.terms)));
  }
  const Json out =
      Json::object().set("exceeded", normal.exceeded).set("nodes", std::move(nodes)).set("passes", std::move(passes));
  fmt::print("{}\n", out.dump(2));
}

void print_text(const ir::NormalForm& normal) {
  for (const ir::NormalNode& node : normal.nodes) {
    std::string roles;
    for (const auto& [index, role] : node.roles)
      roles += fmt::format("{}{}: {}", roles.empty() ? "" : ", ", index, role);
    fmt::print("{:<16} {}\n", node.anchor, to_text(normal.program, normal.program.equation(node.equation)));
    if (!roles.empty()) fmt::print("{:<16} {}\n", "", roles);
  }
  fmt::print("\n{:<12} {:>12} {:>11} {:>8}\n", "pass", "microseconds", "reductions", "terms");
  for (const ir::PassReport& pass : normal.passes) {
    if (pass.ran)
      fmt::print("{:<12} {:>12.0f} {:>11} {:>8}\n", pass.name, pass.microseconds, pass.reductions, pass.terms);
    else
      fmt::print("{:<12} {:>12}\n", pass.name, "left out");
  }
}

Result<int> run_normal(const Invocation& in) {
  SOLSTICE_TRY(const std::string text, lang::read_program(in.get("FILE")));
  Diagnostics diagnostics;
  SOLSTICE_TRY(const ir::Program program, ir::load_program(text, in.get("FILE"), diagnostics));
  ir::NormalOptions options;
  options.without = split_at_commas(in.get("--without"));
  options.keep_nodes = !in.flag("--whole");
  SOLSTICE_TRY(const ir::NormalForm normal, ir::normal_form(program, options));
  if (in.json()) {
    print_json(normal);
    return 0;
  }
  if (!normal.exceeded.empty())
    return fail(Code::too_large, fmt::format("the budget of {} ran out; equivalence would be tested", normal.exceeded));
  print_text(normal);
  return 0;
}

std::string passes_help() {
  std::string out = "passes to skip, separated by commas:";
  for (const ir::NormalPass& pass : ir::normal_passes()) out += fmt::format(" {} ({});", pass.name, pass.help);
  out.back() = '.';
  return out;
}

}  // namespace

extern const Command solstice_commands_normal;
const Command solstice_commands_normal = {
    .name = "normal",
    .summary = "Show the normal form of a program: nodes, their patterns, and the passes with their times",
    .help =
        "Equivalence proofs compare normal forms (docs/equivalence.md). Prints one line per node, with "
        "its pattern (gemm, conv, rows, attention, ...) and the role of each index; then the passes with their "
        "times and their effects. The form serves comparison, not execution: a softmax has no shift by its "
        "maximum, for example.",
    .example = "solstice normal examples/programs/06_attention.ucut",
    .parameters = {{"FILE", "", "a .ucut program", "", {}, true, false},
                   {"--without", "PASS,...", passes_help(), "", {}, false, false},
                   {"--whole",
                    "",
                    "inline all tensors into the outputs, as a proof does if the two programs share no tensors",
                    "",
                    {},
                    false,
                    false},
                   json_flag()},
    .run = run_normal,
};

}  // namespace solstice::cli
