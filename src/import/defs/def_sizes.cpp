#include "import/defs/def_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "import/shape/expander.h"

namespace solstice::importer {
namespace {

using Tuple = std::vector<Size>;  // one size a block

std::string text_of(const Tuple& tuple) {
  std::string out;
  for (const Size& size : tuple) {
    for (const auto& [product, coefficient] : size.terms())
      out += fmt::format("{}*{} ", coefficient, fmt::join(product, "."));
    out += ";";
  }
  return out;
}

// The dim that a size is, -1 if it is anything else.
DimId single(const Size& size) {
  if (size.terms().size() != 1) return -1;
  const auto& [product, coefficient] = *size.terms().begin();
  return coefficient == 1 && product.size() == 1 ? product[0] : -1;
}

std::optional<int64_t> common_constant(const Tuple& tuple) {
  for (const Size& size : tuple) {
    if (!size.is_constant() || size.value() != tuple[0].value()) return std::nullopt;
  }
  return tuple[0].value();
}

class Fitter {
 public:
  Fitter(const Draft& outer, const std::vector<Block>& blocks, Dims& dims)
      : outer_(outer.dims()), blocks_(blocks), dims_(dims), expander_(outer.dims()) {}

  DefSizes run() {
    for (size_t s = 0; s < blocks_[0].slots.size(); ++s) add_slot(s);
    bind_formals();
    for (size_t t = 0; t < tuples_.size(); ++t) {
      if (!known_[t] && is_atomic(tuples_[t])) make_static(t);
    }
    while (settle()) {
    }
    for (const size_t t : tuple_of_) out_.slots.push_back(*known_[t]);
    return std::move(out_);
  }

 private:
  void add_slot(size_t slot) {
    Tuple tuple;
    for (const Block& block : blocks_) tuple.push_back(expander_.expanded(block.slots[slot]));
    const auto [found, is_new] = numbers_.emplace(text_of(tuple), tuples_.size());
    tuple_of_.push_back(found->second);
    if (!is_new) return;
    tuples_.push_back(std::move(tuple));
    known_.emplace_back();
    slot_of_.push_back(slot);
  }

  void bind_formals() {
    for (size_t i = 0; i < blocks_[0].tensors.size(); ++i) {
      if (blocks_[0].roles[i] != Block::Role::kFormal) continue;
      for (const int slot : blocks_[0].shape_slots[i]) {
        if (slot < 0) continue;
        const size_t t = tuple_of_[static_cast<size_t>(slot)];
        if (!known_[t]) known_[t] = express(tuples_[t], 0);
        if (!known_[t]) known_[t] = dims_.size(fresh(t));
      }
    }
  }

  // One more tuple becomes known; false when all are.
  bool settle() {
    std::optional<size_t> unknown;
    for (size_t t = 0; t < tuples_.size(); ++t) {
      if (known_[t]) continue;
      known_[t] = express(tuples_[t], 0);
      if (known_[t]) return true;
      if (!unknown) unknown = t;
    }
    if (unknown) make_static(*unknown);
    return unknown.has_value();
  }

  // A dim of the def for a tuple, named as most blocks name it.
  DimId fresh(size_t tuple) {
    const DimId id = dims_.fresh(next_value());
    dims_.set_given(id);
    vote(id, slot_of_[tuple]);
    return id;
  }

  void vote(DimId id, size_t slot) {
    std::map<std::string, int> votes;
    for (const Block& block : blocks_) {
      const DimId named = single(block.slots[slot]);
      const std::vector<std::string> hints = named < 0 ? std::vector<std::string>{} : outer_.hints(named);
      if (!hints.empty()) ++votes[hints[0]];
    }
    for (const auto& [name, count] : votes) dims_.hint(id, name, count);
  }

  // Values in which no sum of two is a third and no extent of a real program lies.
  int64_t next_value() {
    last_ = last_ * 1103515245 % 2147483647;
    return 2048 + last_ % 2048;
  }

  void make_static(size_t tuple) {
    if (join_static(tuple)) return;
    static_of_.push_back(tuple);
    const DimId id = fresh(tuple);
    known_[tuple] = dims_.size(id);
    out_.statics.push_back(id);
    out_.passed.emplace_back();
    for (const Block& block : blocks_) out_.passed.back().push_back(block.slots[slot_of_[tuple]]);
  }

  // Two dims that change from block to block alike are one: a constructor's argument that was used twice.
  bool join_static(size_t tuple) {
    const Tuple& own = tuples_[tuple];
    const bool varies = std::any_of(own.begin(), own.end(), [&](const Size& s) { return s.value() != own[0].value(); });
    if (!varies || !is_atomic(own)) return false;
    for (const size_t other : static_of_) {
      const Tuple& theirs = tuples_[other];
      bool alike = is_atomic(theirs);
      for (size_t i = 0; i < own.size() && alike; ++i) alike = own[i].value() == theirs[i].value();
      if (!alike) continue;
      known_[tuple] = known_[other];
      for (size_t i = 0; i < own.size(); ++i) out_.joined.emplace_back(single(theirs[i]), single(own[i]));
      return true;
    }
    return false;
  }

  bool is_atomic(const Tuple& tuple) const {
    return std::all_of(tuple.begin(), tuple.end(),
                       [&](const Size& s) { return single(s) >= 0 && !outer_.formula(single(s)); });
  }

