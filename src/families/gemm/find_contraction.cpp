#include "families/gemm/find_contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "families/gemm/pair.h"
#include "ir/analysis/contraction.h"

namespace solstice::families::gemm {
namespace {

using ir::ExprRef;
using ir::Op;

Error refuse(const std::string& why) { return fail(Code::illegal_knobs, why); }

// Product sums without a condition, or under an equality that chooses terms; `of_reads`: only sums of two reads.
std::vector<const ir::Expr*> candidates(const ir::Equation& equation, bool of_reads) {
  std::vector<const ir::Expr*> out;
  for (const ir::ProductSum& sum : ir::product_sums(equation)) {
    const bool chosen = !sum.condition() || sum.condition()->op == Op::kEq;
    if (chosen && (sum.is_of_reads() || !of_reads)) out.push_back(sum.node);
  }
  return out;
}

class Finder {
 public:
  Finder(const ir::Program& program, const ir::Kernel& kernel, int equation, const ir::Expr* node)
      : program_(program), kernel_(kernel) {
    out_.equation = equation;
    out_.node = node;
  }

  Result<Contraction> run() {
    const ir::Expr& product = *out_.node->args[0];
    SOLSTICE_TRY(FoundOperand first, find_operand(program_, kernel_, out_.equation, product.args[0]));
    SOLSTICE_TRY(FoundOperand second, find_operand(program_, kernel_, out_.equation, product.args[1]));
    if (first.access.made || second.access.made) SOLSTICE_CHECK(require_plain(first, second));
    a_ = std::move(first.read), b_ = std::move(second.read);
    out_.a = std::move(first.access), out_.b = std::move(second.access);
    SOLSTICE_CHECK(find_groups());
    SOLSTICE_CHECK(assign_roles());
    Grouping& grouping = out_.grouping;
    if (grouping.kind == Grouped::kRows)
      out_.b.batch = b_.gathers.front().stride;
    else if (grouping.kind == Grouped::kK)
      out_.batches = grouping.groups;
    else
      SOLSTICE_CHECK(flatten(out_.batch_indices, "batch", {&a_, &out_.a.batch}, {&b_, &out_.b.batch}, out_.batches));
    const bool rows = grouping.kind == Grouped::kRows, sums = grouping.kind == Grouped::kK;
    SOLSTICE_CHECK(flatten(out_.m_indices, "M", {&a_, &out_.a.line, rows ? &grouping.a : nullptr}, {}, out_.m));
    SOLSTICE_CHECK(flatten(out_.n_indices, "N", {}, {&b_, &out_.b.line}, out_.n));
    const Side k_of_a{&a_, &out_.a.k, sums ? &grouping.a : nullptr},
        k_of_b{&b_, &out_.b.k, sums ? &grouping.b : nullptr};
    SOLSTICE_CHECK(flatten(out_.k_indices, "K", k_of_a, k_of_b, out_.k));
    // A gather by no index at all (`x[p[0], k]`) has found no role.
    if (!a_.gathers.empty() && !grouping.a.at) return not_linear(a_);
    if (!rows && !b_.gathers.empty() && !grouping.b.at) return not_linear(b_);
    return out_;
  }

 private:
  const ir::Equation& equation() const { return program_.equation(out_.equation); }
  int64_t extent(int index) const { return equation().indices[static_cast<size_t>(index)].extent; }
  bool is_free(int index) const { return std::count(equation().free.begin(), equation().free.end(), index) > 0; }
  bool is_summed(int index) const {
    return std::count(out_.node->binders.begin(), out_.node->binders.end(), index) > 0;
  }

  Error not_linear(const OperandRead& x) const {
    return refuse(fmt::format("`{}` is read at `{}`, which is not linear", program_.tensor(x.tensor).name,
                              ir::to_text(program_, equation(), x.gathers.front().at)));
  }

