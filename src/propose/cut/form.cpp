#include "propose/cut/form.h"

#include <bit>
#include <unordered_map>

namespace solstice::propose {
namespace {

class FormWriter {
 public:
  std::string write(const ir::Program& shown) {
    for (const ir::Tensor& tensor : shown.tensors) add(tensor);
    for (const ir::Equation& equation : shown.equations) add(equation);
    for (const ir::Kernel& kernel : shown.kernels) add(kernel.equations);
    return std::move(out_);
  }

 private:
  void number(int64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  template <typename E>
  void choice(E value) {
    number(static_cast<int64_t>(value));
  }

  template <typename T>
  void add(const std::vector<T>& list) {
    number(static_cast<int64_t>(list.size()));
    for (const T value : list) number(static_cast<int64_t>(value));
  }

  void add(const std::string& text) {
    number(static_cast<int64_t>(text.size()));
    out_ += text;
  }

  void add(const ir::Tensor& t) {
    choice(t.kind), choice(t.value);
    number(t.dtype ? static_cast<int64_t>(*t.dtype) : -1);
    add(t.shape), add(t.strides);
    number(t.into), number(t.same), number(t.same_offset), number(t.any_value), number(t.kernel);
    add(t.distribution);
    number(static_cast<int64_t>(t.distribution_args.size()));
    for (const double value : t.distribution_args) number(std::bit_cast<int64_t>(value));
  }

  // Equations whose indices have the same names share them in generated code.
  void add(const ir::Equation& e) {
    number(e.target);
    number(static_cast<int64_t>(e.indices.size()));
    for (const ir::Index& index : e.indices) add(index.name), number(index.extent);
    add(e.free);
    number(e.group), number(e.step_index), number(e.step_sign);
    number(static_cast<int64_t>(e.lhs.size()));
    for (const ir::ExprRef& place : e.lhs) number(node(place));
    number(node(e.rhs));
  }

  // The number of a node, which is written before those that read it, once.
  int64_t node(const ir::ExprRef& e) {
    const auto known = nodes_.find(e.get());
    if (known != nodes_.end()) return known->second;
    std::vector<int64_t> args;
    for (const ir::ExprRef& arg : e->args) args.push_back(node(arg));
    choice(e->op), choice(e->kind), choice(e->reducer), choice(e->dtype);
    number(std::bit_cast<int64_t>(e->real));
    number(e->integer), number(e->id), number(e->has_else);
    add(e->binders), add(args);
    return nodes_.emplace(e.get(), static_cast<int64_t>(nodes_.size())).first->second;
  }

  std::string out_;
  std::unordered_map<const ir::Expr*, int64_t> nodes_;
};

}  // namespace

std::string form_of(const ir::Program& shown) { return FormWriter().write(shown); }

}  // namespace solstice::propose
