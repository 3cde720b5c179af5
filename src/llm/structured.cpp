#include "llm/structured.h"

#include <algorithm>

#include "llm/schema.h"

namespace solstice::llm {
namespace {

// The inside of ```json ... ``` where that is all there is, else the text itself.
std::string_view without_fence(std::string_view text) {
  const auto trim = [](std::string_view s) {
    const size_t begin = std::min(s.find_first_not_of(" \t\r\n"), s.size());
    s.remove_prefix(begin);
    return s.substr(0, s.find_last_not_of(" \t\r\n") + 1);
  };
  text = trim(text);
  const size_t line = text.find('\n');
  if (!text.starts_with("```") || !text.ends_with("```") || line == text.npos || text.size() < line + 4) return text;
  return trim(text.substr(line + 1, text.size() - line - 4));
}

}  // namespace

Parsed parse_answer(const std::string& text, const Json& schema) {
  Result<Json> json = parse_json(without_fence(text));
  if (!json.ok()) return {Json(), json.error().message};
  std::string problem;
  for (const Violation& violation : validate(*json, schema))
    problem += (problem.empty() ? "" : "\n") + violation.text();
  return {std::move(*json), std::move(problem)};
}

}  // namespace solstice::llm
