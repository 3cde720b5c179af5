#include "codesearch/priors.h"

#include <algorithm>
#include <charconv>

#include "codesearch/synonyms.h"
#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

// Solstice measures on compute capability 9.0. What is older runs there, what is newer does not.
constexpr int kArchitecture = 90;
constexpr double kNewer = 0.6;
constexpr double kOlder = 0.9;

// Of "sm90", "sm_100a" or "sm1xx": the number; 0 where a word names none.
int architecture_of(std::string_view word) {
  if (!word.starts_with("sm")) return 0;
  word.remove_prefix(2);
  if (word.starts_with('1') && word.find_first_not_of("1x") == std::string_view::npos && word.size() > 1) return 100;
  int value = 0;
  (void)std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

}  // namespace

Priors::Priors(std::string_view question) {
  const auto take = [&](std::string_view word) {
    if (const int found = architecture_of(word); found > 0) architectures_.push_back(found);
  };
  for (const QuestionWord& word : question_words(question)) {
    take(word.whole);
    for (const std::string& part : word.parts) take(part);
    for (const SynonymGroup& group : synonym_groups()) {
      const Phrase asked = {word.whole};
      if (std::find(group.phrases.begin(), group.phrases.end(), asked) == group.phrases.end()) continue;
      for (const Phrase& phrase : group.phrases) take(phrase.front());
    }
  }
}

double Priors::of(std::string_view path) const {
  int named = 0;
  each_word(path, [&](std::string_view word) { named = std::max(named, architecture_of(word)); });
  if (named == 0 && path.find("blackwell") != std::string_view::npos) named = 100;
  if (named == 0 || std::find(architectures_.begin(), architectures_.end(), named) != architectures_.end()) return 1;
  if (named > kArchitecture) return kNewer;
  return named < kArchitecture ? kOlder : 1;
}

}  // namespace solstice::codesearch
