#include "codesearch/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codesearch/synonyms.h"
#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

// Weights of a word for a concept, next to 1 of the word that was given.
constexpr double kSynonym = 0.85;
constexpr double kResembling = 0.6;  // another spelling
// Weights of concepts, next to 1 of a word of the question.
constexpr double kPart = 0.45;      // of a name that the index has whole
constexpr double kJoined = 0.7;     // two words as one name
constexpr double kOfPhrase = 0.45;  // a word of a phrase that is known as a whole

// A word that names things in code is a term of the field; one that comments alone have is prose, however rare.
constexpr double kProse = 0.3;
constexpr double kNamed = 0.1;  // share of a term's files that have it in a name

using Words = std::vector<QuestionWord>;

// Words of `words` from `at` that are this phrase; 0 where they are not.
size_t matches(const Phrase& phrase, const Words& words, size_t at) {
  if (at + phrase.size() > words.size()) return 0;
  for (size_t i = 0; i < phrase.size(); ++i) {
    if (words[at + i].whole != phrase[i]) return 0;
  }
  return phrase.size();
}

class Reader {
 public:
  Reader(Words words, const Lexicon& lexicon)
      : words_(std::move(words)), lexicon_(lexicon), within_phrase_(words_.size(), false) {}

  Result<Question> read() {
    for (size_t at = 0; at < words_.size();) {
      SOLSTICE_TRY(const size_t taken, take(at));
      at += taken;
    }
    SOLSTICE_CHECK(join_neighbours());
    keep_weightiest();
    return std::move(out_);
  }

 private:
  // The concept that begins at a word; returns of how many words it is.
  Result<size_t> take(size_t at) {
    size_t length = 1;
    std::vector<std::string> others;
    for (const SynonymGroup& group : synonym_groups()) {
      for (const Phrase& phrase : group.phrases) {
        const size_t found = matches(phrase, words_, at);
        if (found == 0 || found < length) continue;
        if (found > length) others.clear();
        length = found;
        for (const Phrase& other : group.phrases) {
          if (other.size() <= 2) others.push_back(other[0] + (other.size() == 2 ? other[1] : ""));
        }
      }
    }
    for (size_t i = at; i + 1 < at + length; ++i) within_phrase_[i] = true;
    if (length > 1)
      SOLSTICE_CHECK(add_phrase(at, length, others));
    else
      SOLSTICE_CHECK(add_word(words_[at], 1, others));
    return length;
  }

  Status add_phrase(size_t at, size_t length, const std::vector<std::string>& names) {
    Concept concept_of;
    for (size_t i = at; i < at + length; ++i) concept_of.shown += (i > at ? " " : "") + words_[i].given;
    for (const std::string& name : names) concept_of.words.push_back({name, 1});
    SOLSTICE_TRY(const bool known, add(std::move(concept_of), 1));
    for (size_t i = at; i < at + length; ++i) SOLSTICE_CHECK(add_word(words_[i], known ? kOfPhrase : 1, {}));
    return success();
  }

  Status add_word(const QuestionWord& word, double weight, const std::vector<std::string>& synonyms) {
    if (says_nothing(word.given)) return success();
    Concept concept_of;
    concept_of.shown = word.given;
    concept_of.words.push_back({word.whole, 1});
    for (const std::string& other : synonyms) concept_of.words.push_back({other, kSynonym});
    SOLSTICE_TRY(const bool known, add(std::move(concept_of), weight));
    for (const std::string& part : word.parts) {
      Concept of_part;
      of_part.shown = part;
      of_part.words.push_back({part, 1});
      SOLSTICE_TRY(const bool part_known, add(std::move(of_part), weight * (known ? kPart : 1)));
      (void)part_known;  // a part that nothing holds leaves the others
    }
    if (known) return success();
    return add_resembling(word, weight);
  }

