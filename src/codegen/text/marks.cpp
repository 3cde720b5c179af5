#include "codegen/text/marks.h"

#include <fmt/format.h>

#include <charconv>

namespace solstice::codegen {
namespace {

constexpr std::string_view kBegin = "/*@", kEnd = "*/";

// "3 store", "3", " store".
void read_mark(std::string_view text, LineMark& out) {
  const size_t blank = std::min(text.find(' '), text.size());
  int equation = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + blank, equation);
  if (error == std::errc() && end == text.data() + blank && out.equation < 0) out.equation = equation;
  if (blank < text.size() && out.part.empty()) out.part = text.substr(blank + 1);
}

LineMark take_marks_of_line(std::string_view line, std::string& code) {
  LineMark out;
  for (size_t at = line.find(kBegin); at != std::string_view::npos; at = line.find(kBegin)) {
    const size_t end = line.find(kEnd, at);
    if (end == std::string_view::npos) break;
    read_mark(line.substr(at + kBegin.size(), end - at - kBegin.size()), out);
    code += line.substr(0, at);
    line.remove_prefix(end + kEnd.size());
  }
  code += line;
  return out;
}

}  // namespace

std::string mark(int equation, std::string_view part) {
  if (equation < 0 && part.empty()) return "";
  const std::string number = equation < 0 ? "" : std::to_string(equation);
  return fmt::format("{}{}{}{}{}", kBegin, number, part.empty() ? "" : " ", part, kEnd);
}

std::string marked(const std::string& text, int equation, std::string_view part) {
  const std::string own = mark(equation, part);
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end + 1);
    if (line.find(kBegin) == std::string_view::npos) out += own;
    out += line;
    rest.remove_prefix(line.size());
  }
  return out;
}

Unmarked unmark(std::string_view text) {
  Unmarked out;
  out.code.reserve(text.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    out.lines.push_back(take_marks_of_line(text.substr(0, end + 1), out.code));
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace solstice::codegen
