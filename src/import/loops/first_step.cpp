#include "import/loops/first_step.h"

#include <algorithm>

#include "import/draft/term_mapper.h"

namespace solstice::importer {
namespace {

using LoopMap = std::map<int, Loop>;  // loops of the first step's equation, in the second's

// A term of the first step's equation, over the loops of the second's.
class Renamer : public TermCopier {
 public:
  Renamer(const Draft& draft, const LoopMap& loops) : TermCopier(draft), loops_(loops) {}

  TermRef renamed(const TermRef& given) { return term(given); }

 private:
  Loop loop(const Loop& given) override {
    const auto found = loops_.find(given.id);
    return found == loops_.end() ? given : found->second;
  }

  const LoopMap& loops_;
};

// Compares the equation of one place in the step before the loop with those of the loop's first two steps: what changes
// from the second to the third changes by as much from the first to the second.
class PlaceMatch {
 public:
  PlaceMatch(const Draft& draft, const Unrolled& loop, size_t place, const std::map<int, size_t>& before,
             const std::map<int, size_t>& within)
      : draft_(draft), loop_(loop), place_(place), before_(before), within_(within) {}

  bool run() {
    const DraftEquation &a = equation(loop_.first - loop_.period + place_), &b = equation(loop_.at(0, place_)),
                        &c = equation(loop_.at(1, place_));
    return is_like(a.tensor, b.tensor) && a.lhs.size() == b.lhs.size() && indices(a.lhs, b.lhs, c.lhs) &&
           term(a.rhs, b.rhs, c.rhs);
  }

  // What stands for each read of the step before, in the order of the loop's reads; null for the other reads.
  std::vector<TermRef> given;
  std::vector<std::pair<DimId, DimId>> joined;

 private:
  const DraftEquation& equation(size_t item) const { return draft_.items[item].equation; }

  bool is_like(int a, int b) const {
    const DraftTensor &x = draft_.tensors[static_cast<size_t>(a)], &y = draft_.tensors[static_cast<size_t>(b)];
    const auto same = [](const Size& m, const Size& n) { return m.value() == n.value(); };
    return x.dtype == y.dtype && std::equal(x.shape.begin(), x.shape.end(), y.shape.begin(), y.shape.end(), same);
  }

