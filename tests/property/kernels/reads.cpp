// Reads in every style that the language has.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "property/kernels/draft.h"

namespace solstice::random_kernels {

std::pair<int64_t, std::string> Draft::place(const Axis& axis) {
  const auto& [i, e] = axis;
  const int64_t by = random.between(1, 3);
  switch (random.below(9)) {
    case 0:
      return {e + by + random.below(3), fmt::format("{}+{}", i, by)};
    case 1:
      return {2 * e + by, fmt::format("2*{}+{}", i, random.below(static_cast<int>(by) + 1))};
    case 2:
      return {e, fmt::format("{}-{}", e - 1, i)};
    case 3:
      return {(e - 1) / (by + 1) + 1, fmt::format("{}//{}", i, by + 1)};
    case 4:
      return {by + 1, fmt::format("{}%{}", i, by + 1)};
    case 5: {
      if (e > 5000) return {e, i};
      const int64_t values = extent(64);
      return {values, fmt::format("{}[{}]", integers({e}), i)};
    }
    default:
      return {e, i};
  }
}

Term Draft::padded_read(const Axes& over) {
  const Known& tensor = known_[static_cast<size_t>(random.below(static_cast<int>(known_.size())))];
  std::vector<std::string> at;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const Axis& axis = random.of(over);
    const int64_t by = random.between(0, 2);
    switch (random.below(4)) {
      case 0:
        at.push_back(fmt::format("{}-{}", axis.name, by));
        break;
      case 1:
        at.push_back(fmt::format("{}-{}", by + tensor.shape[d] / 2, axis.name));
        break;
      case 2:
        at.push_back(fmt::format("{}+{}", axis.name, by));
        break;
      default:
        at.push_back(axis.name);
    }
  }
  return stored(fmt::format("{}[{} else {}]", tensor.name, fmt::join(at, ", "), random.word({"0", "0", "1", "-0.5"})));
}

Term Draft::read(const Axes& over) {
  const bool known = !known_.empty() && !over.empty() && random.percent(25);
  if (known && !known_.back().shape.empty()) {
    if (const Term out = padded_read(over); out.text.find("[ else") == std::string::npos) return out;
  }
  Axes chosen;
  const int keep = random.of({100, 100, 100, 60, 30});
  for (const Axis& axis : over) {
    if (random.percent(keep)) chosen.push_back(axis);
  }
  if (random.percent(25)) random.shuffle(chosen);
  const bool plain = random.percent(60);
  std::vector<int64_t> shape;
  std::vector<std::string> at;
  int64_t elements = 1;
  for (const Axis& axis : chosen) {
    auto [e, text] = plain ? std::pair{axis.extent, axis.name} : place(axis);
    if (elements * e > 4 * std::max<int64_t>(sizes.points, 1000)) continue;
    elements *= e;
    shape.push_back(e);
    at.push_back(text);
  }
  const std::string name = input(shape);
  return stored(fmt::format("{}[{}]", name, fmt::join(at, ", ")));
}

Whole Draft::whole(const Axes& over) {
  Whole out;
  out.order.resize(over.size());
  std::iota(out.order.begin(), out.order.end(), size_t{0});
  if (!plain_layouts && random.percent(15)) random.shuffle(out.order);
  if (random.percent(12)) out.offset = random.between(1, 4);
  if (over.size() > 1 && random.percent(12)) out.merged = random.below(static_cast<int>(over.size()) - 1);
  if (out.merged >= 0) std::erase(out.order, static_cast<size_t>(out.merged) + 1);
  std::vector<int64_t> shape;
  for (const size_t k : out.order)
    shape.push_back(over[k].extent * (static_cast<int>(k) == out.merged ? over[k + 1].extent : 1));
  if (!shape.empty()) shape.back() += out.offset;
  out.tensor = input(shape);
  return out;
}

Term Draft::read(const Whole& tensor, const Axes& over) const {
  std::vector<std::string> at;
  for (const size_t k : tensor.order) {
    const bool merged = static_cast<int>(k) == tensor.merged;
    at.push_back(merged ? fmt::format("{}*{}+{}", over[k + 1].extent, over[k].name, over[k + 1].name) : over[k].name);
  }
  if (tensor.offset > 0 && !at.empty()) at.back() += fmt::format("+{}", tensor.offset);
  return stored(fmt::format("{}[{}]", tensor.tensor, fmt::join(at, ", ")));
}

Term Draft::window(const Axes& over) {
  struct Kind {
    const char* reducer;
    const char* otherwise;
    bool exact;
  };
  const Kind kind =
      random.of({Kind{"sum", "0", true}, Kind{"max", "-inf", true}, Kind{"min", "4", true}, Kind{"mean", "0", false},
                 Kind{"prod", "1", true}, Kind{"var", "0", false}, Kind{"logsumexp", "-1", false}});
  if (exact && !kind.exact) return read(over);
  const Axis axis = random.of(over);
  const int64_t size = random.of({1, 2, 3, 3, 5, 7});
  if (std::string_view(kind.reducer) == "prod" && size > 3) return read(over);
  const int64_t stride = random.of({1, 1, 2}), dilation = random.of({1, 1, 2});
  Axes others;
  std::vector<int64_t> shape;
  std::vector<std::string> at;
  for (const Axis& each : over) {
    const bool moves = each.name == axis.name;
    if (!moves && random.percent(40)) continue;
    shape.push_back(moves ? std::max<int64_t>(1, each.extent * stride - random.below(2)) : each.extent);
    at.push_back(moves ? fmt::format("{}*{}+{}*r-{}", stride, each.name, dilation, size / 2) : each.name);
  }
  const std::string name = input(shape);
  // Every window holds an element: the one in its middle, or the one before where the tensor ends early.
  const std::string where =
      random.percent(20) && std::string_view(kind.reducer) == "sum" ? fmt::format(" where r != {}", size / 2) : "";
  Term out = stored(
      fmt::format("{}[r<{}{}]({}[{} else {}])", kind.reducer, size, where, name, fmt::join(at, ", "), kind.otherwise));
  const std::string_view reducer = kind.reducer;
  if (reducer == "sum") return repeated(out, size);
  if (reducer == "prod")
    return {out.text, exact, 2 * static_cast<int>(size), exact ? static_cast<int>(size) : kAnyStep};
  if (reducer == "max" || reducer == "min") return clamped({out.text, true, 3, out.below}, 2);
  out.exact = false;
  out.above = 4;
  return out;
}

}  // namespace solstice::random_kernels
