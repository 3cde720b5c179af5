#include "agents/controller.h"

#include <fmt/format.h>

#include "agents/answer.h"
#include "agents/attempts.h"
#include "agents/looks.h"
#include "llm/ledger.h"

namespace solstice::agents {

Result<const ControllerSpec*> find_controller(std::string_view name) {
  std::string names;
  for (const ControllerSpec* spec : all_controllers()) {
    if (spec->name == name) return spec;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", spec->name);
  }
  return fail(Code::bad_argument, fmt::format("there is no controller `{}`", name), "there are " + names);
}

namespace {

Result<std::string> device_code_section(const Briefing& briefing, const Prompts& prompts) {
  const machine::Machine& machine = briefing.machine;
  const auto shared = static_cast<int64_t>(machine.shared_per_block.value) / 1024;
  return prompts.section("cuda",
                         {{"shared", fmt::format("{} KiB", shared)}, {"sms", std::to_string(machine.sm_count)}});
}

}  // namespace

Result<std::string> instructions(const Briefing& briefing, const Prompts& prompts, const std::string& form) {
  SOLSTICE_TRY(std::string out, prompts.section("role", {{"repairs", std::to_string(briefing.repairs)}}));
  SOLSTICE_TRY(const std::string language, prompts.section("language", {{"grammar", briefing.grammar}}));
  SOLSTICE_TRY(const std::string families, prompts.section("families", {{"families", briefing.families}}));
  out += "\n" + language + "\n" + families;
  if (briefing.writes != Writes::kUcut) {
    const bool only = briefing.writes == Writes::kCuda;
    SOLSTICE_TRY(const std::string cuda, prompts.section(only ? "cuda_only" : "cuda_too"));
    SOLSTICE_TRY(const std::string how, device_code_section(briefing, prompts));
    out += "\n" + how + "\n" + cuda;
  }
  return out + "\n" + form;
}

Result<Turn> candidate_turn(const Situation& at, const Json& extra, bool looks) {
  Turn out;
  SOLSTICE_TRY(std::string form, at.prompts.section("answer", {{"fields", fields_text(extra)}}));
  if (looks) SOLSTICE_CHECK(add_looks(at.prompts, form));
  SOLSTICE_TRY(out.system, instructions(at.briefing, at.prompts, form));
  out.looks = looks;
  out.schema = answer_schema(looks ? with_looks(extra) : extra);
  out.read = candidate_of;
  return out;
}

Situation within(const Situation& at, const Turn& turn) {
  return {at.briefing, at.prompts, at.tree, at.node, at.most_tokens - llm::estimated_tokens(turn.system)};
}

Result<std::string> problem_section(const Situation& at) {
  return at.prompts.section("problem", {{"setting", at.briefing.setting}, {"equations", at.briefing.equations}});
}

Result<std::string> ladder_section(const Situation& at) {
  if (at.briefing.ladder.empty()) return std::string();
  return at.prompts.section("ladder", {{"ladder", at.briefing.ladder}});
}

Result<std::string> base_section(const Situation& at, const search::Node& node, bool with_program) {
  const Prompts::Values values = {{"which", name_with_author(node)},
                                  {"result", result_text(at.tree, node, at.briefing)}};
  if (!with_program) return at.prompts.section("base_again", values);
  Prompts::Values whole = values;
  whole["program"] = node.id == 0 ? at.briefing.equations : node.proposal.program;
  return at.prompts.section("base", whole);
}

Result<std::string> tried_section(const Situation& at, const std::vector<const search::Node*>& nodes) {
  if (nodes.empty()) return std::string();
  std::string attempts;
  for (const search::Node* node : nodes) attempts += attempt_text(at.tree, *node, at.briefing) + "\n";
  return at.prompts.section("tried", {{"attempts", attempts}});
}

Result<std::string> awaited_section(const Situation& at) {
  std::string attempts;
  for (const search::Node& node : at.tree.nodes()) {
    if (node.id > 0 && !node.measurement && !node.lost) attempts += "- " + title_text(at.tree, node) + "\n";
  }
  return attempts.empty() ? std::string() : at.prompts.section("awaited", {{"attempts", attempts}});
}

Result<std::string> budget_section(const Situation& at, int done) {
  return at.prompts.section("budget", {{"left", left_text(at.briefing, done)}});
}

Result<std::vector<llm::Message>> one_message(const Situation& at, const std::vector<std::string>& before,
                                              std::vector<const search::Node*> tried,
                                              const std::vector<std::string>& after) {
  for (;; tried.pop_back()) {
    SOLSTICE_TRY(const std::string attempts, tried_section(at, tried));
    std::string text;
    const auto add = [&](const std::string& section) {
      text += (text.empty() || section.empty() ? "" : "\n") + section;
    };
    for (const std::string& section : before) add(section);
    add(attempts);
    for (const std::string& section : after) add(section);
    if (tried.empty() || llm::estimated_tokens(text) <= at.most_tokens)
      return std::vector<llm::Message>{{llm::Role::kUser, std::move(text)}};
  }
}

}  // namespace solstice::agents