  Status find_groups() {
    if (out_.node->args.size() > 1) return find_groups_of_sum();
    if (a_.gathers.empty() && b_.gathers.empty()) return success();
    if (!chooses_matrix(b_, a_)) std::swap(a_, b_), std::swap(out_.a, out_.b);
    if (!chooses_matrix(b_, a_)) return not_linear(b_.gathers.empty() ? a_ : b_);
    out_.grouping = {Grouped::kRows, b_.gathers.front().at, b_.gathers.front().extent, {}, {}};
    return success();
  }

  // A gather of `w` goes by rows, which it has nothing else of, and `x` has the same rows.
  bool chooses_matrix(const OperandRead& w, const OperandRead& x) const {
    if (w.gathers.size() != 1 || x.gathers.size() > 1) return false;
    const std::set<int> rows = indices_in(w.gathers.front().at);
    const auto is_row = [&](int id) { return is_free(id) && w.coefficient_of(id) == 0 && depends(x, id); };
    const auto is_column = [&](const auto& term) { return is_free(term.first) && !depends(x, term.first); };
    return !rows.empty() && std::all_of(rows.begin(), rows.end(), is_row) &&
           std::any_of(w.offset.terms.begin(), w.offset.terms.end(), is_column);
  }

  // sum[m where of(m) == g]
  Status find_groups_of_sum() {
    const auto& sides = out_.node->args[1]->args;
    for (const size_t i : {0U, 1U}) {
      const ir::ExprRef &index = sides[i], &of = sides[1 - i];
      const std::set<int> rows = indices_in(of);
      const bool by_rows =
          !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](int id) { return is_summed(id); });
      if (index->op != Op::kIndex || !is_free(index->id) || depends(a_, index->id) || depends(b_, index->id) ||
          !by_rows)
        continue;
      out_.grouping = {Grouped::kK, of, extent(index->id), {}, {}};
      out_.batch_indices = {index->id};
      for (const OperandRead* x : {&a_, &b_}) {
        if (x->gathers.size() > 1) return not_linear(*x);
        for (const Gather& g : x->gathers) {
          const std::set<int> by = indices_in(g.at);
          if (!std::all_of(by.begin(), by.end(), [&](int id) { return is_summed(id); })) return not_linear(*x);
        }
      }
      return success();
    }
    return refuse("a sum of products under a condition other than `its rows belong to a group`");
  }

  // Beside an operand that is computed, nothing is grouped.
  Status require_plain(const FoundOperand& first, const FoundOperand& second) const {
    const bool gathers = !first.read.gathers.empty() || !second.read.gathers.empty();
    if (!gathers && out_.node->args.size() == 1) return success();
    const FoundOperand& made = first.access.made ? first : second;
    return fail(Code::not_yet,
                fmt::format("operand `{}` of a grouped product is computed in the same kernel, which is not built yet",
                            program_.tensor(made.access.tensor).name));
  }

  static bool depends(const OperandRead& x, int index) { return x.coefficient_of(index) != 0 || x.gathers_by(index); }

  Status assign_roles() {
    const bool chosen = out_.grouping.kind == Grouped::kRows;  // the index that chooses B's matrix is a row
    for (size_t i = 0; i < equation().indices.size(); ++i) {
      const int id = static_cast<int>(i);
      const bool in_a = depends(a_, id), in_b = chosen ? b_.coefficient_of(id) != 0 : depends(b_, id);
      const bool summed = is_summed(id);
      // One row alone may lie anywhere, where it is gathered.
      const bool one = extent(id) == 1 && !a_.gathers_by(id) && (chosen || !b_.gathers_by(id));
      if (one || (!summed && !is_free(id)) || std::count(out_.batch_indices.begin(), out_.batch_indices.end(), id))
        continue;
      const ir::Role role = ir::role_of(summed, in_a, in_b);
      const std::string& name = equation().indices[i].name;
      if (summed && role != ir::Role::kK)
        return refuse(fmt::format("`{}` is summed but not in both operands: factor it out", name));
      if (role == ir::Role::kAbsent) return refuse(fmt::format("the product does not depend on `{}`", name));
      if (role == ir::Role::kBatch && out_.grouping.kind != Grouped::kNone)
        return fail(Code::not_yet, fmt::format("`{}` is a batch of grouped products, which is not built yet", name));
      indices_of(role).push_back(id);
    }
    return success();
  }

