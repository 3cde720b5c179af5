// A question as what to look up: concepts, each with the words that stand for it in code.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::codesearch {

// What the index knows of words.
struct Lexicon {
  double chunks = 1;                                                       // in the index
  std::function<Result<int64_t>(std::string_view)> holders;                // how many chunks hold a word
  std::function<Result<std::vector<std::string>>(std::string_view)> near;  // identifiers that contain or resemble it
};

struct Alternative {
  std::string word;  // as the index has it
  double weight = 1;
};

struct Concept {
  std::string shown;               // as the question has it
  std::vector<Alternative> words;  // the best that a chunk holds counts
  double weight = 0;               // how much it tells: rare words more
  bool extra = false;              // two words of the question as one name: not asked for by itself
};

struct Question {
  std::vector<Concept> concepts;
  std::vector<std::string> unknown;  // words that no chunk holds, nor anything like them
};

inline constexpr size_t kMostConcepts = 24;       // the weightiest are looked up
inline constexpr size_t kLongestQuestion = 4000;  // bytes

// Words of `text`, whatever else stands in it, are looked up: quotes, operators and parentheses have no meaning. Error
// bad_argument where it has no word, or is too long.
Result<Question> understand(std::string_view text, const Lexicon& lexicon);

}  // namespace solstice::codesearch
