#include "propose/facts/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/analysis/contraction.h"

namespace solstice::propose {
namespace {

bool in_memory(const ir::Tensor& tensor) { return tensor.kind != ir::TensorKind::kLocal; }

std::string format_of(const ir::Tensor& tensor) { return tensor.dtype ? std::string(name_of(*tensor.dtype)) : "?"; }

std::string kind_of_kernel(const ir::Program& program, const std::vector<int>& equations) {
  std::set<std::string> reductions, formats;
  for (const int id : equations) {
    const ir::Equation& equation = program.equation(id);
    if (ir::has_contraction(equation)) reductions.insert("contraction");
    if (equation.group >= 0) reductions.insert("recurrence");
    if (in_memory(program.target_of(equation))) formats.insert(format_of(program.target_of(equation)));
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      const bool reduces = e.op == ir::Op::kReduce || e.op == ir::Op::kRank;
      if (reduces && !(e.reducer == ir::Reducer::kSum && ir::has_contraction(equation)))
        reductions.insert(std::string(name_of(e.reducer)));
      if (e.op == ir::Op::kRead && in_memory(program.tensor(e.id))) formats.insert(format_of(program.tensor(e.id)));
    });
  }
  if (reductions.empty()) reductions.insert("map");
  return fmt::format("{}: {}", fmt::join(reductions, ", "), fmt::join(formats, ", "));
}

// "12" of 4096, "12'" of 4095.
std::string extent_text(int64_t extent) {
  if (extent <= 0) return "0";
  const auto power = std::lround(std::log2(static_cast<double>(extent)));
  return fmt::format("{}{}", power, extent % 8 == 0 || extent < 8 ? "" : "'");
}

// Writes the equations and meets their tensors and indices.
class Writer {
 public:
  explicit Writer(const ir::Program& program) : program_(program) {}

  void add(const ir::Equation& equation) {
    equation_ = &equation;
    indices_.clear();
    written_.clear();
    if (!form_.empty()) form_ += "; ", extents_ += ";";
    tensor(equation.target);
    list(equation.lhs);
    form_ += " = ";
    expression(equation.rhs);
  }

  const std::string& form() const { return form_; }
  const std::string& extents() const { return extents_; }

 private:
  void list(const std::vector<ir::ExprRef>& expressions) {
    form_ += '[';
    for (const ir::ExprRef& one : expressions) {
      if (&one != &expressions.front()) form_ += ',';
      expression(one);
    }
    form_ += ']';
  }

  void tensor(int id) {
    const auto [at, fresh] = tensors_.try_emplace(id, tensors_.size());
    form_ += fmt::format("t{}", at->second);
    const ir::Tensor& found = program_.tensor(id);
    if (!fresh || !in_memory(found)) return;
    const bool weight = found.kind == ir::TensorKind::kParam || found.kind == ir::TensorKind::kBuffer;
    const auto contiguous = std::find(found.strides.begin(), found.strides.end(), 1);
    form_ += fmt::format(":{}{}", weight ? "w " : "", format_of(found));
    if (contiguous != found.strides.end()) form_ += fmt::format("@{}", contiguous - found.strides.begin());
  }

  void index(int id) {
    const auto [at, fresh] = indices_.try_emplace(id, indices_.size());
    form_ += fmt::format("i{}", at->second);
    if (fresh) extents_ += ' ' + extent_text(equation_->indices[static_cast<size_t>(id)].extent);
  }

  // A function's argument may be in it several times: it is written once.
  void expression(const ir::ExprRef& e) {
    if (e->args.empty()) return fresh(e);
    const auto [at, unseen] = written_.try_emplace(e.get(), written_.size());
    if (unseen) return fresh(e);
    form_ += fmt::format("#{}", at->second);
  }

  void fresh(const ir::ExprRef& e) {
    constexpr int64_t kTold = 16;  // strides, windows and the like; larger ones follow from extents
    switch (e->op) {
      case ir::Op::kReal:
        form_ += 'r';
        return;
      case ir::Op::kInt:
        form_ += std::abs(e->integer) <= kTold ? std::to_string(e->integer) : "n";
        return;
      case ir::Op::kIndex:
        return index(e->id);
      case ir::Op::kRead:
        tensor(e->id);
        return list(e->args);
      case ir::Op::kReduce:
      case ir::Op::kRank:
        form_ += name_of(e->reducer);
        for (const int binder : e->binders) form_ += ' ', index(binder);
        return list(e->args);
      case ir::Op::kCast:
        form_ += name_of(e->dtype);
        return list(e->args);
      default:
        form_ += name_of(e->op);
        return list(e->args);
    }
  }

  const ir::Program& program_;
  const ir::Equation* equation_ = nullptr;
  std::string form_, extents_;
  std::map<int, size_t> tensors_, indices_;
  std::map<const ir::Expr*, size_t> written_;  // of this equation, in their order
};

}  // namespace

Structure structure_of(const ir::Program& program, const std::vector<int>& equations) {
  Writer writer(program);
  for (const int id : equations) writer.add(program.equation(id));
  Structure out;
  out.kind = kind_of_kernel(program, equations);
  out.form = writer.form();
  out.extents = writer.extents();
  return out;
}

}  // namespace solstice::propose
