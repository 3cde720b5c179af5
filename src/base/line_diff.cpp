#include "base/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solstice {
namespace {

constexpr size_t kMostPairs = 16'000'000;  // of lines: 64 MB of lengths

using TextLines = std::vector<std::string_view>;

struct Edit {
  char mark;  // ' ' kept, '-' removed, '+' added
  std::string_view line;
};

// With their newlines, so that a missing last one is a difference.
TextLines lines_of(std::string_view text) {
  TextLines out;
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

// Lengths of the longest common subsequences of a[i..] and b[j..], at [i * (b.size() + 1) + j].
std::vector<uint32_t> common_lengths(const TextLines& a, const TextLines& b) {
  const size_t row = b.size() + 1;
  std::vector<uint32_t> out((a.size() + 1) * row);
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      out[i * row + j] =
          a[i] == b[j] ? out[(i + 1) * row + j + 1] + 1 : std::max(out[(i + 1) * row + j], out[i * row + j + 1]);
    }
  }
  return out;
}

void append(char mark, const TextLines& lines, std::vector<Edit>& edits) {
  for (const std::string_view line : lines) edits.push_back({mark, line});
}

void edit_parts(const TextLines& a, const TextLines& b, std::vector<Edit>& edits) {
  if (b.empty() || a.size() > kMostPairs / b.size()) {
    append('-', a, edits);
    append('+', b, edits);
    return;
  }
  const std::vector<uint32_t> common = common_lengths(a, b);
  const size_t row = b.size() + 1;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.push_back({' ', a[i]});
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[(i + 1) * row + j] >= common[i * row + j + 1])) {
      edits.push_back({'-', a[i++]});
    } else {
      edits.push_back({'+', b[j++]});
    }
  }
}

std::vector<Edit> edits_of(const TextLines& a, const TextLines& b) {
  const auto [a_begin, b_begin] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto [a_end, b_end] =
      std::mismatch(a.rbegin(), std::make_reverse_iterator(a_begin), b.rbegin(), std::make_reverse_iterator(b_begin));
  std::vector<Edit> out;
  append(' ', TextLines(a.begin(), a_begin), out);
  edit_parts(TextLines(a_begin, a_end.base()), TextLines(b_begin, b_end.base()), out);
  append(' ', TextLines(a_end.base(), a.end()), out);
  return out;
}

// "12,3": where it begins and how long it is; "12" for one line; of none, the line before.
std::string range(size_t before, size_t count) {
  if (count == 1) return std::to_string(before + 1);
  return fmt::format("{},{}", count == 0 ? before : before + 1, count);
}

class Hunks {
 public:
  explicit Hunks(const std::vector<Edit>& edits) : edits_(edits) {}

  void add(size_t begin, size_t end) {
    while (at_ < begin) count(edits_[at_++]);
    const size_t old_before = old_, new_before = new_;
    std::string body;
    for (; at_ < end; ++at_) {
      count(edits_[at_]);
      body += edits_[at_].mark;
      body += edits_[at_].line;
      if (!edits_[at_].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    text += fmt::format("@@ -{} +{} @@\n{}", range(old_before, old_ - old_before), range(new_before, new_ - new_before),
                        body);
  }

  std::string text;

 private:
  void count(const Edit& edit) {
    old_ += edit.mark != '+';
    new_ += edit.mark != '-';
  }

  const std::vector<Edit>& edits_;
  size_t at_ = 0, old_ = 0, new_ = 0;  // edits, and lines of both texts, that lie behind
};

}  // namespace

std::string line_diff(std::string_view before, std::string_view after, int context) {
  const std::vector<Edit> edits = edits_of(lines_of(before), lines_of(after));
  const size_t around = static_cast<size_t>(std::max(context, 0));
  Hunks hunks(edits);
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].mark == ' ') continue;
    size_t last = i;  // change of this hunk: the next one is nearer than two contexts
    for (size_t j = i; j < edits.size() && j <= last + 2 * around + 1; ++j) {
      if (edits[j].mark != ' ') last = j;
    }
    hunks.add(i - std::min(i, around), std::min(edits.size(), last + around + 1));
    i = last;
  }
  return hunks.text;
}

}  // namespace solstice
