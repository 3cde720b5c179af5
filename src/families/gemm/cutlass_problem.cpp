// From a kernel's equations and knobs to what CUTLASS's rules ask.
#include <algorithm>
#include <numeric>
#include <set>

#include "codegen/flatten.h"
#include "codegen/linear.h"
#include "families/gemm/cutlass_rules.h"

namespace solstice::families::gemm {
namespace {

template <class T, size_t kCount>
T value_of(const std::array<std::pair<T, std::string_view>, kCount>& names, std::string_view text, T otherwise) {
  for (const auto& [each, name] : names) {
    if (name == text) return each;
  }
  return otherwise;
}

// Bytes that divide every line, batch and the offset of an operand.
int64_t operand_alignment(const OperandAccess& x, int64_t line, int64_t k) {
  int64_t out = 16;
  for (const int64_t stride : {x.offset, x.batch, line > 1 && x.line != 1 ? x.line : 0, k > 1 && x.k != 1 ? x.k : 0}) {
    if (stride) out = std::gcd(out, stride * size_of(x.dtype));
  }
  return out;
}

using ir::ExprRef;
using ir::Op;

// What the kernel does with its product, after locals and views are inlined.
class Epilogue {
 public:
  Epilogue(const ir::Program& program, const codegen::FlatKernel& flat, int product) : program_(program), flat_(flat), product_(product) {}

  void describe(CutlassGemm& out) const {
    std::set<int> residuals;
    bool linear = flat_.equations.size() == 1;
    for (const codegen::FlatEquation& equation : flat_.equations) {
      const ir::Tensor& target = program_.tensor(equation.target);
      out.align_result = std::min(out.align_result, alignment(target, equation.lhs));
      linear = linear && is_scaled_sum(equation, equation.rhs);
      ir::walk(equation.rhs, [&](const ir::Expr& e) {
        if (!is_residual(equation, e)) return;
        residuals.insert(e.id);
        out.align_result = std::min(out.align_result, alignment(program_.tensor(e.id), e.args));
      });
    }
    const codegen::FlatEquation& first = flat_.equations.front();
    out.result = program_.tensor(first.target).dtype.value_or(DType::kF32);
    out.residuals = static_cast<int>(residuals.size());
    out.fused = !linear || residuals.size() > 1;
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
        return (literal(e->args[0]) && is_scaled_sum(equation, e->args[1])) || (literal(e->args[1]) && is_scaled_sum(equation, e->args[0]));
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

void read_knobs(const ir::Knobs& knobs, CutlassGemm& out) {
  out.grouped = knobs.name_or("grouped", "false") == "true";
  const auto tile = knobs.size_or("tile", {128, 128});
  const auto cluster = knobs.size_or("cluster", {1, 1});
  out.tile_m = static_cast<int>(tile[0]), out.tile_n = static_cast<int>(tile.size() > 1 ? tile[1] : 128);
  out.tile_k = tile.size() > 2 ? static_cast<int>(tile[2]) : 4 * out.k_instruction();
  out.cluster_m = static_cast<int>(cluster[0]), out.cluster_n = static_cast<int>(cluster.size() > 1 ? cluster[1] : 1);
  out.cluster_k = static_cast<int>(cluster.size() > 2 ? cluster[2] : 1);
  out.stages = static_cast<int>(knobs.int_or("stages", 0));
  out.schedule =
      value_of(kSchedules, knobs.name_or("schedule", out.tile_m == 64 ? "pingpong" : "cooperative"), CutlassSchedule::kCooperative);
  const std::string epilogue = knobs.name_or("epilogue", "auto");
  out.epilogue = epilogue == "auto" ? (out.swaps_operands() ? CutlassEpilogue::kNoSmem : epilogue_of(out))
                                    : value_of(kEpilogues, epilogue, epilogue_of(out));
  out.scheduler = value_of(kSchedulers, knobs.name_or("scheduler", "persistent"), CutlassScheduler::kPersistent);
  out.split = static_cast<int>(knobs.int_or("split", 1));
}

}  // namespace

CutlassGemm cutlass_config(const ir::Program& program, const ir::Kernel& kernel, const Contraction& product) {
  CutlassGemm out;
  out.a = product.a.dtype, out.b = product.b.dtype;
  out.accumulator = is_integer(out.a) && is_integer(out.b) ? DType::kI32 : DType::kF32;
  out.major_a = major_of(product.a, product.m, product.k), out.major_b = major_of(product.b, product.n, product.k);
  out.m = product.m, out.n = product.n, out.k = product.k;
  out.align_a = operand_alignment(product.a, product.m, product.k), out.align_b = operand_alignment(product.b, product.n, product.k);
  const codegen::Anchor anchor{product.equation, product.node, static_cast<int>(program.tensors.size())};
  const auto flat = codegen::flatten(program, kernel, &anchor);
  if (flat.ok()) Epilogue(program, *flat, anchor.pseudo).describe(out);
  read_knobs(kernel.knobs, out);
  return out;
}

}  // namespace solstice::families::gemm
