#include "families/gemm/contraction.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families::gemm {
namespace {

using ir::ExprRef;
using ir::Op;

Error refuse(const std::string& why) { return fail(Code::illegal_knobs, why); }

// The sums over products of two reads in one equation; a sum that occurs twice (`z * erf(z)`) is one shared
// node.
std::vector<const ir::Expr*> candidates(const ir::Equation& equation) {
  std::vector<const ir::Expr*> out;
  ir::walk(equation.rhs, [&](const ir::Expr& e) {
    const bool sum = e.op == Op::kReduce && e.reducer == ir::Reducer::kSum && e.args.size() == 1;
    if (!sum || e.args[0]->op != Op::kMul) return;
    const bool reads = e.args[0]->args[0]->op == Op::kRead && e.args[0]->args[1]->op == Op::kRead;
    if (reads && std::find(out.begin(), out.end(), &e) == out.end()) {
      out.push_back(&e);
    }
  });
  return out;
}

// Element offset of a read as a linear form of the equation's indices.
Result<ir::Affine> offset_of(const ir::Program& program, const ir::Equation& equation, const ir::Expr& read) {
  const ir::Tensor& tensor = program.tensor(read.id);
  if (read.has_else) return refuse(fmt::format("`{}` is read with `else`", tensor.name));
  ir::Affine out;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const auto at = ir::as_affine(read.args[d]);
    if (!at)
      return refuse(fmt::format("`{}` is read at `{}`, which is not linear", tensor.name, ir::to_text(program, equation, read.args[d])));
    out.offset += at->offset * tensor.strides[d];
    for (const auto& [index, coefficient] : at->terms) {
      const auto known = std::find_if(out.terms.begin(), out.terms.end(), [&, id = index](const auto& t) { return t.first == id; });
      if (known != out.terms.end())
        known->second += coefficient * tensor.strides[d];
      else
        out.terms.emplace_back(index, coefficient * tensor.strides[d]);
    }
  }
  return out;
}

class Finder {
 public:
  Finder(const ir::Program& program, const ir::Kernel& kernel) : program_(program), kernel_(kernel) {}

  Result<Contraction> run() {
    SOLSTICE_CHECK(find_sum());
    SOLSTICE_TRY(a_, offset_of(program_, equation(), *out_.node->args[0]->args[0]));
    SOLSTICE_TRY(b_, offset_of(program_, equation(), *out_.node->args[0]->args[1]));
    SOLSTICE_CHECK(operand(out_.node->args[0]->args[0]->id, out_.a));
    SOLSTICE_CHECK(operand(out_.node->args[0]->args[1]->id, out_.b));
    SOLSTICE_CHECK(assign_roles());
    SOLSTICE_CHECK(flatten(out_.batch_indices, "batch", &out_.a.batch, &out_.b.batch, out_.batches));
    SOLSTICE_CHECK(flatten(out_.m_indices, "M", &out_.a.line, nullptr, out_.m));
    SOLSTICE_CHECK(flatten(out_.n_indices, "N", nullptr, &out_.b.line, out_.n));
    SOLSTICE_CHECK(flatten(out_.k_indices, "K", &out_.a.k, &out_.b.k, out_.k));
    return out_;
  }

 private:
  const ir::Equation& equation() const { return program_.equation(out_.equation); }
  int64_t extent(int index) const { return equation().indices[static_cast<size_t>(index)].extent; }

  Status find_sum() {
    for (const int id : kernel_.equations) {
      for (const ir::Expr* node : candidates(program_.equation(id))) {
        if (out_.node) return refuse("two sums of products; one kernel runs one");
        out_.equation = id;
        out_.node = node;
      }
    }
    if (!out_.node) return refuse("no equation holds a sum over a product of two reads");
    return success();
  }

  Status operand(int tensor_id, OperandAccess& out) const {
    const ir::Tensor& tensor = program_.tensor(tensor_id);
    out.tensor = tensor_id;
    for (const int id : kernel_.equations) {
      if (program_.equation(id).target == tensor_id)
        return fail(Code::not_yet, fmt::format("operand `{}` is computed in the same kernel; prologues are not built yet", tensor.name));
    }
    if (!tensor.dtype) return refuse(fmt::format("operand `{}` is a view or local", tensor.name));
    out.dtype = *tensor.dtype;
    return success();
  }

  Status assign_roles() {
    out_.a.offset = a_.offset, out_.b.offset = b_.offset;
    const auto& binders = out_.node->binders;
    for (size_t i = 0; i < equation().indices.size(); ++i) {
      const int id = static_cast<int>(i);
      const bool in_a = a_.coefficient_of(id) != 0, in_b = b_.coefficient_of(id) != 0;
      const bool summed = std::find(binders.begin(), binders.end(), id) != binders.end();
      const bool free = std::find(equation().free.begin(), equation().free.end(), id) != equation().free.end();
      if (extent(id) == 1 || (!summed && !free)) continue;
      if (summed && !(in_a && in_b))
        return refuse(fmt::format("`{}` is summed but not in both operands: factor it out", equation().indices[i].name));
      if (!in_a && !in_b) return refuse(fmt::format("the product does not depend on `{}`", equation().indices[i].name));
      (summed ? out_.k_indices : in_a && in_b ? out_.batch_indices : in_a ? out_.m_indices : out_.n_indices).push_back(id);
    }
    return success();
  }

  // Orders the indices of one role outermost first and gives each operand's stride of the innermost one.
  Status flatten(std::vector<int>& indices, const char* role, int64_t* stride_a, int64_t* stride_b, int64_t& total) const {
    const Form& first = stride_a ? a_ : b_;
    std::stable_sort(indices.begin(), indices.end(),
                     [&](int x, int y) { return std::abs(first.coefficient_of(x)) > std::abs(first.coefficient_of(y)); });
    for (const int id : indices) total *= extent(id);
    if (total > INT32_MAX / 2) return refuse(fmt::format("extent {} of {} is too large", total, role));
    if (stride_a) SOLSTICE_CHECK(single_stride(a_, indices, role, *stride_a));
    if (stride_b) SOLSTICE_CHECK(single_stride(b_, indices, role, *stride_b));
    return success();
  }

  struct Form : ir::Affine {
    Form& operator=(ir::Affine other) {
      ir::Affine::operator=(std::move(other));
      return *this;
    }
    int64_t coefficient_of(int id) const {
      for (const auto& [index, value] : terms) {
        if (index == id) return value;
      }
      return 0;
    }
  };

  Status single_stride(const Form& form, const std::vector<int>& indices, const char* role, int64_t& stride) const {
    if (indices.empty()) return success();
    stride = form.coefficient_of(indices.back());
    int64_t expected = stride;
    for (auto id = indices.rbegin(); id != indices.rend(); ++id) {
      if (form.coefficient_of(*id) != expected || expected <= 0) {
        return refuse(fmt::format("the indices of {} do not step through both operands with one stride: pack an operand first", role));
      }
      expected *= extent(*id);
    }
    return success();
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  Contraction out_;
  Form a_, b_;
};

}  // namespace

Contraction exchanged(const Contraction& c) {
  Contraction out = c;
  std::swap(out.a, out.b);
  std::swap(out.m_indices, out.n_indices);
  std::swap(out.m, out.n);
  return out;
}

Result<Contraction> find_contraction(const ir::Program& program, const ir::Kernel& kernel) { return Finder(program, kernel).run(); }

}  // namespace solstice::families::gemm
