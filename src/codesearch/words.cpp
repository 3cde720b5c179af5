#include "codesearch/words.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace solstice::codesearch {
namespace {

constexpr size_t kLongestWord = 80;      // longer ones are data: tables in hexadecimal, mangled names
constexpr size_t kShortPiece = 9;        // e4m3, f16x2, mma2k
constexpr size_t kInstructionParts = 4;  // of cp.async.bulk.tensor: what comes behind are its qualifiers

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool has_vowel(std::string_view word) { return word.find_first_of("aeiouy") != std::string_view::npos; }

// A new part begins at `at`: aB, ABc (at B), 2d.
bool begins_part(std::string_view piece, size_t at) {
  const char before = piece[at - 1], here = piece[at];
  if (is_digit(before) && is_letter(here)) return true;
  if (is_lower(before) && is_upper(here)) return true;
  return is_upper(before) && is_upper(here) && at + 1 < piece.size() && is_lower(piece[at + 1]);
}

// 64x256x16: the ends of its numbers; empty where `piece` does not begin with a shape.
std::vector<std::pair<size_t, size_t>> shape_numbers(std::string_view piece) {
  std::vector<std::pair<size_t, size_t>> numbers;
  size_t at = 0;
  while (at < piece.size() && is_digit(piece[at])) {
    const size_t from = at;
    while (at < piece.size() && is_digit(piece[at])) ++at;
    numbers.emplace_back(from, at);
    if (at + 1 >= piece.size() || piece[at] != 'x' || !is_digit(piece[at + 1])) break;
    ++at;
  }
  if (numbers.size() < 2) numbers.clear();
  return numbers;
}

// Hands on words, and pairs of neighbours where these are wanted.
class Neighbours {
 public:
  explicit Neighbours(const WordSink& sink, bool pairs = true) : sink_(sink), pairs_(pairs) {}
  void word(std::string_view part) {
    std::string stemmed = stem(lower(part));
    if (part.size() > 1) sink_(stemmed);
    if (pairs_ && !last_.empty() && (part.size() > 1 || last_.size() > 1)) sink_(last_ + stemmed);
    last_ = std::move(stemmed);
  }
  void whole(std::string_view word) { sink_(word); }  // beside its parts
  void separate() { last_.clear(); }

 private:
  const WordSink& sink_;
  bool pairs_;
  std::string last_;
};

// Words of what stands between two underscores.
void split_piece(std::string_view piece, Neighbours& out) {
  const auto numbers = shape_numbers(piece);
  if (!numbers.empty()) {
    out.separate();
    out.whole(lower(piece.substr(0, numbers.back().second)));
    for (size_t i = 0; numbers.size() > 2 && i + 1 < numbers.size(); ++i)
      out.whole(piece.substr(numbers[i].first, numbers[i + 1].second - numbers[i].first));
    return split_piece(piece.substr(numbers.back().second), out);
  }
  size_t from = 0;
  for (size_t at = 1; at < piece.size(); ++at) {
    if (!begins_part(piece, at)) continue;
    out.word(piece.substr(from, at - from));
    from = at;
  }
  if (from > 0 && piece.size() < kShortPiece) out.whole(lower(piece));
  if (from < piece.size()) out.word(piece.substr(from));
}

// Parts of an identifier, and short pieces that digits cut: e4m3 beside e4 and m3.
void split_identifier(std::string_view identifier, Neighbours& out) {
  while (!identifier.empty()) {
    const size_t end = std::min(identifier.find('_'), identifier.size());
    if (end > 0) split_piece(identifier.substr(0, end), out);
    identifier.remove_prefix(std::min(end + 1, identifier.size()));
  }
}

std::string_view trimmed(std::string_view identifier) {
  while (!identifier.empty() && identifier.front() == '_') identifier.remove_prefix(1);
  while (!identifier.empty() && identifier.back() == '_') identifier.remove_suffix(1);
  return identifier;
}

// In CUDA a name of its own may differ from another in leading underscores alone: these are no part of a word.
bool is_compound(std::string_view identifier) {
  if (identifier.find('_') != std::string_view::npos) return true;
  for (size_t at = 1; at < identifier.size(); ++at) {
    if (begins_part(identifier, at)) return true;
  }
  return false;
}

size_t end_of_word(std::string_view text, size_t from) {
  size_t at = from;
  while (at < text.size() && is_word_char(text[at])) ++at;
  return at;
}

// cp.async.bulk.tensor.2d.shared::cluster at `from`: its first parts. In lower case throughout.
void emit_instruction(std::string_view text, size_t from, const WordSink& sink) {
  size_t at = from, parts = 0;
  while (at < text.size() && is_lower(text[at])) {
    while (at < text.size() && (is_lower(text[at]) || is_digit(text[at]) || text[at] == '_')) ++at;
    if (++parts > 1) sink(text.substr(from, at - from));
    if (parts == kInstructionParts || at >= text.size() || text[at] != '.') return;
    ++at;
  }
}

// Strings and comments: where words are neighbours, and PTX stands.
bool is_prose(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return line.find('"') != std::string_view::npos || line.find("//") != std::string_view::npos ||
         (first != std::string_view::npos && line[first] == '*');
}

// Between words of prose; names in code are no neighbours of each other.
bool is_between_words(std::string_view text) { return text == " " || text == "-"; }

void words_of_line(std::string_view line, bool prose, const WordSink& sink) {
  Neighbours out(sink);
  size_t last = 0;
  for (size_t at = 0; at < line.size();) {
    if (!is_word_char(line[at])) {
      ++at;
      continue;
    }
    const size_t end = end_of_word(line, at);
    const std::string_view identifier = trimmed(line.substr(at, end - at));
    if (!prose || !is_between_words(line.substr(last, at - last))) out.separate();
    if (!identifier.empty() && identifier.size() <= kLongestWord) {
      if (is_compound(identifier)) out.whole(lower(identifier));
      split_identifier(identifier, out);
    }
    const bool begins = at == 0 || line[at - 1] != '.';
    if (prose && begins && end < line.size() && line[end] == '.') emit_instruction(line, at, sink);
    at = last = end;
  }
}

}  // namespace

