#include "families/lined.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families {
namespace {

std::string name_of(const SourceLine& line, const std::string& file) {
  const std::string results = line.results > 0 ? fmt::format(">{}", line.results) : "";
  return fmt::format("{}{}|{}|{}", line.equation, results, line.part, file);
}

}  // namespace

std::string file_of(const Source& source) { return source.file.empty() ? source.name + ".cu" : source.file; }

std::string lined_text(const Source& source) {
  if (!source.file.empty()) return source.code;
  const std::string file = file_of(source);
  std::string out, last;
  size_t number = 0;
  for (std::string_view rest = source.code; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string name = name_of(number < source.lines.size() ? source.lines[number] : SourceLine(), file);
    ++number;
    if (name != last) out += fmt::format("#line {} \"{}\"\n", number, name);
    last = name;
    out += rest.substr(0, end);
    rest.remove_prefix(end);
  }
  return out;
}

}  // namespace solstice::families