  std::vector<int>& indices_of(ir::Role role) {
    return role == ir::Role::kK       ? out_.k_indices
           : role == ir::Role::kBatch ? out_.batch_indices
           : role == ir::Role::kM     ? out_.m_indices
                                      : out_.n_indices;
  }

  // An operand that has the indices of a role: where its stride goes, and where its rows, if it may gather them.
  struct Side {
    const OperandRead* read = nullptr;
    int64_t* stride = nullptr;
    RowSource* source = nullptr;

    bool gathers(const std::vector<int>& indices) const {
      return read && std::any_of(indices.begin(), indices.end(), [&](int id) { return read->gathers_by(id); });
    }
  };

  // Orders the indices of one role outermost first and gives each operand's stride of the innermost one.
  Status flatten(std::vector<int>& indices, const char* role, Side a, Side b, int64_t& total) const {
    const Side& first = a.read && !a.gathers(indices) ? a : b;
    if (first.read && !first.gathers(indices)) {
      std::stable_sort(indices.begin(), indices.end(), [&](int x, int y) {
        return std::abs(first.read->coefficient_of(x)) > std::abs(first.read->coefficient_of(y));
      });
    }
    for (const int id : indices) total *= extent(id);
    if (total > INT32_MAX / 2) return refuse(fmt::format("extent {} of {} is too large", total, role));
    for (const Side& side : {a, b}) {
      if (side.read) SOLSTICE_CHECK(single_stride(side, indices, role));
    }
    return success();
  }

  Status single_stride(const Side& side, const std::vector<int>& indices, const char* role) const {
    if (indices.empty()) return success();
    const auto linear = [&](int id) { return side.read->coefficient_of(id) != 0; };
    if (side.gathers(indices)) {
      if (!side.source || std::any_of(indices.begin(), indices.end(), linear)) return not_linear(*side.read);
      *side.source = {side.read->gathers.front().at, side.read->gathers.front().extent};
      *side.stride = side.read->gathers.front().stride;
      return success();
    }
    int64_t expected = *side.stride = side.read->coefficient_of(indices.back());
    for (auto id = indices.rbegin(); id != indices.rend(); ++id) {
      if (side.read->coefficient_of(*id) != expected || expected <= 0) {
        return refuse(fmt::format(
            "the indices of {} do not step through both operands with one stride: pack an operand first", role));
      }
      expected *= extent(*id);
    }
    return success();
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  Contraction out_;
  OperandRead a_, b_;
};

}  // namespace

Result<Contraction> find_contraction(const ir::Program& program, const ir::Kernel& kernel) {
  std::vector<Contraction> found;
  for (const int id : kernel.equations) {
    for (const ir::Expr* node : candidates(program.equation(id), true)) {
      if (found.size() == 2) return refuse("three sums of products; a kernel computes at most two");
      SOLSTICE_TRY(Contraction sum, Finder(program, kernel, id, node).run());
      found.push_back(std::move(sum));
    }
  }
  // If no factors are reads, they may be computed from some.
  for (size_t i = 0; i < kernel.equations.size() && found.empty(); ++i) {
    const int id = kernel.equations[i];
    for (const ir::Expr* node : candidates(program.equation(id), false)) {
      if (!found.empty())
        return fail(Code::not_yet,
                    "two sums over products of computed operands: give the shared operand an equation of its own");
      SOLSTICE_TRY(Contraction sum, Finder(program, kernel, id, node).run());
      found.push_back(std::move(sum));
    }
  }
  if (found.empty()) return refuse("no equation holds a sum over a product");
  return found.size() == 1 ? found.front() : paired(program, found[0], found[1]);
}

}  // namespace solstice::families::gemm
