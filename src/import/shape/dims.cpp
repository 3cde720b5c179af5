#include "import/shape/dims.h"

#include <algorithm>

#include "import/graph/damage.h"

namespace solstice::importer {

Size::Size(int64_t constant) : value_(constant) {
  if (constant != 0) terms_[{}] = constant;
}

Size::Size(DimId dim, int64_t value) : value_(value) { terms_[{dim}] = 1; }

bool Size::is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()); }

void Size::add(const std::vector<DimId>& product, int64_t coefficient) {
  int64_t& slot = terms_[product];
  slot = sum_of(slot, coefficient);
  if (slot == 0) terms_.erase(product);
}

Size Size::operator+(const Size& other) const {
  Size out = *this;
  for (const auto& [product, coefficient] : other.terms_) out.add(product, coefficient);
  out.value_ = sum_of(value_, other.value_);
  return out;
}

Size Size::operator-(const Size& other) const { return *this + other * Size(-1); }

Size Size::operator*(const Size& other) const {
  Size out;
  for (const auto& [a, x] : terms_) {
    for (const auto& [b, y] : other.terms_) {
      std::vector<DimId> product = a;
      product.insert(product.end(), b.begin(), b.end());
      std::sort(product.begin(), product.end());
      out.add(product, product_of(x, y));
    }
  }
  out.value_ = product_of(value_, other.value_);
  return out;
}

Size Size::canonical(const Dims& dims) const {
  Size out;
  for (const auto& [product, coefficient] : terms_) {
    std::vector<DimId> named;
    int64_t factor = coefficient;
    for (const DimId id : product) {
      if (dims.is_literal(id)) {
        factor = product_of(factor, dims.value(id));
      } else {
        named.push_back(dims.find(id));
      }
    }
    std::sort(named.begin(), named.end());
    out.add(named, factor);
  }
  out.value_ = value_;
  return out;
}

namespace {

// a without the factors of b; nothing if b is not among them.
std::optional<std::vector<DimId>> without(std::vector<DimId> a, const std::vector<DimId>& b) {
  for (const DimId id : b) {
    const auto found = std::find(a.begin(), a.end(), id);
    if (found == a.end()) return std::nullopt;
    a.erase(found);
  }
  return a;
}

std::optional<Size> divide_symbolically(const Size& a, const Size& b, const Dims& dims) {
  if (b.terms().size() != 1) return std::nullopt;
  const auto& [divisor, factor] = *b.terms().begin();
  Size out;
  for (const auto& [product, coefficient] : a.terms()) {
    const auto rest = without(product, divisor);
    if (!rest || coefficient % factor != 0) return std::nullopt;
    Size term(coefficient / factor);
    for (const DimId id : *rest) term = term * dims.size(id);
    out = out + term;
  }
  return out;
}

}  // namespace

std::optional<Size> divide(const Size& a, const Size& b, const Dims& dims) {
  if (b.value() == 0) return std::nullopt;
  if (auto exact = divide_symbolically(a.canonical(dims), b.canonical(dims), dims)) return exact;
  if (a.value() % b.value() == 0) return Size(a.value() / b.value());
  return std::nullopt;
}

DimId Dims::fresh(int64_t value) {
  if (value < 0) damaged("a negative extent");
  const DimId id = count();
  Entry entry;
  entry.parent = id;
  entry.value = value;
  entries_.push_back(std::move(entry));
  return id;
}

DimId Dims::literal(int64_t value) {
  const DimId id = fresh(value);
  entries_.back().literal = true;
  return id;
}

DimId Dims::find(DimId id) const {
  while (entries_[static_cast<size_t>(id)].parent != id) id = entries_[static_cast<size_t>(id)].parent;
  return id;
}

void Dims::unify(DimId a, DimId b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);  // the older stays: dims are listed in order of first appearance
  Entry& kept = entry(a);
  Entry& joined = entry(b);
  for (const auto& [name, hint] : joined.hints) {
    Hint& slot = kept.hints.try_emplace(name, Hint{0, hint.order}).first->second;
    slot.weight = std::max(slot.weight, hint.weight);
    slot.order = std::min(slot.order, hint.order);
  }
  kept.literal = kept.literal && joined.literal;
  if (!kept.formula) kept.formula = joined.formula;
  const std::vector<DimId> others = joined.split;
  joined.parent = a;
  if (kept.split.empty()) kept.split = others;
}

void Dims::set_split(DimId id, std::vector<DimId> parts) {
  if (entry(id).split.empty()) entry(id).split = std::move(parts);
}

void Dims::hint(DimId id, const std::string& name, int weight) {
  Hint& slot = entry(id).hints.try_emplace(name, Hint{0, votes_++}).first->second;
  slot.weight = std::max(slot.weight, weight);
}

void Dims::derive(DimId id, Formula formula) {
  if (formula.divisor < 1) damaged("a step that is not positive");
  if (!entry(id).formula) entry(id).formula = std::move(formula);
}

std::vector<std::string> Dims::hints(DimId id) const {
  const auto& votes = entries_[static_cast<size_t>(find(id))].hints;
  std::vector<std::pair<std::string, Hint>> sorted(votes.begin(), votes.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.weight != b.second.weight ? a.second.weight > b.second.weight : a.second.order < b.second.order;
  });
  std::vector<std::string> names;
  for (const auto& [name, hint] : sorted) names.push_back(name);
  return names;
}

}  // namespace solstice::importer
