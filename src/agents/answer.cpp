#include "agents/answer.h"

#include <fmt/format.h>

#include "agents/count.h"

namespace solstice::agents {
namespace {

// Values of `nothing_left`.
constexpr const char *kGoesOn = "no", *kHere = "here", *kAnywhere = "anywhere";

Status edit(std::string& text, const Json& change, size_t number) {
  const std::string& find = change.at("find").as_string();
  if (find.empty()) return fail(Code::bad_argument, fmt::format("`find` of edit {} is empty", number));
  const size_t count = count_of(text, find);
  if (count != 1) {
    const std::string found = count == 0 ? "does not occur" : fmt::format("occurs {} times", count);
    return fail(Code::bad_argument,
                fmt::format("`find` of edit {} {} in the program, where it must occur once:\n{}", number, found, find));
  }
  text.replace(text.find(find), find.size(), change.at("replace").as_string());
  return success();
}

}  // namespace

Json text_schema(std::string_view description) {
  return Json::object().set("type", "string").set("description", description);
}

Json closed_schema(const Json& properties) {
  Json required = Json::array();
  for (const auto& [name, schema] : properties.members()) required.push(name);
  return Json::object()
      .set("type", "object")
      .set("properties", properties)
      .set("required", required)
      .set("additionalProperties", false);
}

Json answer_schema(const Json& extra) {
  Json properties = Json::object();
  for (const auto& [name, schema] : extra.members()) properties.set(name, schema);
  const Json change = closed_schema(Json::object()
                                        .set("find", text_schema("text that occurs once"))
                                        .set("replace", text_schema("what takes its place")));
  Json left = text_schema("whether there is nothing worth an attempt any more");
  left.set("enum", Json::array().push(kGoesOn).push(kHere).push(kAnywhere));
  properties
      .set("reason", text_schema("what changes and why it should be faster, in one sentence; or why nothing is left"))
      .set("nothing_left", left)
      .set("edits", Json::object().set("type", "array").set("items", change))
      .set("program", text_schema("a whole program, or empty where there are edits"));
  return closed_schema(properties);
}

std::string fields_text(const Json& extra) {
  std::string out;
  for (const auto& [name, schema] : extra.members())
    out += fmt::format("- `{}`: {}\n", name, schema.at("description").as_string());
  return out;
}

Result<Brought> candidate_of(const Json& answer, const std::string& base) {
  Brought out;
  SOLSTICE_TRY(out.program, program_of(answer, base));
  out.nothing_left = !out.program;
  return out;
}

bool says_nothing_left_anywhere(const Json& answer) { return answer.at("nothing_left").as_string() == kAnywhere; }

Result<std::optional<std::string>> program_of(const Json& answer, const std::string& base) {
  const std::string &program = answer.at("program").as_string(), &left = answer.at("nothing_left").as_string();
  const auto& edits = answer.at("edits").items();
  const bool goes_on = left == kGoesOn;
  if (!goes_on && program.empty() && edits.empty()) return std::optional<std::string>();
  if (!goes_on)
    return fail(Code::bad_argument,
                fmt::format("`nothing_left` is `{}`, and there is a candidate: give one of them", left));
  if (program.empty() && edits.empty()) return fail(Code::bad_argument, "there are neither `edits` nor a `program`");
  if (!program.empty() && !edits.empty())
    return fail(Code::bad_argument, "there are `edits` and a `program`: give one of them");
  if (!program.empty()) return std::optional(program);
  std::string text = base;
  for (size_t i = 0; i < edits.size(); ++i) SOLSTICE_CHECK(edit(text, edits[i], i + 1));
  return std::optional(std::move(text));
}

}  // namespace solstice::agents
