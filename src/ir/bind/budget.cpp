// Functions, definitions and views are expanded where they are used, so that a few lines could ask for more than any
// memory holds: what a program expands to is counted, and ends the check where it is too much.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

// An unrolled network of 1,000 equations has 6e4 nodes. Checking 2^21 of them takes seconds.
constexpr int64_t kMostNodes = int64_t{1} << 21;
constexpr int64_t kMostItems = int64_t{1} << 17;
// The walks over an expression recurse; the parser's own limit (lang/parser.h) is a quarter of this.
constexpr int kDeepestExpression = 2000;

constexpr const char* kHint =
    "they are expanded where they are used: give what repeats an index, and what is shared an equation of its own";

}  // namespace

bool Binder::too_large(const std::string& what, Span span, std::string hint) {
  if (!spent_) error("E023", calling_.empty() ? span : outermost_call_, what, std::move(hint));
  spent_ = true;
  return false;
}

bool Binder::afford_items(size_t count, Span span) {
  items_ += static_cast<int64_t>(count);
  if (items_ <= kMostItems) return true;
  return too_large(fmt::format("the program's definitions expand to more than {} items", kMostItems), span, kHint);
}

bool Binder::afford_nodes(int64_t count, Span span) {
  nodes_ += std::min(count, kMostNodes + 1);
  if (nodes_ <= kMostNodes) return true;
  return too_large(
      fmt::format("the program's functions, definitions and views expand to more than {} operations", kMostNodes), span,
      kHint);
}

bool Binder::afford_depth(int depth, Span span) {
  if (depth <= kDeepestExpression) return true;
  return too_large(fmt::format("an expression is nested more than {} deep where functions and views are expanded",
                               kDeepestExpression),
                   span, "give a part of it an equation of its own");
}

bool Binder::check_size(const std::string& name, const std::vector<int64_t>& shape, int64_t element_bytes, Span span) {
  constexpr int64_t kMostBytes = int64_t{1} << 62;
  int64_t bytes = element_bytes;
  bool fits = true;
  for (const int64_t extent : shape)
    fits = fits && !__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes);
  if (fits && bytes < kMostBytes) return true;
  error("E022", span, fmt::format("`{}` ({}) takes 2**62 bytes or more", name, fmt::join(shape, "x")),
        "its offsets would not fit 64 bits: make its extents smaller");
  return false;
}

}  // namespace solstice::ir