  std::optional<Size> express(const Tuple& tuple, int depth) {
    if (const auto constant = common_constant(tuple)) return Size(*constant);
    const auto found = numbers_.find(text_of(tuple));
    if (found != numbers_.end() && known_[found->second]) return known_[found->second];
    if (depth > 4) return std::nullopt;
    if (auto size = by_terms(tuple, depth)) return found == numbers_.end() ? size : named_product(found->second, *size);
    if (auto size = by_formula(tuple, depth)) return size;
    return by_known(tuple);
  }

  // A product that the caller has a dim for is a dim here too: N*P*Q elements.
  Size named_product(size_t tuple, const Size& size) {
    if (size.terms().size() != 1 || size.terms().begin()->first.size() < 2) return size;
    const size_t slot = slot_of_[tuple];
    const bool named =
        std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& b) { return single(b.slots[slot]) >= 0; });
    if (!named) return size;
    const DimId id = dims_.fresh(size.value());
    dims_.derive(id, {size, 1, 0});
    vote(id, slot);
    return dims_.size(id);
  }

  // The same sum of products in each block.
  std::optional<Size> by_terms(const Tuple& tuple, int depth) {
    const size_t count = tuple[0].terms().size();
    if (single(tuple[0]) >= 0) return std::nullopt;
    if (std::any_of(tuple.begin(), tuple.end(), [&](const Size& s) { return s.terms().size() != count; }))
      return std::nullopt;
    Size out;
    for (size_t n = 0; n < count; ++n) {
      const auto term = [&](const Size& s) { return *std::next(s.terms().begin(), static_cast<long>(n)); };
      const auto [product, coefficient] = term(tuple[0]);
      const bool alike =
          std::all_of(tuple.begin(), tuple.end(), [&, of = product.size(), c = coefficient](const Size& s) {
            return term(s).first.size() == of && term(s).second == c;
          });
      if (!alike) return std::nullopt;
      Size value(coefficient);
      for (size_t f = 0; f < product.size(); ++f) {
        Tuple factor;
        for (const Size& s : tuple) factor.push_back(outer_.size(term(s).first[f]));
        const auto known = express(factor, depth + 1);
        if (!known) return std::nullopt;
        value = value * *known;
      }
      out = out + value;
    }
    return out;
  }

  // A dim that follows from others in the same way in each block: P = (H-1)//2 + 1.
  std::optional<Size> by_formula(const Tuple& tuple, int depth) {
    Tuple inner;
    std::optional<Formula> first;
    for (const Size& size : tuple) {
      const DimId id = single(size);
      if (id < 0 || !outer_.formula(id)) return std::nullopt;
      const Formula& formula = *outer_.formula(id);
      const Size whole = expander_.expanded(formula.size);
      if (whole.value() / formula.divisor + formula.plus != outer_.value(id)) return std::nullopt;
      if (!first) first = formula;
      if (formula.divisor != first->divisor || formula.plus != first->plus) return std::nullopt;
      inner.push_back(whole);
    }
    const auto known = express(inner, depth + 1);
    if (!known || known->is_constant()) return std::nullopt;
    const DimId id = dims_.fresh(known->value() / first->divisor + first->plus);
    dims_.derive(id, {*known, first->divisor, first->plus});
    const auto found = numbers_.find(text_of(tuple));
    if (found != numbers_.end()) vote(id, slot_of_[found->second]);
    return dims_.size(id);
  }

  // A known size plus another, or times a number.
  std::optional<Size> by_known(const Tuple& tuple) {
    for (size_t u = 0; u < tuples_.size(); ++u) {
      if (!known_[u]) continue;
      Tuple rest;
      for (size_t i = 0; i < tuple.size(); ++i) rest.push_back(tuple[i] - tuples_[u][i]);
      if (const auto constant = common_constant(rest)) return *known_[u] + Size(*constant);
      const auto found = numbers_.find(text_of(rest));
      if (found != numbers_.end() && known_[found->second]) return *known_[u] + *known_[found->second];
      const int64_t part = tuples_[u][0].value();
      const Size factor(part == 0 ? 0 : tuple[0].value() / part);
      bool multiple = true;
      for (size_t i = 0; i < tuple.size() && multiple; ++i)
        multiple = (tuple[i] - tuples_[u][i] * factor).terms().empty();
      if (multiple) return *known_[u] * factor;
    }
    return std::nullopt;
  }

  const Dims& outer_;
  const std::vector<Block>& blocks_;
  Dims& dims_;
  Expander expander_;
  DefSizes out_;
  std::vector<Tuple> tuples_;               // the different ones
  std::vector<std::optional<Size>> known_;  // each of them in the def
  std::vector<size_t> static_of_;           // the tuple of each static
  std::vector<size_t> slot_of_;             // the first slot of each
  std::vector<size_t> tuple_of_;            // of each slot
  std::map<std::string, size_t> numbers_;
  int64_t last_ = 48271;
};

}  // namespace

DefSizes fit_sizes(const Draft& outer, const std::vector<Block>& blocks, Dims& dims) {
  return Fitter(outer, blocks, dims).run();
}

}  // namespace solstice::importer
