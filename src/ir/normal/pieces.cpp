// Pass 6, `pieces`: a read of a tensor that is defined in pieces goes to the piece that holds it.
//
//   t[l1(i)] = e1(i); t[l2(j)] = e2(j); ... t[a] ...
//   becomes
//   ... [a in piece 1] * e1(i(a)) + [a in piece 2] * e2(j(a)) ...
//
// where a piece's indices are the digits of the element that is read, and a guard that always or never holds is
// dropped. The guards then split reductions at the pieces' boundaries (pass `algebra`: sums are distributed, guards
// absorbed).
//
// Proof. Pieces are disjoint and cover the tensor (rule E005), each a product of mixed radices: exactly one guard
// holds, and the digits are the only indices with l(i) = a. With booleans or infinities in a piece, `select` chooses
// instead of adding.
#include <algorithm>
#include <cmath>

#include "ir/normal/expression.h"
#include "ir/normal/passes.h"

namespace solstice::ir::normal {
namespace {

struct Placed {
  std::vector<TermId> conditions;
  Substitution values;
};

class Director {
 public:
  explicit Director(Form& form) : form_(form), pool_(form.pool), normal_(form.pool, form.enabled) {
    for (size_t d = 0; d < form.definitions.size(); ++d) by_tensor_[form.definitions[d].tensor].push_back(d);
  }

  void run() {
    Rewriter rewrite(pool_, [this](TermId t) { return change(t); });
    for (Definition& d : form_.definitions) d.value = rewrite(d.value);
    for (Root& r : form_.roots) r.value = rewrite(r.value);
    drop_unused(form_);
  }

 private:
  bool stands_for_reads(int tensor) const {
    const auto found = by_tensor_.find(tensor);
    if (found == by_tensor_.end() || form_.shared.count(tensor) || form_.wanted.count(tensor)) return false;
    return std::none_of(found->second.begin(), found->second.end(), [&](size_t d) {
      const Definition& each = form_.definitions[d];
      return each.recurrent || (form_.keep_nodes && pool_.at(each.value).level > 0);
    });
  }

  TermId change(TermId id) {
    const Term t = pool_.at(id);
    const int tensor = t.kind == Kind::kRead ? form_.tensor_of(t.id) : -1;
    if (tensor < 0 || !stands_for_reads(tensor)) return id;
    std::vector<TermId> at = t.args;
    if (t.has_else) at.pop_back();
    const TermId value = directed(tensor, at);
    if (!t.has_else) return value;
    return pool_.op(Op::kSelect, {all_of(pool_, within(pool_, pool_.symbol(t.id).shape, at)), value, t.args.back()});
  }

  TermId directed(int tensor, const std::vector<TermId>& at) {
    std::vector<std::pair<TermId, TermId>> parts;  // condition, value
    for (const size_t d : by_tensor_.at(tensor)) {
      const Definition& piece = form_.definitions[d];
      const Placed placed = place(piece, at);
      const TermId holds = normal_.of_integers(all_of(pool_, placed.conditions));
      if (normal_.is_false(holds)) continue;
      parts.emplace_back(holds, pool_.substitute(piece.value, placed.values));
      if (normal_.is_true(holds)) return parts.back().second;
    }
    if (parts.empty()) return pool_.constant(0);  // outside the tensor: any value
    const bool numbers = std::all_of(parts.begin(), parts.end(), [&](const auto& p) { return is_number(p.second); });
    if (numbers) return added(parts);
    std::stable_sort(parts.begin(), parts.end(),
                     [&](const auto& a, const auto& b) { return is_number(a.second) > is_number(b.second); });
    TermId out = parts.back().second;
    for (size_t p = parts.size() - 1; p-- > 0;) out = pool_.op(Op::kSelect, {parts[p].first, parts[p].second, out});
    return out;
  }

  TermId added(const std::vector<std::pair<TermId, TermId>>& parts) {
    TermId out = -1;
    for (const auto& [holds, value] : parts) {
      const TermId each = pool_.op(Op::kSelect, {holds, value, pool_.constant(0)});
      out = out < 0 ? each : pool_.op(Op::kAdd, {out, each});
    }
    return out;
  }

  bool is_number(TermId id) const {
    const Term& t = pool_.at(id);
    if (t.value == ValueKind::kBool || (t.kind == Kind::kReal && !std::isfinite(t.real))) return false;
    return t.kind != Kind::kOp || t.op != Op::kSelect || (is_number(t.args[1]) && is_number(t.args[2]));
  }

  // The indices of the piece at the element `at`, digit by digit, and when there are such.
  Placed place(const Definition& piece, const std::vector<TermId>& at) {
    Placed out;
    Polynomials& polys = polynomials_;
    for (size_t d = 0; d < piece.left.size(); ++d) {
      Poly form = polys.of(normal_.of_integers(piece.left[d]));
      const auto constant = form.find(polys.one());
      const int64_t offset = constant == form.end() ? 0 : constant->second.num;
      if (constant != form.end()) form.erase(constant);
      std::vector<std::pair<int64_t, int>> digits;
      int64_t low = offset, high = offset;
      for (const auto& [m, w] : form) {
        const int v = pool_.at(m).id;
        digits.emplace_back(w.num, v);
        (w.num > 0 ? high : low) += w.num * (pool_.var(v).extent - 1);
      }
      std::sort(digits.rbegin(), digits.rend());
      out.conditions.push_back(pool_.op(Op::kGe, {at[d], pool_.constant(low)}));
      out.conditions.push_back(pool_.op(Op::kLe, {at[d], pool_.constant(high)}));
      digits_of(digits, offset, at[d], out);
    }
    return out;
  }

  // A single index may run backwards; several are a mixed radix with positive coefficients.
  void digits_of(const std::vector<std::pair<int64_t, int>>& digits, int64_t offset, TermId at, Placed& out) {
    const bool backwards = digits.size() == 1 && digits[0].first < 0;
    TermId rest =
        backwards ? pool_.op(Op::kSub, {pool_.constant(offset), at}) : pool_.op(Op::kSub, {at, pool_.constant(offset)});
    for (const auto& [signed_radix, v] : digits) {
      const TermId radix = pool_.constant(backwards ? -signed_radix : signed_radix);
      out.values[v] = normal_.of_integers(pool_.op(Op::kFloorDiv, {rest, radix}));
      rest = pool_.op(Op::kMod, {rest, radix});
    }
    if (!digits.empty()) out.conditions.push_back(pool_.op(Op::kEq, {rest, pool_.constant(0)}));
  }

  Form& form_;
  Pool& pool_;
  Expressions normal_;
  Signs signs_{pool_};
  Polynomials polynomials_{pool_, signs_};
  std::map<int, std::vector<size_t>> by_tensor_;
};

}  // namespace

void pieces(Form& form) { Director(form).run(); }

}  // namespace solstice::ir::normal