  bool indices(const std::vector<Index>& a, const std::vector<Index>& b, const std::vector<Index>& c) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!index(a[i], b[i], c[i])) return false;
    }
    return true;
  }

  bool index(const Index& a, const Index& b, const Index& c) {
    if (!offset(a.offset, b.offset, c.offset) || a.terms.size() != b.terms.size()) return false;
    for (size_t i = 0; i < a.terms.size(); ++i) {
      if (!size(a.terms[i].coefficient, b.terms[i].coefficient) ||
          !atom(*a.terms[i].atom, *b.terms[i].atom, *c.terms[i].atom))
        return false;
    }
    return true;
  }

  bool offset(const Size& a, const Size& b, const Size& c) {
    const bool fixed = b.canonical(draft_.dims()).is_constant();
    if (fixed != a.canonical(draft_.dims()).is_constant()) return false;
    return fixed ? b.value() - a.value() == c.value() - b.value() : size(a, b);
  }

  bool size(const Size& a, const Size& b) {
    const Size x = a.canonical(draft_.dims()), y = b.canonical(draft_.dims());
    if (x.terms() == y.terms()) return true;
    if (x.value() != y.value() || !is_one_dim(x) || !is_one_dim(y)) return false;
    joined.emplace_back(x.terms().begin()->first[0], y.terms().begin()->first[0]);
    return true;
  }

  static bool is_one_dim(const Size& size) {
    const auto& terms = size.terms();
    return terms.size() == 1 && terms.begin()->second == 1 && terms.begin()->first.size() == 1;
  }

  bool atom(const Atom& a, const Atom& b, const Atom& c) {
    if (a.kind != b.kind || a.read_extent != b.read_extent) return false;
    if (a.kind == AtomKind::kLoop) return loop(a.loop, b.loop);
    if (a.kind == AtomKind::kRead) return term(a.read, b.read, c.read);
    return index(a.inner, b.inner, c.inner) && size(a.divisor, b.divisor);
  }

  bool loop(const Loop& a, const Loop& b) {
    const auto [found, is_new] = loops_.emplace(a.id, b);
    if (!is_new) return found->second.id == b.id;
    return size(draft_.dims().size(a.dim), draft_.dims().size(b.dim));
  }

  // Fractions that grow would have to be exact in f32: they are left to the steps that are known to be.
  static bool number(const Term& a, const Term& b, const Term& c) {
    const LoopItem::Number x = loop_number(a), y = loop_number(b), z = loop_number(c);
    const bool fixed = x.units == y.units && x.text == y.text;
    const bool whole =
        x.units && y.units && Unrolled::Number::is_whole(*x.units) && Unrolled::Number::is_whole(*y.units);
    return grow_evenly(x, y, z) && (fixed || whole);
  }

  bool term(const TermRef& a, const TermRef& b, const TermRef& c) {
    if (is_number(*b)) return is_number(*a) && number(*a, *b, *c);
    if (b->kind == TermKind::kRead) return read(a, *b, *c);
    return !is_number(*a) && a->kind == b->kind && a->text == b->text && parts(*a, *b, *c);
  }

  bool parts(const Term& a, const Term& b, const Term& c) {
    if (a.binders.size() != b.binders.size() || a.args.size() != b.args.size()) return false;
    for (size_t i = 0; i < a.binders.size(); ++i) {
      if (!loop(a.binders[i], b.binders[i])) return false;
    }
    if (!indices(a.indices, b.indices, c.indices)) return false;
    for (size_t i = 0; i < a.args.size(); ++i) {
      if (!term(a.args[i], b.args[i], c.args[i])) return false;
    }
    return true;
  }

  // The third step tells from where the second one reads.
  bool read(const TermRef& a, const Term& b, const Term& c) {
    const auto handed = within_.find(c.tensor);
    const bool handed_on = handed != within_.end() && handed->second < loop_.period;
    given.push_back(nullptr);
    if (handed_on) return stands_for(a, b, handed->second);
    if (a->kind != TermKind::kRead) return false;
    const auto own = before_.find(a->tensor);
    const bool same = handed == within_.end() ? a->tensor == b.tensor && own == before_.end()
                                              : own != before_.end() && own->second == handed->second - loop_.period;
    return same && is_like(a->tensor, b.tensor) && parts(*a, b, c);
  }

  bool stands_for(const TermRef& a, const Term& b, size_t position) {
    const auto first = before_.find(b.tensor);
    const bool simple = is_number(*a) || (a->kind == TermKind::kRead && !a->has_else());
    const bool known = a->kind == TermKind::kRead && (before_.contains(a->tensor) || within_.contains(a->tensor));
    if (first == before_.end() || first->second != position || !simple || known || b.has_else()) return false;
    // The reads in the read's indices have no counterpart.
    for (const Index& at : b.indices) {
      if (any_read(at, [](const TermRef&) { return true; })) return false;
    }
    given.back() = is_number(*a) ? a : Renamer(draft_, loops_).renamed(a);
    return true;
  }

  const Draft& draft_;
  const Unrolled& loop_;
  const size_t place_;
  const std::map<int, size_t>&before_, &within_;  // tensors of the step before, and of the first two steps -> item
  LoopMap loops_;
};

}  // namespace

bool take_first_step(const Draft& draft, const std::vector<LoopItem>& items, const Writers& writers, Unrolled& loop) {
  if (loop.first < loop.period || loop.pattern != 0) return false;
  const size_t begin = loop.first - loop.period;
  std::map<int, size_t> before, within;
  for (size_t p = 0; p < 2 * loop.period; ++p) {
    const LoopItem& item = items[loop.first + p];
    if (!loop.places[p % loop.period].pieces) within.emplace(item.target, p);
  }
  for (size_t p = 0; p < loop.period; ++p) {
    const LoopItem& item = items[begin + p];
    if (item.structure.empty() || loop.places[p].pieces != (item.target == items[loop.first + p].target)) return false;
    if (loop.places[p].pieces) continue;
    const auto inside = [&](size_t writer) { return writer >= begin && writer < loop.first; };
    if (const auto& all = writers.at(item.target); !std::all_of(all.begin(), all.end(), inside)) return false;
    before.emplace(item.target, p);
  }
  Unrolled longer = loop;
  for (size_t p = 0; p < loop.period; ++p) {
    PlaceMatch match(draft, loop, p, before, within);
    Unrolled::Place& place = longer.places[p];
    if (!match.run() || match.given.size() != place.reads.size()) return false;
    for (size_t r = 0; r < place.reads.size(); ++r) place.reads[r].given = match.given[r];
    for (Unrolled::Offset& offset : place.offsets) offset.start -= offset.step;
    for (Unrolled::Number& number : place.numbers) number.start -= number.step;
    longer.joined.insert(longer.joined.end(), match.joined.begin(), match.joined.end());
  }
  longer.first = begin;
  longer.count += 1;
  longer.pattern = 1;
  loop = std::move(longer);
  return true;
}

}  // namespace solstice::importer
