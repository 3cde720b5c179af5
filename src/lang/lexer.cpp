#include "lang/lexer.h"

#include <fmt/format.h>

#include <array>

namespace solstice::lang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::array<std::string_view, 8> kTwoCharacters = {"<=", ">=", "==", "!=", "//", "**", "->", ".."};
constexpr std::string_view kRawMark = "\"\"\"";
constexpr std::string_view kOneCharacter = "[](){},=<>+-*/%:;";

bool is_raw_end(std::string_view line) {
  return line == kRawMark || (line.size() == 4 && line.substr(0, 3) == kRawMark && line[3] == '\r');
}

class Lexer {
 public:
  Lexer(std::string_view source, Diagnostics& diagnostics) : source_(source), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    while (skip_blanks(), at_ < source_.size()) token();
    push(TokenKind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void push(TokenKind kind, size_t end) {
    Token t;
    t.kind = kind;
    t.text = source_.substr(at_, end - at_);
    t.span = {static_cast<int>(at_), static_cast<int>(end)};
    t.first_on_line = newline_;
    t.comments = std::move(comments_);
    comments_.clear();
    tokens_.push_back(std::move(t));
    at_ = end;
    newline_ = false;
  }

  void skip_blanks() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '#') {
        comment();
      } else if (c == '\n') {
        newline_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  void comment() {
    const size_t end = std::min(source_.find('\n', at_), source_.size());
    std::string_view text = source_.substr(at_ + 1, end - at_ - 1);
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    comments_.push_back({std::string(text), !newline_ && !tokens_.empty()});
    at_ = end;
  }

  void token() {
    const char c = peek();
    if (is_letter(c)) return word();
    if (is_digit(c)) return digits();
    if (source_.substr(at_, kRawMark.size()) == kRawMark) return raw();
    if (c == '"') return string();
    for (const std::string_view symbol : kTwoCharacters) {
      if (source_.substr(at_, 2) == symbol) return push(TokenKind::kSymbol, at_ + 2);
    }
    if (kOneCharacter.find(c) != std::string_view::npos) return push(TokenKind::kSymbol, at_ + 1);
    unknown();
  }

  void word() {
    size_t end = at_;
    while (end < source_.size() && (is_letter(source_[end]) || is_digit(source_[end]))) ++end;
    push(TokenKind::kWord, end);
  }

  size_t skip_digits(size_t from) const {
    while (from < source_.size() && is_digit(source_[from])) ++from;
    return from;
  }

  bool digit_at(size_t position) const { return position < source_.size() && is_digit(source_[position]); }

  void digits() {
    size_t end = skip_digits(at_);
    if (end < source_.size() && source_[end] == 'x' && digit_at(end + 1)) {
      while (end < source_.size() && source_[end] == 'x' && digit_at(end + 1)) end = skip_digits(end + 1);
      return push(TokenKind::kSize, end);
    }
    bool real = false;
    if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      real = true;
      end = skip_digits(end + 1);
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t sign = end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-') ? 1 : 0;
      if (digit_at(end + 1 + sign)) {
        real = true;
        end = skip_digits(end + 1 + sign);
      }
    }
    push(real ? TokenKind::kNumber : TokenKind::kInt, end);
  }

  void string() {
    const size_t end = source_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || source_[end] == '\n') {
      const size_t stop = std::min(end, source_.size());
      diagnostics_.error("E000", {static_cast<int>(at_), static_cast<int>(stop)}, "string without a closing `\"`",
                         "a string ends on its own line");
      return push(TokenKind::kString, stop);
    }
    push(TokenKind::kString, end + 1);
  }

  // To the line that is exactly `"""`.
  void raw() {
    const size_t first = std::min(source_.find('\n', at_), source_.size());
    const std::string_view rest = source_.substr(at_ + kRawMark.size(), first - at_ - kRawMark.size());
    if (rest.find_first_not_of(" \t\r") != std::string_view::npos) {
      raw_error(first, "raw text begins on the line below its `\"\"\"`", "nothing may follow `\"\"\"` on its line");
      return push(TokenKind::kRaw, first);
    }
    size_t nearly = std::string_view::npos;
    for (size_t line = first + 1; line < source_.size();) {
      const size_t end = std::min(source_.find('\n', line), source_.size());
      const std::string_view text = source_.substr(line, end - line);
      if (is_raw_end(text)) return push(TokenKind::kRaw, line + kRawMark.size());
      const size_t word = text.find_first_not_of(" \t");
      if (nearly == std::string_view::npos && word != std::string_view::npos && text.substr(word, 3) == kRawMark)
        nearly = end;
      line = end + 1;
    }
    raw_error(at_ + kRawMark.size(), "raw text without an end",
              "it ends with a line that is exactly `\"\"\"`, without blanks");
    push(TokenKind::kRaw, std::min(nearly, source_.size()));
  }

  void raw_error(size_t end, std::string message, std::string hint) {
    diagnostics_.error("E000", {static_cast<int>(at_), static_cast<int>(end)}, std::move(message), std::move(hint));
  }

  // Reports a run of foreign bytes, or of one character, once.
  void unknown() {
    const size_t begin = at_;
    const bool ascii = static_cast<unsigned char>(source_[at_]) < 0x80;
    do {
      ++at_;
    } while (at_ < source_.size() &&
             (ascii ? source_[at_] == source_[begin] : static_cast<unsigned char>(source_[at_]) >= 0x80));
    const std::string_view text = source_.substr(begin, at_ - begin);
    diagnostics_.error("E000", {static_cast<int>(begin), static_cast<int>(at_)},
                       fmt::format("`{}` is not part of the language", ascii ? text : "non-ASCII text"),
                       hint_for(text, begin));
  }

  // Hints for spellings of other languages.
  std::string hint_for(std::string_view text, size_t begin) const {
    static constexpr std::pair<char, std::string_view> kMeant[] = {
        {'^', "a power is `a ** b`"},
        {'&', "conditions are joined by `and`"},
        {'|', "conditions are joined by `or`; an absolute value is `abs(a)`"},
        {'!', "write `not a`, `a != b`"},
        {'?', "a choice is `select(condition, a, b)`"},
        {'@', "a product of matrices is `y[m,n] = sum[k](a[m,k] * b[k,n])`"},
        {'\'', "strings stand in double quotes"},
    };
    for (const auto& [written, meant] : kMeant) {
      if (text[0] == written) return std::string(meant);
    }
    if (text == "." && begin > 0 && is_letter(source_[begin - 1]) && is_letter(peek()))
      return "functions have bare names: `relu(a)`, not `torch.relu(a)`";
    if (text == ".") return "a number has digits on both sides of its point";
    return "outside comments and strings a program is ASCII: names, numbers, brackets and operators";
  }

  std::string_view source_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::vector<Comment> comments_;
  size_t at_ = 0;
  bool newline_ = true;
};

}  // namespace

std::string_view raw_text(const Token& token) {
  const size_t begin = token.text.find('\n');
  if (begin == std::string_view::npos) return "";
  const std::string_view lines = token.text.substr(begin + 1);
  return lines.ends_with(kRawMark) ? lines.substr(0, lines.size() - kRawMark.size()) : lines;
}

std::vector<Token> lex(std::string_view source, Diagnostics& diagnostics) { return Lexer(source, diagnostics).run(); }

}  // namespace solstice::lang
