#include "agents/anchors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace solstice::agents {
namespace {

constexpr std::string_view kBeginMark = "<<<IMPROVE BEGIN: ", kEndMark = "<<<IMPROVE END>>>", kBeginEnd = ">>>",
                           kRawQuotes = "\"\"\"";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// A line with its line break, and whether it stands in a `source`.
struct Line {
  std::string_view text;
  bool in_source = false;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  bool in_source = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    const std::string_view bare = trimmed(line);
    const bool closes = in_source && bare == kRawQuotes;
    out.push_back({line, in_source && !closes});
    if (closes)
      in_source = false;
    else if (!in_source)
      in_source = bare.starts_with("source ") && bare.ends_with(kRawQuotes);
    text.remove_prefix(line.size());
  }
  return out;
}

// Also one that is not quite as it should be: other case, other blanks, half of it.
bool looks_like_a_mark(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c != ' ' && c != '\t') text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  constexpr std::string_view kPieces[] = {"<<IMPROVE", "IMPROVEBEGIN:", "IMPROVEEND>>"};
  return std::any_of(std::begin(kPieces), std::end(kPieces),
                     [&](std::string_view piece) { return text.find(piece) != text.npos; });
}

struct Mark {
  bool begins = false;
  std::string what;
};

Error bad_mark(size_t number, std::string_view line, const char* why) {
  return fail(Code::bad_argument,
              fmt::format("line {}, `{}`: {}; the markers are `# {}what{}` and `# {}`, each alone on its line, with "
                          "`//` for `#` in a `source`",
                          number, trimmed(line), why, kBeginMark, kBeginEnd, kEndMark));
}

Result<Mark> mark_of(const Line& line, size_t number) {
  const std::string_view comment = line.in_source ? "//" : "#", other = line.in_source ? "#" : "//";
  std::string_view text = trimmed(line.text);
  if (text.starts_with(other))
    return bad_mark(number, line.text,
                    line.in_source ? "a comment in a `source` begins with `//`"
                                   : "a comment outside of a `source` begins with `#`");
  if (!text.starts_with(comment)) return bad_mark(number, line.text, "a marker is a comment, alone on its line");
  text = trimmed(text.substr(comment.size()));
  if (text == kEndMark) return Mark{};
  if (!text.starts_with(kBeginMark) || !text.ends_with(kBeginEnd) || text.size() < kBeginMark.size() + kBeginEnd.size())
    return bad_mark(number, line.text, "that is no marker");
  text.remove_prefix(kBeginMark.size());
  text.remove_suffix(kBeginEnd.size());
  text = trimmed(text);
  if (text.empty()) return bad_mark(number, line.text, "it does not say what is to be improved");
  if (text.find("<<<") != text.npos || text.find(kBeginEnd) != text.npos)
    return bad_mark(number, line.text, "that is no marker");
  return Mark{true, std::string(text)};
}

Error unbalanced(const char* why) {
  return fail(Code::bad_argument,
              fmt::format("{}: mark one block, from `{}what{}` to `{}`", why, kBeginMark, kBeginEnd, kEndMark));
}

// "line 4 is `a`, and was `b`".
std::string first_difference(const std::string& base, const std::string& now) {
  const std::vector<Line> before = lines_of(base), after = lines_of(now);
  size_t i = 0;
  while (i < before.size() && i < after.size() && before[i].text == after[i].text) ++i;
  const auto at = [&](const std::vector<Line>& lines) {
    return i < lines.size() ? fmt::format("`{}`", trimmed(lines[i].text)) : std::string("missing");
  };
  return fmt::format("line {} without the markers is {}, and was {}", i + 1, at(after), at(before));
}

}  // namespace

Result<Block> block_of(const std::string& marked) {
  Block out;
  enum { kBefore, kInside, kAfter } place = kBefore;
  bool began_in_source = false;
  size_t number = 0;
  for (const Line& line : lines_of(marked)) {
    ++number;
    if (!looks_like_a_mark(line.text)) {
      (place == kBefore ? out.before : place == kInside ? out.body : out.after) += line.text;
      continue;
    }
    SOLSTICE_TRY(Mark mark, mark_of(line, number));
    if (mark.begins && place == kInside) return unbalanced("a block begins in another");
    if (place == kAfter) return unbalanced("there is more than one block");
    if (!mark.begins && place == kBefore) return unbalanced("a block ends that did not begin");
    if (mark.begins) out.what = std::move(mark.what), began_in_source = line.in_source;
    if (!mark.begins && line.in_source != began_in_source)
      return unbalanced("the block begins in a `source` and ends outside of it, or the reverse");
    place = mark.begins ? kInside : kAfter;
  }
  if (place == kBefore) return unbalanced("no block is marked");
  if (place == kInside) return unbalanced("a block does not end");
  return out;
}

Result<Block> marked_in(const std::string& base, const std::string& marked) {
  SOLSTICE_TRY(Block out, block_of(marked));
  // A last line without its end gets one where a marker follows it.
  if (!base.ends_with('\n') && out.after.empty() && out.before + out.body == base + "\n")
    (out.body.empty() ? out.before : out.body).pop_back();
  const std::string now = out.before + out.body + out.after;
  if (now == base) return out;
  return fail(Code::bad_argument, "a plan marks a block and changes nothing: " + first_difference(base, now));
}

Result<std::string> spliced(const Block& block, const std::string& body) {
  const std::vector<Line> before = lines_of(block.before);
  const auto first = std::find_if(before.begin(), before.end(), [](const Line& l) { return !trimmed(l.text).empty(); });
  for (const Line& line : lines_of(body)) {
    if (looks_like_a_mark(line.text))
      return fail(Code::bad_argument,
                  fmt::format("`{}`: the body has no markers; give what stands between them, without them",
                              trimmed(line.text)));
    if (first != before.end() && trimmed(line.text) == trimmed(first->text))
      return fail(Code::bad_argument,
                  fmt::format("`{}`: the body repeats what stands before the block; give what stands between the "
                              "markers, and nothing else",
                              trimmed(line.text)));
  }
  std::string out = block.before;
  if (!out.empty() && !out.ends_with('\n') && !body.empty()) out += '\n';
  out += body;
  if (!body.empty() && !body.ends_with('\n') && !block.after.empty()) out += '\n';
  return out + block.after;
}

}  // namespace solstice::agents
