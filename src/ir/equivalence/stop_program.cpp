#include "ir/equivalence/stop_program.h"

#include <string>
#include <utility>

#include "ir/analysis/reads.h"

namespace solstice::ir {
namespace {

class StopWriter {
 public:
  StopWriter(const Program& program, const std::set<int>& without)
      : program_(program), without_(without), out_{program, {}, {}} {}

  StopProgram run() {
    const Program& program = program_;
    for (size_t e = 0; e < program.equations.size(); ++e) {
      equation_ = &program.equations[e];
      if (without_.count(equation_->target)) continue;
      points_ = equation_->free;
      visit(equation_->rhs);
      const Tensor& target = program.target_of(*equation_);
      const bool asked = target.kind == TensorKind::kOutput || target.into >= 0;  // the same in both
      if (asked) continue;
      for (const Stop& stop : stops_of_store(program, *equation_)) add(stop);
    }
    return std::move(out_);
  }

 private:
  void visit(const ExprRef& e) {
    for (const Stop& stop : stops_of(program_, *equation_, e)) add(stop);
    switch (e->op) {
      case Op::kSelect:
        visit(e->args[0]);
        under(e->args[0], true, e->args[1]);
        return under(e->args[0], false, e->args[2]);
      case Op::kAnd:
      case Op::kOr:
        visit(e->args[0]);
        return under(e->args[0], e->op == Op::kAnd, e->args[1]);
      case Op::kReduce:
      case Op::kRank:
        return reduction(*e);
      case Op::kRead:
        return read(*e);
      default:
        for (const ExprRef& a : e->args) visit(a);
    }
  }

  void under(const ExprRef& condition, bool holds, const ExprRef& e) {
    conditions_.push_back(holds ? condition : make(Op::kNot, {condition}));
    visit(e);
    conditions_.pop_back();
  }

  void reduction(const Expr& e) {
    if (e.op == Op::kRank) visit(e.args[1]);
    const size_t outside = points_.size();
    points_.insert(points_.end(), e.binders.begin(), e.binders.end());
    const bool filtered = e.op == Op::kReduce && e.args.size() > 1;
    if (filtered) visit(e.args[1]);
    if (filtered)
      under(e.args[1], true, e.args[0]);
    else
      visit(e.args[0]);
    points_.resize(outside);
  }

  void read(const Expr& e) {
    const std::vector<ExprRef> indices = read_indices(e);
    for (const ExprRef& i : indices) visit(i);
    if (!e.has_else) return;
    ExprRef inside;
    for (size_t d = 0; d < indices.size(); ++d) {
      for (const ExprRef& side : {make(Op::kGe, {indices[d], make_int(0)}),
                                  make(Op::kLt, {indices[d], make_int(program_.tensor(e.id).shape[d])})})
        inside = inside ? make(Op::kAnd, {inside, side}) : side;
    }
    if (inside) under(inside, false, e.args.back());
  }

  void add(const Stop& stop) {
    const ExprRef stopped = make_read(function_of(stop), ValueKind::kBool, {stop.value});
    ExprRef where;
    for (const ExprRef& c : conditions_) where = where ? make(Op::kAnd, {where, c}) : c;
    Equation e = *equation_;
    e.lhs.clear(), e.free.clear();
    e.group = e.step_index = -1;
    e.rhs = stopped;
    if (!points_.empty())
      e.rhs = make_reduce(Reducer::kAny, points_, stopped, where);
    else if (where)
      e.rhs = make(Op::kAnd, {where, stopped});
    e.target = new_tensor("stop " + std::to_string(out_.stops.size()), {});
    out_.stops.push_back(e.target);
    out_.program.equations.push_back(std::move(e));
  }

  int function_of(const Stop& stop) {
    for (const auto& [tensor, known] : out_.functions) {
      if (known.name() == stop.name()) return tensor;
    }
    const int tensor = new_tensor(stop.name(), {1});
    out_.functions[tensor] = stop;
    return tensor;
  }

  // No name of the language has a space.
  int new_tensor(std::string name, std::vector<int64_t> shape) {
    Tensor t;
    t.name = std::move(name);
    t.kind = TensorKind::kLocal;
    t.value = ValueKind::kBool;
    t.shape = std::move(shape);
    out_.program.tensors.push_back(std::move(t));
    return static_cast<int>(out_.program.tensors.size()) - 1;
  }

  const Program& program_;
  const std::set<int>& without_;
  StopProgram out_;
  const Equation* equation_ = nullptr;
  std::vector<int> points_;  // indices in sight
  std::vector<ExprRef> conditions_;
};

}  // namespace

StopProgram stop_program(const Program& program, const std::set<int>& without) {
  return StopWriter(program, without).run();
}

}  // namespace solstice::ir
