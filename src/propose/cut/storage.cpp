#include "propose/cut/storage.h"

#include <optional>

#include "ir/analysis/contraction.h"

namespace solstice::propose {
namespace {

using Format = std::optional<DType>;  // none: of nothing that counts

Format joined(Format a, DType b) {
  if (!a || *a == b) return b;
  return *a == DType::kF64 || b == DType::kF64 ? DType::kF64 : DType::kF32;
}

bool has_reduction(const ir::Equation& equation) {
  bool out = false;
  ir::walk(equation.rhs, [&](const ir::Expr& e) { out = out || e.op == ir::Op::kReduce; });
  return out;
}

class Formats {
 public:
  explicit Formats(const ir::Program& problem)
      : program_(problem), formats_(problem.tensors.size()), statistic_(problem.tensors.size()) {
    for (size_t t = 0; t < problem.tensors.size(); ++t) formats_[t] = problem.tensors[t].dtype;
    // In text order operands come first, but for the steps of a recurrence, which count with what else they read.
    for (const ir::Equation& equation : problem.equations) add(equation);
  }

  DType of(size_t t) const {
    const ir::Tensor& tensor = program_.tensors[t];
    if (!tensor.dtype && tensor.value == ir::ValueKind::kBool) return DType::kBool;
    if (!tensor.dtype && tensor.value == ir::ValueKind::kInt) return DType::kI64;
    return formats_[t].value_or(DType::kF32);
  }

 private:
  void add(const ir::Equation& equation) {
    const auto target = static_cast<size_t>(equation.target);
    if (program_.tensors[target].dtype) return;
    const bool statistic = has_reduction(equation) && !ir::has_contraction(equation);
    Format operands, statistics;
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      if (e.op == ir::Op::kCast && is_float(e.dtype)) operands = joined(operands, e.dtype);
      if (e.op != ir::Op::kRead || !formats_[static_cast<size_t>(e.id)]) return;
      const DType read = *formats_[static_cast<size_t>(e.id)];
      if (!is_float(read)) return;
      Format& counted = statistic_[static_cast<size_t>(e.id)] && !statistic ? statistics : operands;
      counted = joined(counted, read);
    });
    statistic_[target] = statistic || (!operands && statistics);
    const Format widest = operands ? operands : statistics;
    const bool narrow = widest == DType::kF16 || widest == DType::kBF16;
    const DType wanted = widest == DType::kF64 ? DType::kF64 : narrow && !statistic_[target] ? *widest : DType::kF32;
    formats_[target] = joined(formats_[target], wanted);  // of all its pieces
  }

  const ir::Program& program_;
  std::vector<Format> formats_;
  std::vector<bool> statistic_;
};

}  // namespace

std::vector<DType> storage_formats(const ir::Program& problem) {
  const Formats formats(problem);
  std::vector<DType> out;
  for (size_t t = 0; t < problem.tensors.size(); ++t) out.push_back(formats.of(t));
  return out;
}

}  // namespace solstice::propose
