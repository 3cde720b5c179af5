#include "record/json_place.h"

#include <algorithm>
#include <charconv>

namespace solstice {
namespace {

// Walks a legal text: nothing is checked again, but no read goes beyond its end.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  // To the value at `path`, from the value that begins here. False: it has no such member.
  bool go(std::string_view path) {
    blanks();
    if (path.empty()) return at_ < text_.size();
    return path[0] == '.' ? enter_object(path.substr(1)) : enter_array(path.substr(1));
  }

  TextPlace place() {
    const size_t begin = at_;
    const std::string_view before = text_.substr(0, begin);
    const size_t newline = before.rfind('\n');
    TextPlace out;
    out.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    out.column = static_cast<int>(begin - (newline == std::string_view::npos ? 0 : newline + 1)) + 1;
    skip();
    out.width = static_cast<int>(std::min(at_, text_.find('\n', begin)) - begin);
    return out;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool take(char c) {
    blanks();
    const bool there = peek() == c;
    at_ += there;
    return there;
  }

  // What stands between the quotes, escapes as they are written.
  std::string_view quoted() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    at_ = std::min(end + 1, text_.size());
    return text_.substr(begin, end - begin);
  }

  void skip() {
    blanks();
    int depth = 0;
    do {
      const char c = peek();
      if (c == '"') {
        quoted();
      } else if (c == '{' || c == '[') {
        ++depth, ++at_;
      } else if (c == '}' || c == ']') {
        --depth, ++at_;
      } else if (c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else {
        at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size());
      }
    } while (depth > 0 && at_ < text_.size());
  }

  // A name may hold what separates names: whichever leads on is meant.
  bool enter_object(std::string_view path) {
    if (!take('{')) return false;
    while (!take('}') && at_ < text_.size()) {
      const std::string_view name = quoted();
      take(':');
      const std::string_view rest = path.substr(std::min(name.size(), path.size()));
      const size_t here = at_;
      if (path.starts_with(name) && (rest.empty() || rest[0] == '.' || rest[0] == '[') && go(rest)) return true;
      at_ = here;
      skip();
      take(',');
      blanks();
    }
    return false;
  }

  bool enter_array(std::string_view path) {
    size_t index = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), index);
    const auto digits = static_cast<size_t>(end - path.data());
    if (error != std::errc() || digits >= path.size() || !take('[')) return false;
    blanks();
    if (peek() == ']') return false;
    for (; index > 0; --index) {
      skip();
      if (!take(',')) return false;
    }
    return go(path.substr(digits + 1));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

TextPlace place_in_json(std::string_view text, std::string_view path) {
  Walk walk(text);
  return walk.go(path) ? walk.place() : TextPlace();
}

Error in_json_file(Error error, std::string_view text, const std::filesystem::path& file, std::string_view way_out,
                   int first_line) {
  if (error.member) {
    TextPlace place = place_in_json(text, *error.member);
    if (place.line == 0) place = place_in_json(text, "");  // it is missing there
    error.line = place.line, error.column = place.column, error.width = place.width;
  }
  error.file = file.string();
  if (error.line > 0) error.line += first_line - 1;
  if (error.hint.empty()) error.hint = way_out;
  return error;
}

}  // namespace solstice
