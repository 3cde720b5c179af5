#include "codesearch/chunks.h"

#include <algorithm>

#include "codesearch/lines.h"
#include "codesearch/titles.h"

namespace solstice::codesearch {
namespace {

constexpr int kShort = 4;         // lines of a declaration that shares a chunk with its neighbours
constexpr int kSharedLines = 24;  // of such a chunk
constexpr int kStatements = 60;   // of one that holds statements of a long function

bool is_notice(std::string_view text) {
  return text.find("opyright") != std::string_view::npos || text.find("Redistribution") != std::string_view::npos ||
         text.find("SPDX-License") != std::string_view::npos;
}

// Lines [first, last), from 0.
struct Range {
  int first = 0;
  int last = 0;
  int size() const { return last - first; }
};

class CppCutter {
 public:
  explicit CppCutter(std::string_view text) : lines_(scan_lines(text)) {}

  ChunkedFile cut() {
    const int begin = after_notice();
    take_brief(begin);
    cut_range({begin, static_cast<int>(lines_.size())}, 0, "", false);
    return std::move(out_);
  }

 private:
  const Line& at(int line) const { return lines_[static_cast<size_t>(line)]; }

  // The first line that belongs to no notice of copyright.
  int after_notice() const {
    int end = 0;
    bool notice = false;
    const int lines = static_cast<int>(lines_.size());
    for (int i = 0; i < lines && (at(i).comment || at(i).blank); ++i) {
      notice = notice || is_notice(at(i).text);
      const bool closes =
          at(i).text.find("*/") != std::string_view::npos || (at(i).comment && (i + 1 == lines || !at(i + 1).comment));
      if (!closes) continue;
      if (!notice) break;
      end = i + 1;
      notice = false;
    }
    return end;
  }

  // The first comment, where it stands before any code.
  void take_brief(int begin) {
    for (int i = begin; i < static_cast<int>(lines_.size()); ++i) {
      const Line& line = at(i);
      if (line.comment) out_.brief += std::string(line.text) + "\n";
      if (!line.comment && !out_.brief.empty()) return;
      if (!line.comment && !line.blank && !line.directive) return;
    }
  }

  // The declarations of a range whose braces are `depth` deep.
  std::vector<Range> units(Range range, int depth) const {
    std::vector<Range> out;
    int first = range.first;
    for (int i = range.first; i < range.last; ++i) {
      if (first == i && at(i).blank) {
        ++first;
        continue;
      }
      if (!at(i).ends || at(i).depth_after > depth) continue;
      out.push_back({first, i + 1});
      first = i + 1;
    }
    if (first < range.last) out.push_back({first, range.last});
    return out;
  }

  std::string code_of(Range range) const {
    std::string code;
    for (int i = range.first; i < range.last; ++i) {
      if (!at(i).comment && !at(i).blank) code += at(i).code + "\n";
    }
    return code;
  }

  // A comment before it says that it stands by itself.
  bool is_short(Range unit) const { return unit.size() <= kShort && !at(unit.first).comment; }

  void cut_range(Range range, int depth, const std::string& outer, bool statements) {
    Range shared;  // of short neighbours
    const int most = statements ? kStatements : kSharedLines;
    const auto flush = [&] {
      if (shared.size() > 0) statements ? add_titled(shared, outer) : add(shared, outer);
      shared = {};
    };
    for (const Range& unit : units(range, depth)) {
      const bool joins = statements ? unit.size() <= kStatements : is_short(unit);
      if (!joins) {
        flush();
        cut_unit(unit, depth, outer, statements);
        continue;
      }
      if (shared.size() > 0 && unit.last - shared.first > most) flush();
      if (shared.size() == 0) shared.first = unit.first;
      shared.last = unit.last;
    }
    flush();
  }

  // A statement has no title: what it calls is declared elsewhere.
  void cut_unit(Range unit, int depth, const std::string& outer, bool statements) {
    if (unit.size() <= kMostLines) return statements ? add_titled(unit, outer) : add(unit, outer);
    int inside = unit.first;
    while (inside < unit.last && at(inside).depth_after <= depth) ++inside;
    const std::string code = code_of({unit.first, std::min(inside + 1, unit.last)});
    const std::string title = statements ? outer : joined(outer, title_of(code));
    if (inside + 1 >= unit.last) return cut_evenly(unit, title);  // a table, a macro
    add_head({unit.first, inside + 1}, title);
    cut_range({inside + 1, unit.last}, depth + 1, title, statements || !declares_type(code));
  }