bool is_word_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

// A light stemmer: equal stems for the forms that comments and names of code have. It need not leave words of English.
std::string stem(std::string_view word) {
  std::string out(word);
  if (out.size() < 4 || !std::all_of(out.begin(), out.end(), is_lower)) return out;
  const auto drop = [&](std::string_view ending, size_t least) {
    if (out.size() < least || !out.ends_with(ending)) return false;
    if (!has_vowel(std::string_view(out).substr(0, out.size() - ending.size()))) return false;
    out.resize(out.size() - ending.size());
    return true;
  };
  if (out.ends_with("ies") && out.size() > 4) {
    out.replace(out.size() - 3, 3, "y");
  } else if (out.ends_with("s") && !out.ends_with("ss") && !out.ends_with("us") && !out.ends_with("is")) {
    out.pop_back();
  }
  const bool cut = drop("ing", 6) || drop("ed", 5);
  const size_t n = out.size();
  if (cut && n > 3 && out[n - 1] == out[n - 2] && out[n - 1] != 'l' && out[n - 1] != 's') out.pop_back();
  (void)(drop("ion", 7) || drop("er", 6) || drop("or", 8));
  if (out.size() > 3 && out.back() == 'e') out.pop_back();
  return out;
}

void each_word(std::string_view text, const WordSink& sink) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    words_of_line(line, is_prose(line), sink);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string distinct_words(std::string_view text) {
  std::unordered_set<std::string> seen;
  std::string out;
  each_word(text, [&](std::string_view word) {
    if (!seen.emplace(word).second) return;
    if (!out.empty()) out += ' ';
    out += word;
  });
  return out;
}

std::vector<QuestionWord> question_words(std::string_view question) {
  std::vector<QuestionWord> out;
  for (size_t at = 0; at < question.size();) {
    if (!is_word_char(question[at])) {
      ++at;
      continue;
    }
    size_t end = end_of_word(question, at);
    QuestionWord word;
    std::vector<std::string> dotted;
    emit_instruction(question, at, [&](std::string_view part) { dotted.emplace_back(part); });
    if (!dotted.empty()) {
      word.whole = dotted.back();
      while (end < question.size() && (is_word_char(question[end]) || question[end] == '.' || question[end] == ':'))
        ++end;
    }
    const std::string_view given = trimmed(question.substr(at, end - at));
    at = end;
    if (given.empty()) continue;
    word.given = lower(given);
    const WordSink part = [&](std::string_view text) {
      if (std::find(word.parts.begin(), word.parts.end(), text) == word.parts.end()) word.parts.emplace_back(text);
    };
    const bool compound = word.whole.empty() && is_compound(given);
    Neighbours parts(part, false);
    for (size_t from = 0; from < given.size(); from = end_of_word(given, from) + 1)
      split_identifier(given.substr(from, end_of_word(given, from) - from), parts);
    if (compound) word.whole = word.given;
    if (word.whole.empty()) word.whole = stem(word.given);
    std::erase(word.parts, word.whole);
    out.push_back(std::move(word));
  }
  return out;
}

void each_identifier(std::string_view text, const WordSink& sink) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::max(end_of_word(text, at), at + 1);
    const std::string_view identifier = trimmed(text.substr(at, end - at));
    if (identifier.size() > 3 && identifier.size() <= kLongestWord && is_letter(identifier.front())) {
      sink(lower(identifier));
    }
    at = end;
  }
}

}  // namespace solstice::codesearch
