#include "families/tensor_core/collective_epilogue.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "codegen/flatten.h"
#include "codegen/linear.h"
#include "ir/walk_distinct.h"

namespace solstice::families::tensor_core {
namespace {

using ir::ExprRef;
using ir::Op;

// The use that a kernel makes of its product, after locals and views are inlined.
class EpilogueReader {
 public:
  EpilogueReader(const ir::Program& program, const codegen::FlatKernel& flat, int product)
      : program_(program), flat_(flat), product_(product) {}

  CollectiveEpilogue read() const {
    CollectiveEpilogue out;
    std::set<int> residuals;
    bool linear = flat_.equations.size() == 1;
    for (const codegen::FlatEquation& equation : flat_.equations) {
      const ir::Tensor& target = program_.tensor(equation.target);
      out.align_result = std::min(out.align_result, alignment(target, equation.lhs));
      linear = linear && is_scaled_sum(equation, equation.rhs);
      ir::walk_distinct(equation.rhs, [&](const ir::Expr& e) {
        if (!is_residual(equation, e)) return;
        residuals.insert(e.id);
        out.align_result = std::min(out.align_result, alignment(program_.tensor(e.id), e.args));
      });
    }
    const codegen::FlatEquation& first = flat_.equations.front();
    out.result = program_.tensor(first.target).dtype.value_or(DType::kF32);
    out.residuals = static_cast<int>(residuals.size());
    out.fused = !linear || residuals.size() > 1;
    return out;
  }

 private:
  // A tensor of the result's shape: its read varies with every index of the result.
  bool is_residual(const codegen::FlatEquation& equation, const ir::Expr& e) const {
    if (e.op != Op::kRead || e.id == product_) return false;
    return std::all_of(equation.free.begin(), equation.free.end(), [&](int id) {
      const auto varies = [&](const ExprRef& arg) { return codegen::depends_on(arg, id); };
      return flat_.indices.index(id).extent == 1 || std::any_of(e.args.begin(), e.args.end(), varies);
    });
  }

  // alpha * product + beta * C: sums and multiples of the product and of tensors of the result's shape.
  bool is_scaled_sum(const codegen::FlatEquation& equation, const ExprRef& e) const {
    const auto literal = [](const ExprRef& x) { return x->op == Op::kReal || x->op == Op::kInt; };
    switch (e->op) {
      case Op::kRead:
        return e->id == product_ || is_residual(equation, *e);
      case Op::kNeg:
        return is_scaled_sum(equation, e->args[0]);
      case Op::kAdd:
      case Op::kSub:
        return is_scaled_sum(equation, e->args[0]) && is_scaled_sum(equation, e->args[1]);
      case Op::kMul:
        return (literal(e->args[0]) && is_scaled_sum(equation, e->args[1])) ||
               (literal(e->args[1]) && is_scaled_sum(equation, e->args[0]));
      case Op::kDiv:
        return literal(e->args[1]) && is_scaled_sum(equation, e->args[0]);
      default:
        return false;
    }
  }

  // Bytes that divide every line and the offset of an access whose innermost step is one element.
  int64_t alignment(const ir::Tensor& tensor, const std::vector<ExprRef>& args) const {
    const int64_t size = size_of(tensor.dtype.value_or(DType::kF32));
    int64_t out = 16;
    for (size_t d = 0; d < tensor.shape.size() && d < args.size(); ++d) {
      const auto form = codegen::linear_form(flat_.indices, args[d]);
      if (!form) return size;
      if (form->offset) out = std::gcd(out, form->offset * tensor.strides[d] * size);
      for (const auto& [id, c] : form->terms) {
        const int64_t step = c * tensor.strides[d];
        if (flat_.indices.index(id).extent > 1 && step != 1) out = std::gcd(out, step * size);
      }
    }
    return out;
  }

  const ir::Program& program_;
  const codegen::FlatKernel& flat_;
  int product_;
};

}  // namespace

std::optional<CollectiveEpilogue> collective_epilogue(const ir::Program& program, const ir::Kernel& kernel,
                                                      int equation, const ir::Expr* node) {
  const codegen::Anchor anchor{equation, node, static_cast<int>(program.tensors.size())};
  const auto flat = codegen::flatten(program, kernel, {anchor});
  if (!flat.ok()) return std::nullopt;
  return EpilogueReader(program, *flat, anchor.pseudo).read();
}

int64_t stored_through_shared(const CollectiveEpilogue& epilogue, int tile_m, int tile_n, bool cooperative) {
  const int64_t row_vector = epilogue.fused ? 4 * tile_n : 0;
  const int64_t size = size_of(epilogue.result);
  const int64_t rows = std::min(cooperative ? 128 : 64, tile_m);
  const int64_t wide = !cooperative && size == 1 && tile_n % 64 == 0 ? 64 : 32;
  const int64_t columns = std::gcd(std::min<int64_t>(wide, tile_n), static_cast<int64_t>(tile_n));
  const int64_t tiles = tile_m * tile_n / (rows * columns);
  const int64_t stores = std::min<int64_t>(tiles, 2);
  const int64_t most_loads = std::min<int64_t>(tiles, 4);
  const int64_t loads = epilogue.residuals == 0 ? 0 : size > 1 ? std::max(most_loads, stores + 1) : most_loads;
  // C and the result share their slots where they have one width of 16 bits or more.
  const int64_t slots = loads == 0 ? stores : size > 1 ? loads : loads + stores;
  const int64_t further = std::max(epilogue.residuals - 1, 0) * most_loads;
  return (slots + further) * rows * columns * size + row_vector + (size == 4 ? 2048 : 1024);
}

}  // namespace solstice::families::tensor_core
