#include "lang/rename.h"

#include <cstdlib>
#include <memory>

namespace solstice::lang {
namespace {

class Renamer {
 public:
  explicit Renamer(const std::function<std::string(const std::string&)>& rename, bool f32 = false)
      : rename_(rename), f32_(f32) {}

  void change(std::vector<Item>& items) {
    for (Item& item : items) std::visit([this](auto& node) { change(node); }, item.node);
  }

 private:
  void change(std::string& name) {
    if (!name.empty()) name = rename_(name);
  }

  void change(ExprRef& expr) {
    if (!expr) return;
    auto out = std::make_shared<Expr>(*expr);
    if (out->kind == ExprKind::kName || out->kind == ExprKind::kRead) change(out->text);
    if (out->kind == ExprKind::kNumber && f32_) {
      expr = number(static_cast<float>(std::strtod(out->text.c_str(), nullptr)));
      return;
    }
    for (ExprRef& arg : out->args) change(arg);
    for (Range& binder : out->binders) change(binder);
    change(out->otherwise);
    change(out->where);
    expr = std::move(out);
  }

  void change(std::vector<ExprRef>& list) {
    for (ExprRef& expr : list) change(expr);
  }

  void change(Range& range) {
    change(range.name);
    change(range.extent);
  }

  void change(KnobValue& value) {
    change(value.expr);
    for (KnobValue& item : value.items) change(item);
    for (Knob& member : value.members) change(member.value);
  }

  void change(std::vector<Knob>& knobs) {
    for (Knob& knob : knobs) change(knob.value);
  }

  void change(std::vector<Formal>& formals) {
    for (Formal& formal : formals) {
      change(formal.name);
      change(formal.type.extents);
    }
  }

  void change(Clause& clause) { change(clause.knobs); }
  void change(Source&) {}
  void change(View& view) { change(view.equation); }
  void change(Assume& assume) { change(assume.equation); }

  void change(Dims& dims) {
    for (Dim& dim : dims.dims) {
      change(dim.name);
      change(dim.value);
      change(dim.low);
      change(dim.high);
    }
  }

  void change(Decl& decl) {
    change(decl.name);
    change(decl.type.extents);
    change(decl.strides);
    change(decl.same);
    change(decl.same_at);
    change(decl.into);
    change(decl.distribution_args);
  }

  void change(Fn& fn) {
    for (std::string& parameter : fn.parameters) change(parameter);
    change(fn.body);
  }

  void change(Def& def) {
    for (Static& each : def.statics) {
      change(each.name);
      change(each.value);
    }
    change(def.formals);
    change(def.results);
    change(def.items);
  }

  void change(Opaque& opaque) {
    change(opaque.results);
    for (OpaqueArg& arg : opaque.args) change(arg.expr);
  }

  void change(Call& call) {
    for (std::string& result : call.results) change(result);
    for (auto& [name, value] : call.statics) {
      change(name);
      change(value);
    }
    for (CallArg& arg : call.args) {
      change(arg.tensor);
      change(arg.fixed);
    }
    for (Override& override : call.overrides) change(override.knobs);
  }

  void change(Equation& equation) {
    change(equation.target);
    change(equation.lhs);
    change(equation.rhs);
    for (Range& range : equation.ranges) change(range);
  }

  void change(Kernel& kernel) {
    change(kernel.knobs);
    change(kernel.items);
  }

  const std::function<std::string(const std::string&)>& rename_;
  const bool f32_;
};

}  // namespace

Program renamed(Program program, const std::function<std::string(const std::string&)>& rename) {
  Renamer(rename).change(program.items);
  return program;
}

Program with_f32_numbers(Program program) {
  const std::function<std::string(const std::string&)> keep = [](const std::string& name) { return name; };
  Renamer(keep, true).change(program.items);
  return program;
}

}  // namespace solstice::lang
