// Bound programs by hand, for tests of what lies behind the binder.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace solstice::testing {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { program.name = std::move(name); }

  int tensor(std::string name, ir::TensorKind kind, std::vector<int64_t> shape, DType dtype = DType::kF32) {
    ir::Tensor t;
    t.name = std::move(name);
    t.kind = kind;
    t.value = dtype == DType::kBool ? ir::ValueKind::kBool
              : is_integer(dtype)   ? ir::ValueKind::kInt
                                    : ir::ValueKind::kReal;
    if (kind != ir::TensorKind::kLocal) t.dtype = dtype;
    t.strides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) t.strides[d - 1] = t.strides[d] * shape[d];
    t.shape = std::move(shape);
    program.tensors.push_back(std::move(t));
    return static_cast<int>(program.tensors.size()) - 1;
  }
  int input(std::string name, std::vector<int64_t> shape, DType dtype = DType::kF32) {
    return tensor(std::move(name), ir::TensorKind::kInput, std::move(shape), dtype);
  }
  int output(std::string name, std::vector<int64_t> shape, DType dtype = DType::kF32) {
    return tensor(std::move(name), ir::TensorKind::kOutput, std::move(shape), dtype);
  }
  int local(std::string name, std::vector<int64_t> shape) {
    return tensor(std::move(name), ir::TensorKind::kLocal, std::move(shape));
  }

  void kernel(std::string name, std::string family) {
    ir::Kernel k;
    k.name = std::move(name);
    k.family = std::move(family);
    program.kernels.push_back(std::move(k));
  }

  // Starts an equation; its indices are made by index() and closed by define().
  ir::ExprRef index(std::string name, int64_t extent, bool free = true) {
    current_.indices.push_back({std::move(name), extent, ""});
    const int id = static_cast<int>(current_.indices.size()) - 1;
    if (free) current_.free.push_back(id);
    return ir::make_index(id);
  }
  ir::ExprRef bound(std::string name, int64_t extent) { return index(std::move(name), extent, false); }
  void define(int target, std::vector<ir::ExprRef> lhs, ir::ExprRef rhs) {
    current_.target = target;
    current_.lhs = std::move(lhs);
    current_.rhs = std::move(rhs);
    program.equations.push_back(current_);
    const int id = static_cast<int>(program.equations.size()) - 1;
    program.kernels.back().equations.push_back(id);
    program.tensors[static_cast<size_t>(target)].kernel = static_cast<int>(program.kernels.size()) - 1;
    current_ = {};
  }
  ir::ExprRef read(int tensor, std::vector<ir::ExprRef> args, ir::ExprRef otherwise = nullptr) {
    return ir::make_read(tensor, program.tensor(tensor).value, std::move(args), std::move(otherwise));
  }

  ir::Program program;

 private:
  ir::Equation current_;
};

inline ir::ExprRef num(double v) { return ir::make_real(v); }
inline ir::ExprRef whole(int64_t v) { return ir::make_int(v); }
inline ir::ExprRef op(ir::Op o, std::vector<ir::ExprRef> args) { return ir::make(o, std::move(args)); }

}  // namespace solstice::testing

namespace solstice::ir {
inline ExprRef operator+(ExprRef a, ExprRef b) { return make(Op::kAdd, {std::move(a), std::move(b)}); }
inline ExprRef operator-(ExprRef a, ExprRef b) { return make(Op::kSub, {std::move(a), std::move(b)}); }
inline ExprRef operator*(ExprRef a, ExprRef b) { return make(Op::kMul, {std::move(a), std::move(b)}); }
inline ExprRef operator/(ExprRef a, ExprRef b) { return make(Op::kDiv, {std::move(a), std::move(b)}); }
}  // namespace solstice::ir
