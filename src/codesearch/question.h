// A question as what to look up: concepts, each with the words that stand for it in code.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::codesearch {

// How many files hold a word, how many have it in a name that they declare or in their path, and how many in comments.
struct WordUse {
  int64_t files = 0;
  int64_t named = 0;
  int64_t noted = 0;
};

// What the index knows of words.
struct Lexicon {
  double files = 1;  // in the index
  std::function<Result<WordUse>(std::string_view)> use;
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
