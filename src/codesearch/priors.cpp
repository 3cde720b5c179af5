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

bool is_declaring(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "using" || word == "enum" ||
         word == "define";
}
// A name that consists of words of the question counts so much more.
constexpr double kPlainFile = 0.4;
constexpr double kPlainTitle = 0.3;

}  // namespace

Priors::Priors(std::string_view text, const Question& question) {
  for (const Concept& one : question.concepts) {
    for (const Alternative& word : one.words) words_.insert(word.word);
  }
  const auto take = [&](std::string_view word) {
    if (const int found = architecture_of(word); found > 0) architectures_.push_back(found);
  };
  for (const QuestionWord& word : question_words(text)) {
    take(word.whole);
    for (const std::string& part : word.parts) take(part);
    for (const SynonymGroup& group : synonym_groups()) {
      const Phrase asked = {word.whole};
      if (std::find(group.phrases.begin(), group.phrases.end(), asked) == group.phrases.end()) continue;
      for (const Phrase& phrase : group.phrases) take(phrase.front());
    }
  }
}

double Priors::plainness(std::string_view path, std::string_view title) const {
  const size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  const std::string_view base = name.substr(0, name.rfind('.'));
  const size_t scope = title.rfind("::");
  const std::string_view own = title.substr(scope == std::string_view::npos ? 0 : scope + 2);
  return 1 + kPlainFile * share_asked(base) + kPlainTitle * share_asked(own.substr(0, own.find('<')));
}

double Priors::share_asked(std::string_view name) const {
  size_t parts = 0, asked = 0;
  for (const QuestionWord& word : question_words(name)) {
    if (is_declaring(word.given)) continue;
    const auto take = [&](const std::string& part) {
      if (architecture_of(part) == kArchitecture) return;
      ++parts;
      asked += words_.count(part);
    };
    if (word.parts.empty()) take(word.whole);
    for (const std::string& part : word.parts) take(part);
  }
  return parts == 0 ? 0 : static_cast<double>(asked) / static_cast<double>(parts);
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
