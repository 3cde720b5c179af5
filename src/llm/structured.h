// Answers in JSON.
#pragma once

#include <string>

#include "base/json.h"

namespace solstice::llm {

struct Parsed {
  Json json;
  std::string problem;  // "" where there is none; else what is wrong, where, and the rule
};

// The answer as JSON that follows the schema. One Markdown fence around it is taken off.
Parsed parse_answer(const std::string& text, const Json& schema);

}  // namespace solstice::llm
