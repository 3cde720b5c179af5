// Includes of one text: lexed as the standard's phases of translation say (continued lines, then comments and
// strings, then directives), and as NVRTC does where they leave it open. What compilers read differently is a flaw, so
// that nothing is missed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "toolchain/includes.h"

namespace solstice::toolchain {
namespace {

constexpr std::string_view kComputed = "an include needs its name in quotes or angle brackets";
constexpr std::string_view kAsked = "`__has_include` needs a name in quotes or angle brackets in its brackets";
constexpr std::string_view kCharacter =
    "outside of text and comments `\\`, `$` and what is beyond ASCII are read differently by compilers";
constexpr std::string_view kRaw =
    "a raw string needs a delimiter of at most 16 characters, its end, and a blank before it";

void add_flaw(Includes& out, int line, std::string_view why) {
  if (out.flaw_line == 0) out.flaw_line = line, out.flaw = why;
}

// Continued lines joined, and where each character stood: raw strings are read from the source as it is.
struct Joined {
  std::string text;
  std::vector<size_t> from;
};

size_t continuation_at(std::string_view source, size_t at) {
  for (const std::string_view end : {"\\\n", "\\\r\n"}) {
    if (source.substr(at, end.size()) == end) return end.size();
  }
  return 0;
}

Joined join(std::string_view source) {
  Joined out;
  out.text.reserve(source.size());
  out.from.reserve(source.size());
  for (size_t at = 0; at < source.size();) {
    if (const size_t skip = continuation_at(source, at)) {
      at += skip;
      continue;
    }
    out.text += source[at];
    out.from.push_back(at++);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\v\f");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool eat(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text = trimmed(text.substr(word.size()));
  return true;
}

// `"a.h" ..` or `<a.h> ..`; false where it is neither.
bool take_name(std::string_view text, int line, Includes& out) {
  const char close = text.empty() ? '\0' : (text[0] == '"' ? '"' : text[0] == '<' ? '>' : '\0');
  const size_t end = close ? text.find(close, 1) : std::string_view::npos;
  if (end == std::string_view::npos) return false;
  out.names.push_back({std::string(text.substr(1, end - 1)), line});
  return true;
}

// The presence of a header decides what is compiled, too.
void scan_questions(std::string_view line, int number, Includes& out) {
  for (const std::string_view word : {"__has_include_next", "__has_include", "__has_embed"}) {
    for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      std::string_view rest = trimmed(line.substr(at + word.size()));
      if (rest.substr(0, 5) == "_next") continue;  // another of these words
      if (!eat(rest, "(") || !take_name(rest, number, out)) add_flaw(out, number, kAsked);
    }
  }
}

void scan_line(std::string_view line, int number, Includes& out) {
  line = trimmed(line);
  if (!eat(line, "#") && !eat(line, "%:")) return;
  scan_questions(line, number, out);
  if (!eat(line, "include_next") && !eat(line, "include") && !eat(line, "import") && !eat(line, "embed")) return;
  if (!take_name(line, number, out)) add_flaw(out, number, kComputed);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_unclear(char c) { return c == '\\' || c == '$' || static_cast<unsigned char>(c) >= 0x80; }

bool begins_raw_string(std::string_view word) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"R", "LR", "uR", "UR", "u8R"};
  return std::find(kPrefixes.begin(), kPrefixes.end(), word) != kPrefixes.end();
}

class Scanner {
 public:
  Scanner(std::string_view source, Includes& out)
      : source_(source), joined_(join(source)), text_(joined_.text), out_(out) {}

  void run() {
    while (at_ < text_.size()) step();
    end_line();
  }

