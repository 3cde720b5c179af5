#include "import/draft/value_range.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "import/shape/index.h"
#include "ir/interpret/rounding.h"

namespace solstice::importer {
namespace {

using Bounds = std::optional<ValueBounds>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ValueBounds kTruth{0, 1}, kOpen{-kInfinity, kInfinity};

ValueBounds join(const ValueBounds& a, const ValueBounds& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Of the four products of ends; 0 times an open end is 0.
ValueBounds product(const ValueBounds& a, const ValueBounds& b) {
  ValueBounds out{kInfinity, -kInfinity};
  for (const double x : {a.low, a.high}) {
    for (const double y : {b.low, b.high}) {
      const double p = x == 0 || y == 0 ? 0 : x * y;
      out = join(out, {p, p});
    }
  }
  return out;
}

class BoundSearch {
 public:
  // With `formats` the format of an integer tensor bounds its values, reals have bounds too, and what nothing bounds is
  // open.
  BoundSearch(const Draft& draft, bool formats) : draft_(draft), formats_(formats), known_(draft.bounds) {
    if (known_.items > draft.items.size()) known_ = {};  // items were taken back
    for (; known_.items < draft.items.size(); ++known_.items) {
      const DraftItem& item = draft.items[known_.items];
      if (item.is_equation()) known_.writers[item.equation.tensor].push_back(known_.items);
    }
  }

  Bounds of(const TermRef& term) {
    if (is_truth(*term)) return kTruth;
    const Bounds found = known(term);
    return found || !formats_ ? found : kOpen;
  }

 private:
  Bounds known(const TermRef& term) {
    switch (term->kind) {
      case TermKind::kLiteral:
        return literal(*term);
      case TermKind::kIndex:
        return index(term->indices[0]);
      case TermKind::kRead:
        return read(*term);
      case TermKind::kApply:
        return apply(*term);
      case TermKind::kBinary:
        return binary(*term);
      case TermKind::kPrefix:
        return negated(of(term->args[0]));
      case TermKind::kReduce:
        return reduction(*term);
    }
    return std::nullopt;
  }

  Bounds literal(const Term& term) const {
    const char* legal = formats_ ? "0123456789.e-" : "0123456789";
    if (term.text.find_first_not_of(legal) != std::string::npos) return std::nullopt;
    const double value = std::strtod(term.text.c_str(), nullptr);
    return ValueBounds{value, value};
  }

  Bounds index(const Index& at) {
    const auto gathers = [](const TermRef&) { return true; };
    if (any_read(at, gathers)) return std::nullopt;
    const IndexRange range = range_of(at);
    return ValueBounds{static_cast<double>(range.low), static_cast<double>(range.high)};
  }

  static Bounds negated(const Bounds& a) {
    if (!a) return std::nullopt;
    return ValueBounds{-a->high, -a->low};
  }

  Bounds tensor(int id) {
    std::map<int, KnownBounds::Found>& found = formats_ ? known_.by_format : known_.found;
    const std::vector<size_t>& writers = known_.writers[id];
    const auto known = found.find(id);
    if (known != found.end() && known->second.pieces == writers.size()) return known->second.bounds;
    const DraftTensor& of_id = draft_.tensors[static_cast<size_t>(id)];
    const Bounds given = bounds_of_format(of_id.dtype);
    found[id] = {writers.size(), given};  // for pieces that read the tensor itself
    const bool computed = of_id.kind == DraftKind::kLocal || of_id.kind == DraftKind::kTensor;
    if (!computed || of_id.dtype == DType::kBool || (is_float(of_id.dtype) && !formats_)) return given;
    Bounds out;
    for (const size_t writer : writers) {
      const Bounds piece = of(draft_.items[writer].equation.rhs);
      if (!piece) return given;
      out = out ? join(*out, *piece) : *piece;
    }
    if (formats_ && !out) return given;  // of a call, or of PyTorch
    return found[id].bounds = out;
  }

  Bounds bounds_of_format(DType dtype) const {
    if (dtype == DType::kBool) return kTruth;
    return formats_ && is_integer(dtype) ? Bounds(range_of_format(dtype)) : std::nullopt;
  }

  static ValueBounds range_of_format(DType dtype) {
    const ir::IntegerRange range = ir::integer_range(dtype);
    return {range.low, range.high};
  }

  Bounds read(const Term& term) {
    const Bounds own = tensor(term.tensor);
    if (!own || !term.has_else()) return own;
    return joined(own, of(term.args[0]));
  }

  static Bounds joined(const Bounds& a, const Bounds& b) {
    if (!a || !b) return std::nullopt;
    return join(*a, *b);
  }

  Bounds binary(const Term& term) {
    const Bounds a = of(term.args[0]), b = of(term.args[1]);
    if (!a || !b) return std::nullopt;
    if (term.text == "+") return ValueBounds{a->low + b->low, a->high + b->high};
    if (term.text == "-") return ValueBounds{a->low - b->high, a->high - b->low};
    if (term.text == "*") return product(*a, *b);
    const bool whole = b->low == b->high && b->low > 0;
    if (term.text == "//" && whole) return ValueBounds{std::floor(a->low / b->low), std::floor(a->high / b->low)};
    if (term.text == "%" && whole) return ValueBounds{0, b->low - 1};
    if (term.text == "//" || term.text == "%" || term.text == "**") return kOpen;
    return std::nullopt;
  }

  Bounds apply(const Term& term) {
    if (term.text == "select") return joined(of(term.args[1]), of(term.args[2]));
    if (term.text == "clamp" && formats_) return clamped(term);
    const Bounds first = of(term.args[0]);
    if (!first) return std::nullopt;
    if (term.text == "min" || term.text == "max") return extremum(term, *first, term.text == "min");
    if (term.text == "abs") return ValueBounds{0, std::max(std::abs(first->low), std::abs(first->high))};
    if (term.text == "sign") return ValueBounds{-1, 1};
    const auto dtype = dtype_from_name(term.text);
    if (term.text == "bit_and") return kOpen;
    const bool whole = term.text == "round" || term.text == "floor" || term.text == "ceil" || term.text == "trunc";
    if (whole && formats_) return ValueBounds{std::floor(first->low), std::ceil(first->high)};
    if (dtype && is_float(*dtype)) return formats_ ? rounded_to(*dtype, *first) : std::nullopt;
    if (!dtype) return std::nullopt;
    const ValueBounds range = range_of_format(*dtype);
    return ValueBounds{std::max(first->low, range.low), std::min(first->high, range.high)};
  }

  // Rounding is monotone; beyond a format without infinities it gives NaN, which no bound holds.
  static Bounds rounded_to(DType format, const ValueBounds& value) {
    const ValueBounds out{ir::rounded(format, value.low), ir::rounded(format, value.high)};
    return std::isnan(out.low) || std::isnan(out.high) ? kOpen : out;
  }

  // Where the limits cross, the upper one counts.
  Bounds clamped(const Term& term) {
    const Bounds low = of(term.args[1]), high = of(term.args[2]);
    return ValueBounds{std::min(low->low, high->low), high->high};
  }

  Bounds extremum(const Term& term, ValueBounds out, bool least) {
    for (size_t i = 1; i < term.args.size(); ++i) {
      const Bounds next = of(term.args[i]);
      if (!next) return std::nullopt;
      out.low = least ? std::min(out.low, next->low) : std::max(out.low, next->low);
      out.high = least ? std::min(out.high, next->high) : std::max(out.high, next->high);
    }
    return out;
  }

  Bounds reduction(const Term& term) {
    double count = 1;
    for (const Loop& binder : term.binders) count *= static_cast<double>(binder.extent);
    if (term.text.rfind("arg", 0) == 0) return ValueBounds{0, count - 1};
    const Bounds element = of(term.args[0]);
    if (!element) return std::nullopt;
    if (term.text == "max" || term.text == "min") return element;
    if (term.text != "sum") return term.text == "prod" ? Bounds(kOpen) : std::nullopt;
    const ValueBounds whole = product(*element, {count, count});
    const bool some = !is_ranking(term) && term.args.size() > 1;  // a condition leaves elements out
    return some ? join(whole, {0, 0}) : whole;
  }

  const Draft& draft_;
  const bool formats_;
  KnownBounds& known_;
};

}  // namespace

std::optional<ValueBounds> bounds_of(const Draft& draft, const TermRef& term) {
  return BoundSearch(draft, false).of(term);
}

bool fits(const Draft& draft, const TermRef& term, DType format) {
  const Bounds found = BoundSearch(draft, true).of(term);
  const ir::IntegerRange range = ir::integer_range(format);
  return found && range.low <= std::trunc(found->low) && std::trunc(found->high) <= range.high;
}

bool is_short_integer(DType format) { return format == DType::kU8 || format == DType::kI8 || format == DType::kI16; }

TermRef wrapped_to(const Draft& draft, const TermRef& term, DType format) {
  if (!is_short_integer(format) || fits(draft, term, format)) return term;
  const ir::IntegerRange range = ir::integer_range(format);
  const TermRef count = integer(static_cast<int64_t>(range.high - range.low) + 1);
  if (range.low == 0) return binary("%", term, count);
  const TermRef half = integer(static_cast<int64_t>(-range.low));
  return binary("%", term + half, count) - half;
}

}  // namespace solstice::importer
