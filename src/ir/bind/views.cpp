#include "ir/bind/views.h"

#include <algorithm>

namespace solstice::ir {
namespace {

ExprRef both(ExprRef a, ExprRef b) {
  if (!a) return b;
  return b ? make(Op::kAnd, {std::move(a), std::move(b)}) : a;
}

ExprRef minus(const ExprRef& e, int64_t offset) {
  if (offset == 0) return e;
  return offset > 0 ? make(Op::kSub, {e, make_int(offset)}) : make(Op::kAdd, {e, make_int(-offset)});
}

struct RadixTerm {
  int index;
  int64_t coefficient;
  int64_t extent;
};

// One dimension of a piece: offset + sum of coefficient * index.
struct Place {
  int64_t offset = 0;
  std::vector<RadixTerm> terms;  // widest coefficient first, all positive unless alone
  int64_t low = 0;
  int64_t high = 0;
};

Place place_of(const Affine& form, const std::vector<Index>& indices) {
  Place p;
  p.offset = p.low = p.high = form.offset;
  for (const auto& [id, c] : form.terms) {
    const int64_t extent = indices[static_cast<size_t>(id)].extent;
    p.terms.push_back({id, c, extent});
    (c > 0 ? p.high : p.low) += c * (extent - 1);
  }
  std::sort(p.terms.begin(), p.terms.end(),
            [](const RadixTerm& a, const RadixTerm& b) { return a.coefficient > b.coefficient; });
  return p;
}

}  // namespace

SolvedPiece solve_piece(const ViewPiece& piece, const std::vector<int64_t>& shape, const std::vector<ExprRef>& at) {
  SolvedPiece out;
  for (size_t d = 0; d < piece.lhs.size(); ++d) {
    const Place place = place_of(piece.lhs[d], piece.indices);
    if (place.low > 0) out.condition = both(out.condition, make(Op::kGe, {at[d], make_int(place.low)}));
    if (place.high < shape[d] - 1) out.condition = both(out.condition, make(Op::kLe, {at[d], make_int(place.high)}));
    ExprRef rest = minus(at[d], place.offset);
    for (size_t t = 0; t < place.terms.size(); ++t) {
      const RadixTerm& term = place.terms[t];
      const bool last = t + 1 == place.terms.size();
      if (term.coefficient < 0) {
        rest = make(Op::kSub, {make_int(place.offset), at[d]});
        if (term.coefficient < -1) rest = make(Op::kFloorDiv, {rest, make_int(-term.coefficient)});
        out.indices[term.index] = rest;
        continue;
      }
      const ExprRef radix = make_int(term.coefficient);
      out.indices[term.index] = term.coefficient == 1 ? rest : make(Op::kFloorDiv, {rest, radix});
      if (term.coefficient == 1) continue;
      rest = make(Op::kMod, {rest, radix});
      if (last) out.condition = both(out.condition, make(Op::kEq, {rest, make_int(0)}));
    }
  }
  return out;
}

namespace {

Size size_of(const ExprRef& e, const std::map<int, Size>& indices) {
  if (e->op == Op::kIndex) {
    const auto found = indices.find(e->id);
    return found == indices.end() ? Size{1, 1} : found->second;
  }
  Size out{1, 0};
  for (const ExprRef& a : e->args) {
    const Size part = size_of(a, indices);
    out.nodes += part.nodes;
    out.height = std::max(out.height, part.height);
  }
  ++out.height;
  return out;
}

}  // namespace

Size size_of(const ExprRef& e, const std::map<int, ExprRef>& indices) {
  std::map<int, Size> sizes;
  for (const auto& [id, index] : indices) sizes.emplace(id, size_of(index, std::map<int, Size>()));
  return size_of(e, sizes);
}

ExprRef within(const std::vector<int64_t>& shape, const std::vector<ExprRef>& at) {
  ExprRef out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (at[d]->op == Op::kInt && at[d]->integer >= 0 && at[d]->integer < shape[d]) continue;
    out = both(out, make(Op::kLe, {make_int(0), at[d]}));
    out = both(out, make(Op::kLt, {at[d], make_int(shape[d])}));
  }
  return out;
}

}  // namespace solstice::ir
