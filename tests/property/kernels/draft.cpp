#include "property/kernels/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace solstice::random_kernels {
namespace {

// Sizes at which vectors, warps and blocks end, those next to them, and primes.
const std::vector<int64_t> kExtents = {
    1,   2,   3,   4,    5,    6,    7,    8,    9,    12,   13,   15,   16,   17,   24,    31,    32,    33,   37,
    48,  63,  64,  65,   96,   100,  101,  127,  128,  129,  160,  192,  211,  255,  256,   257,   320,   384,  512,
    513, 600, 768, 1000, 1023, 1024, 1025, 1536, 2000, 2048, 3001, 4096, 5000, 8192, 10007, 16384, 32768, 65536};

}  // namespace

int64_t points_of(const Axes& axes) {
  int64_t out = 1;
  for (const Axis& axis : axes) out *= axis.extent;
  return out;
}

std::string names_of(const Axes& axes) {
  std::vector<std::string> out;
  for (const Axis& axis : axes) out.push_back(axis.name);
  return fmt::format("{}", fmt::join(out, ","));
}

std::string ranges_of(const Axes& axes) {
  std::vector<std::string> out;
  for (const Axis& axis : axes) out.push_back(fmt::format("{}<{}", axis.name, axis.extent));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::vector<int64_t> shape_of(const Axes& axes) {
  std::vector<int64_t> out;
  for (const Axis& axis : axes) out.push_back(axis.extent);
  return out;
}

int64_t Draft::extent(int64_t most) {
  const auto end = std::upper_bound(kExtents.begin(), kExtents.end(), std::max<int64_t>(most, 1));
  const auto count = static_cast<int>(end - kExtents.begin());
  // Half of them near the upper end, or programs would be small.
  const int from = random.percent(50) ? count / 2 : 0;
  return kExtents[static_cast<size_t>(from + random.below(count - from))];
}

Axes Draft::axes(int count, int64_t points, const std::string& letters) {
  Axes out;
  std::vector<int> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  out.resize(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const bool last = k + 1 == order.size();
    const int64_t most = last ? points : std::min(points, random.percent(30) ? points : int64_t{64});
    Axis& axis = out[static_cast<size_t>(order[k])];
    axis = {std::string(1, letters[static_cast<size_t>(order[k])]), random.percent(6) ? 1 : extent(most)};
    points = std::max<int64_t>(1, points / axis.extent);
  }
  return out;
}

// "" for row-major; else strides in another order, with gaps, or (where elements may overlap) 0.
std::string Draft::layout(const std::vector<int64_t>& shape, bool overlaps, bool turned) {
  if (shape.empty() || random.percent(60)) return "";
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (turned && !plain_layouts && random.percent(40)) random.shuffle(order);
  std::vector<int64_t> strides(shape.size());
  int64_t step = !plain_layouts && random.percent(15) ? random.of({2, 3, 4}) : 1;
  for (size_t k = order.size(); k-- > 0;) {
    const auto d = static_cast<size_t>(order[k]);
    if (overlaps && !plain_layouts && random.percent(8)) continue;
    strides[d] = step;
    step *= shape[d];
    if (random.percent(25)) step += random.of({1, 2, 3, 4, 8});
  }
  return fmt::format(" strides({})", fmt::join(strides, ", "));
}

// A copy or an extremum of an input or, where it runs at load, of a param: as large and as fine as that.
std::string Draft::filled(const std::vector<int64_t>& shape) {
  Filled out;
  out.once = random.percent(50);
  out.name = fresh("t");
  const std::string from = fresh("x");
  Axes over;
  for (const int64_t extent : shape) over.push_back({"i" + std::to_string(over.size()), extent});
  Axes turned = over;
  if (random.percent(50)) random.shuffle(turned);
  out.declarations = fmt::format("{} {} : {}[{}]{}\ntensor {} : f32[{}]{}\n", out.once ? "param" : "input", from,
                                 random.word({"f32", "bf16"}), fmt::join(shape_of(turned), ", "),
                                 out.once ? fmt::format(" \"{}\"", from) : "", out.name, fmt::join(shape, ", "),
                                 layout(shape, false, true));
  out.kernel = fmt::format("kernel {}_{}{} by map() {{\n  {}[{}] = max({}[{}], -2){}\n}}\n", name_, out.name,
                           out.once ? " once" : "", out.name, names_of(over), from, names_of(turned),
                           over.empty() ? "" : " for " + ranges_of(over));
  filled_.push_back(out);
  return out.name;
}

void Draft::finish() {
  bool once = false;
  for (const Filled& each : filled_) {
    if (body.find(each.name + "[") == std::string::npos) continue;
    head += each.declarations;
    before += each.kernel;
    once |= each.once;
  }
  if (once) declare("allow frozen");
}

std::string Draft::input(const std::vector<int64_t>& shape) {
  if (random.percent(4)) return filled(shape);
  const std::string name = fresh("x");
  const char* dtype = random.word(
      {"f32", "f32", "f32", "f32", "f32", "f32", "bf16", "bf16", "bf16", "f16", "f16", "f64", "f64", "e4m3", "e5m2"});
  const bool param = random.percent(20);
  declare(fmt::format("{} {} : {}[{}]{}{}", param ? "param" : "input", name, dtype, fmt::join(shape, ", "),
                      param ? fmt::format(" \"{}\"", name) : "", layout(shape, true, true)));
  known_.push_back({name, shape});
  return name;
}

std::string Draft::integers(const std::vector<int64_t>& shape) {
  const std::string name = fresh("g");
  declare(fmt::format("input {} : {}[{}]", name, random.word({"i32", "i64", "i32", "i64", "i16", "i8", "u8"}),
                      fmt::join(shape, ", ")));
  return name;
}

std::string Draft::mask(const std::vector<int64_t>& shape) {
  const std::string name = fresh("b");
  declare(fmt::format("input {} : bool[{}]{}", name, fmt::join(shape, ", "), layout(shape, true, true)));
  return name;
}

std::string Draft::output(const std::vector<int64_t>& shape, Term& value, bool turned) {
  const std::string name = fresh("y");
  const std::string dtype = random.word({"f32", "f32", "f32", "f32", "bf16", "f16", "f64"});
  if (dtype == "f16") value = clamped(value, kLargest);
  declare(fmt::format("output {} : {}[{}]{}", name, dtype, fmt::join(shape, ", "), layout(shape, false, turned)));
  return name;
}

void Draft::define(const std::string& target, const std::string& at, const std::string& value, const Axes& over) {
  body += fmt::format("  {}[{}] = {}{}\n", target, at, value, over.empty() ? "" : " for " + ranges_of(over));
}

Term Draft::combined(Term a, Term b) {
  switch (random.below(5)) {
    case 0:
      if (const Term out = product_of(a, b); fits(out)) return out;
      return extremum_of("max", a, b);
    case 1:
      return extremum_of(random.word({"max", "min"}), a, b);
    default:
      if (const Term out = sum_of(a, random.word({"+", "-"}), b); fits(out)) return out;
      return extremum_of("min", a, b);
  }
}

Term Draft::real(int depth, const Leaf& leaf, const Axes& over) {
  if (depth == 0 || random.percent(12)) return leaf();
  const auto part = [&] { return real(depth - 1, leaf, over); };
  Term out;
  switch (random.below(10)) {
    case 0:
    case 1: {
      const Term operand = part();
      out = applied(random, operand);
      if (!fits(out)) out = negated(operand);
      break;
    }
    case 2: {
      const Term operand = leaf();
      out = operand.exact ? stepped(random, operand) : applied(random, operand);
      break;
    }
    case 3:
      out = choice_of(condition(leaf, over), part(), part());
      break;
    case 4:
      out = combined(part(), number(random));
      break;
    case 5: {
      const Term operand = part();
      out = product_of(operand, operand);
      out.text = fmt::format("({}) ** 2", operand.text);
      break;
    }
    default:
      out = combined(part(), part());
  }
  return fits(out) ? out : leaf();
}

// Of values that are the same however they are computed.
std::string Draft::condition(const Leaf& leaf, const Axes& over) {
  const auto comparison = [&]() -> std::string {
    const char* sign = random.word({"<", "<=", ">", ">=", "==", "!="});
    const Term a = leaf();
    if (over.empty() || (a.exact && random.percent(40))) {
      const Term b = random.percent(50) ? number(random) : leaf();
      if (a.exact && b.exact) return fmt::format("{} {} {}", a.text, sign, b.text);
      return fmt::format("{} {} 1", integers({}) + "[]", sign);
    }
    if (random.percent(25)) {
      const Axis& axis = random.of(over);
      return fmt::format("{}[{}]", mask({axis.extent}), axis.name);
    }
    return fmt::format("{} {} {}", index(over), sign,
                       random.percent(50) ? index(over) : std::to_string(random.below(20)));
  };
  std::string out = comparison();
  if (random.percent(20)) out = fmt::format("{} {} {}", out, random.word({"and", "or"}), comparison());
  return random.percent(10) ? fmt::format("not ({})", out) : out;
}

std::string Draft::index(const Axes& over) {
  const auto one = [&] { return random.of(over).name; };
  switch (random.below(5)) {
    case 0:
      return fmt::format("{} + {}", one(), random.below(5));
    case 1:
      return fmt::format("{} - {}", one(), one());
    case 2:
      return fmt::format("{} // {}", one(), random.between(2, 9));
    case 3:
      return fmt::format("{} % {}", one(), random.between(2, 9));
    default:
      return one();
  }
}

}  // namespace solstice::random_kernels
