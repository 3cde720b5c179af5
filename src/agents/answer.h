// Answers of a language model: their schema, and the program that one makes of the program it goes on from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace solstice::agents {

// What an answer brought.
struct Brought {
  std::optional<std::string> program;  // a candidate
  bool nothing_left = false;           // in place of one: there is nothing to try from here
  Json artefact = {};                  // of a turn before the candidate; null: it is none
};

// The answer follows the schema of its turn. `base`: the program that edits are done on. Error bad_argument, written
// for whoever answered.
using Read = std::function<Result<Brought>(const Json& answer, const std::string& base)>;

// Schemas of a string, and of an object whose members are all required, without others.
Json text_schema(std::string_view description);
Json closed_schema(const Json& properties);

// {"reason", "nothing_left", "edits", "program"}, closed and all required; with `extra` members (name and schema)
// before them.
Json answer_schema(const Json& extra = Json::object());

// The text behind `extra` in prompts/answer.md: "- `analysis`: ..\n" of their descriptions.
std::string fields_text(const Json& extra);

// A Read: the candidate of an answer by answer_schema().
Result<Brought> candidate_of(const Json& answer, const std::string& base);

// The program of an answer that follows the schema; nothing where it says that nothing is left to be tried. Error
// bad_argument, written for whoever answered: neither edits nor a program, or both, or one of them where nothing is
// left; an edit whose text is not in `base`, or more than once.
Result<std::optional<std::string>> program_of(const Json& answer, const std::string& base);

// Nothing is left to gain of any program, not only of the one that the question was about.
bool says_nothing_left_anywhere(const Json& answer);

}  // namespace solstice::agents