 private:
  char peek(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  bool is_at(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  void step() {
    const char c = text_[at_];
    if (c == '\n') return end_line();
    if (is_at("//")) return blank_up_to(std::min(text_.find('\n', at_), text_.size()));
    if (is_at("/*")) return blank_up_to(end_of_block());
    if (c == '"' || c == '\'') return take_up_to(end_of_quoted());
    if (is_digit(c) || (c == '.' && is_digit(peek(at_ + 1)))) return take_up_to(end_of_number());
    if (is_word(c)) return take_word();
    if (is_unclear(c)) add_flaw(out_, line_at(at_), kCharacter);
    take_up_to(at_ + 1);
  }

  // The end of a comment, also over several lines: to the preprocessor it is a blank.
  size_t end_of_block() const {
    const size_t end = text_.find("*/", at_ + 2);
    return end == std::string_view::npos ? text_.size() : end + 2;
  }

  // A string that is not closed ends with its line.
  size_t end_of_quoted() const {
    for (size_t at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == '\n') return at;
      if (text_[at] == text_[at_]) return at + 1;
      if (text_[at] == '\\' && peek(at + 1) != '\n') ++at;
    }
    return text_.size();
  }

  // A preprocessing number: `1'000`, `0x1p-3`, and also `1.R`, which begins no raw string.
  size_t end_of_number() const {
    size_t at = at_ + 1;
    while (true) {
      const bool sign = (peek(at) == '+' || peek(at) == '-') &&
                        std::string_view("eEpP").find(text_[at - 1]) != std::string_view::npos;
      const bool separator = peek(at) == '\'' && is_word(peek(at + 1));
      if (!is_word(peek(at)) && peek(at) != '.' && !sign && !separator) return at;
      ++at;
    }
  }

  void take_word() {
    size_t end = at_;
    while (is_word(peek(end))) ++end;
    if (peek(end) == '"' && begins_raw_string(text_.substr(at_, end - at_))) return take_raw_string(end);
    take_up_to(end);
  }

  // Text behind a string without a blank may be its suffix: `""R"("` is text to some.
  void take_raw_string(size_t quote) {
    const bool suffix = at_ > 0 && (text_[at_ - 1] == '"' || text_[at_ - 1] == '\'');
    const size_t end = end_of_raw_string(joined_.from[quote] + 1);
    if (suffix || end == std::string_view::npos) {
      add_flaw(out_, line_at(at_), kRaw);
      return take_up_to(quote);
    }
    const auto behind = std::lower_bound(joined_.from.begin(), joined_.from.end(), end);
    blank_up_to(static_cast<size_t>(behind - joined_.from.begin()));
  }

  // In the source, whose lines are not joined there; npos where there is none.
  size_t end_of_raw_string(size_t begin) const {
    constexpr size_t kMostDelimiter = 16;
    const size_t open = source_.find('(', begin);
    if (open == std::string_view::npos || open - begin > kMostDelimiter) return std::string_view::npos;
    const std::string_view delimiter = source_.substr(begin, open - begin);
    if (delimiter.find_first_of(" )\\\t\v\f\r\n") != std::string_view::npos) return std::string_view::npos;
    const std::string close = fmt::format("){}\"", delimiter);
    const size_t end = source_.find(close, open);
    return end == std::string_view::npos ? end : end + close.size();
  }

  void take_up_to(size_t end) {
    const std::string_view taken = text_.substr(at_, end - at_);
    if (line_number_ == 0 && !trimmed(taken).empty()) line_number_ = line_at(at_);
    line_ += taken;
    at_ = end;
  }

  void blank_up_to(size_t end) {
    line_ += ' ';
    at_ = end;
  }

  void end_line() {
    scan_line(line_, line_number_, out_);
    line_.clear();
    line_number_ = 0;
    ++at_;
  }

  // Asked in the order of the text.
  int line_at(size_t at) {
    for (; counted_ < joined_.from[at]; ++counted_) lines_ += source_[counted_] == '\n';
    return lines_;
  }

  std::string_view source_;
  Joined joined_;
  std::string_view text_;
  Includes& out_;
  size_t at_ = 0;
  std::string line_;     // as far as it has been read
  int line_number_ = 0;  // of its first character that is not blank
  size_t counted_ = 0;
  int lines_ = 1;
};

}  // namespace

Includes scan_includes(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  Includes out;
  Scanner(text, out).run();
  return out;
}

}  // namespace solstice::toolchain