  // A long comment before a long declaration is a chunk of its own length.
  void add_head(Range head, const std::string& title) {
    if (head.size() <= kMostLines) return add_titled(head, title);
    cut_evenly(head, title);
  }

  void cut_evenly(Range range, const std::string& title) {
    for (int first = range.first; first < range.last; first += kMostLines) {
      add_titled({first, std::min(first + kMostLines, range.last)}, title);
    }
  }

  static std::string joined(const std::string& outer, const std::string& title) {
    if (outer.empty()) return title;
    return title.empty() ? outer : outer + "::" + title;
  }

  void add(Range range, const std::string& outer) { add_titled(range, joined(outer, title_of(code_of(range)))); }

  void add_titled(Range range, const std::string& title) {
    while (range.size() > 0 && at(range.last - 1).blank) --range.last;
    if (range.size() > kMostLines) return cut_evenly(range, title);
    Chunk chunk{.first = range.first + 1, .last = range.last, .title = title, .notes = "", .code = ""};
    bool says = false;  // more than braces
    for (int i = range.first; i < range.last; ++i) {
      std::string& part = at(i).comment ? chunk.notes : chunk.code;
      part += std::string(at(i).text) + "\n";
      says = says || std::any_of(at(i).text.begin(), at(i).text.end(), [](unsigned char c) { return std::isalpha(c); });
    }
    if (says) out_.chunks.push_back(std::move(chunk));
  }

  std::vector<Line> lines_;
  ChunkedFile out_;
};

// Text whose chunks begin at lines that `begins` names; long ones are cut.
template <typename Begins, typename Title>
ChunkedFile cut_at(std::string_view text, Begins begins, Title title) {
  const std::vector<std::string_view> lines = split_lines(text);
  ChunkedFile out;
  Chunk chunk;
  const auto flush = [&](size_t last) {
    chunk.last = static_cast<int>(last);
    if (chunk.code.find_first_not_of(" \t\r\n") != std::string::npos && !is_notice(chunk.code))
      out.chunks.push_back(chunk);
    chunk.code.clear();
  };
  chunk.first = 1;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool starts = begins(lines, i);
    if (i > 0 && (starts || static_cast<int>(i) - chunk.first + 1 >= kMostLines)) {
      flush(i);
      chunk.first = static_cast<int>(i) + 1;
    }
    if (starts) chunk.title = title(lines[i]);
    chunk.code += std::string(lines[i]) + "\n";
  }
  flush(lines.size());
  return out;
}

std::string first_words(std::string_view line) {
  const size_t first = line.find_first_not_of("# \t");
  if (first == std::string_view::npos) return "";
  return std::string(line.substr(first, line.find_first_of(":({", first) - first));
}

ChunkedFile cut_python(std::string_view text) {
  const auto begins = [](const auto& lines, size_t i) {
    const bool decorated = i > 0 && lines[i - 1].starts_with("@");
    return !decorated && (lines[i].starts_with("def ") || lines[i].starts_with("class ") || lines[i].starts_with("@"));
  };
  return cut_at(text, begins, first_words);
}

ChunkedFile cut_markdown(std::string_view text) {
  return cut_at(
      text, [](const auto& lines, size_t i) { return lines[i].starts_with("#"); }, first_words);
}

ChunkedFile cut_text(std::string_view text) {
  const auto begins = [](const auto& lines, size_t i) { return i > 0 && lines[i - 1].empty() && !lines[i].empty(); };
  ChunkedFile whole = cut_at(
      text, [](const auto&, size_t i) { return i == 0; }, first_words);
  return whole.chunks.size() <= 1 ? whole : cut_at(text, begins, first_words);
}

}  // namespace

Language language_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const size_t dot = name.rfind('.');
  const std::string_view ending = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  if (ending == "py") return Language::kPython;
  if (ending == "md") return Language::kMarkdown;
  if (ending == "ucut") return Language::kText;
  return Language::kCpp;
}

ChunkedFile cut_file(std::string_view text, Language language) {
  switch (language) {
    case Language::kPython:
      return cut_python(text);
    case Language::kMarkdown:
      return cut_markdown(text);
    case Language::kText:
      return cut_text(text);
    case Language::kCpp:
      break;
  }
  return CppCutter(text).cut();
}

}  // namespace solstice::codesearch