  Status add_resembling(const QuestionWord& word, double weight) {
    SOLSTICE_TRY(const std::vector<std::string> near, lexicon_.near(word.given));
    Concept concept_of;
    concept_of.shown = word.given;
    for (const std::string& other : near) {
      concept_of.words.push_back({other, kResembling});
      if (const std::string stemmed = stem(other); stemmed != other) concept_of.words.push_back({stemmed, kResembling});
    }
    SOLSTICE_TRY(const bool known, add(std::move(concept_of), weight));
    if (!known) out_.unknown.push_back(word.given);
    return success();
  }

  // `tile scheduler` is asked for, TileScheduler and tile_scheduler are what code has (words.h).
  Status join_neighbours() {
    for (size_t i = 0; i + 1 < words_.size(); ++i) {
      const QuestionWord &a = words_[i], &b = words_[i + 1];
      if (within_phrase_[i] || !is_joinable(a) || !is_joinable(b)) continue;
      Concept concept_of;
      concept_of.shown = a.given + " " + b.given;
      concept_of.words = {{a.whole + b.whole, 1}};
      concept_of.extra = true;
      SOLSTICE_TRY(const bool known, add(std::move(concept_of), kJoined));
      (void)known;
    }
    return success();
  }

  // Whether the index holds a word of it. Words that it does not hold are left out.
  Result<bool> add(Concept concept_of, double weight) {
    std::vector<Alternative> held;
    double files = 0, named = 0, noted = 0;
    for (const Alternative& word : concept_of.words) {
      const auto same = [&](const Alternative& other) { return other.word == word.word; };
      if (std::any_of(held.begin(), held.end(), same)) continue;
      SOLSTICE_TRY(const WordUse use, lexicon_.use(word.word));
      if (use.files == 0) continue;
      held.push_back(word);
      files += static_cast<double>(use.files);
      named += static_cast<double>(use.named);
      noted += static_cast<double>(use.noted);
    }
    if (held.empty()) return false;
    const auto known = [&](const Concept& other) {
      return other.words.size() == held.size() && other.words[0].word == held[0].word;
    };
    if (std::any_of(out_.concepts.begin(), out_.concepts.end(), known)) return true;
    concept_of.words = std::move(held);
    const double prose = noted / files * (1 - std::min(1.0, named / files / kNamed));
    concept_of.weight = weight * (1 - (1 - kProse) * prose) * std::log(1 + lexicon_.files / files);
    out_.concepts.push_back(std::move(concept_of));
    return true;
  }

  // A single letter may belong to a name (stream-K), an article does not.
  static bool is_joinable(const QuestionWord& word) {
    const bool letter = word.given.size() == 1 && word.given != "a" && word.given != "i";
    return word.parts.empty() && (letter || !says_nothing(word.given));
  }

  void keep_weightiest() {
    std::stable_sort(out_.concepts.begin(), out_.concepts.end(),
                     [](const Concept& a, const Concept& b) { return a.weight > b.weight; });
    if (out_.concepts.size() > kMostConcepts) out_.concepts.resize(kMostConcepts);
  }

  Words words_;
  const Lexicon& lexicon_;
  std::vector<bool> within_phrase_;  // a word that a known phrase joins with the next
  Question out_;
};

}  // namespace

Result<Question> understand(std::string_view text, const Lexicon& lexicon) {
  if (text.size() > kLongestQuestion) {
    return fail(Code::bad_argument, fmt::format("the question has {} bytes; at most {}", text.size(), kLongestQuestion),
                "ask for what the code is called or does, in a few words");
  }
  Words words = question_words(text);
  const auto silent = [](const QuestionWord& word) { return says_nothing(word.given); };
  if (std::all_of(words.begin(), words.end(), silent)) {
    return fail(Code::bad_argument, "the question has no word to look up",
                "ask for what the code is called or does: \"stmatrix epilogue\"");
  }
  return Reader(std::move(words), lexicon).read();
}

}  // namespace solstice::codesearch
