#include "ir/interpret/hoist.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/integers/integers.h"
#include "ir/interpret/split.h"

namespace solstice::ir {
namespace {

constexpr int64_t kLargestHidden = int64_t{1} << 27;

class Hoister {
 public:
  Hoister(Program& program, Equation& equation, std::vector<Equation>& hidden)
      : program_(program), equation_(equation), hidden_(hidden) {}

  void run() {
    if (equation_.group >= 0) return;  // a step sees the steps before it; left in place
    for (const int id : equation_.free) around_.insert(id);
    equation_.rhs = rewrite(equation_.rhs, false);
  }

 private:
  int64_t extent(int id) const { return equation_.indices[static_cast<size_t>(id)].extent; }

  int64_t points(const std::set<int>& ids) const {
    int64_t n = 1;
    for (const int id : ids) {
      n *= extent(id);
      if (n > (int64_t{1} << 50)) return n;
    }
    return n;
  }

  static void dependencies(const ExprRef& e, std::set<int>& out) {
    if (e->op == Op::kIndex) out.insert(e->id);
    std::set<int> inner;
    for (const ExprRef& a : e->args) dependencies(a, inner);
    for (const int id : e->binders) inner.erase(id);
    out.insert(inner.begin(), inner.end());
  }

  // Could evaluating it where it is not wanted be an error?
  bool risky(const ExprRef& root) const {
    bool out = false;
    walk(root, [&](const Expr& e) {
      out = out || (e.op == Op::kCast && !is_float(e.dtype));
      out = out || (e.op == Op::kReduce && e.args.size() > 1 &&
                    (e.reducer == Reducer::kArgMax || e.reducer == Reducer::kArgMin));
      if (e.op != Op::kRead || e.has_else) return;
      Integers known(equation_.indices, [](int) { return std::nullopt; });
      const auto& shape = program_.tensor(e.id).shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        const ValueRange range = known.interval(known.linear(e.args[d]));
        out = out || range.low < 0 || range.high >= shape[d];
      }
    });
    return out;
  }

  // `guarded`: evaluated only at some of the points around it.
  ExprRef rewrite(const ExprRef& e, bool guarded) {
    if (e->args.empty()) return e;
    const auto known = done_.find(e.get());
    if (known != done_.end()) return known->second;
    auto copy = std::make_shared<Expr>(*e);
    const std::set<int> outside = around_;
    for (const int id : e->binders) around_.insert(id);
    const bool conditional = e->op == Op::kSelect || e->op == Op::kAnd || e->op == Op::kOr || e->op == Op::kReduce;
    for (size_t a = 0; a < copy->args.size(); ++a) {
      const bool first = a == 0 && e->op != Op::kReduce;
      const bool here = guarded || (conditional && !first && e->op != Op::kReduce) ||
                        (e->op == Op::kReduce && e->args.size() > 1 && a == 0);
      if (e->op == Op::kRank && a == 1) {
        const std::set<int> inside = std::move(around_);
        around_ = outside;
        copy->args[a] = rewrite(e->args[a], here);
        around_ = inside;
      } else {
        copy->args[a] = rewrite(e->args[a], here);
      }
    }
    around_ = outside;
    ExprRef out = e->op == Op::kReduce ? hidden(copy, guarded) : ExprRef(copy);
    kept_.push_back(e);
    return done_[e.get()] = out;
  }

  ExprRef hidden(const ExprRef& e, bool guarded) {
    std::set<int> on;
    dependencies(e, on);
    const int64_t own = points(on);
    if (own * 2 > points(around_) || own > kLargestHidden || (guarded && risky(e))) return e;
    Tensor t;
    t.name = "$" + std::to_string(program_.tensors.size());
    t.kind = TensorKind::kLocal;
    t.value = e->kind;
    Equation h = equation_;
    h.free.assign(on.begin(), on.end());
    h.lhs.clear();
    for (const int id : on) {
      t.shape.push_back(extent(id));
      h.lhs.push_back(make_index(id));
    }
    h.target = static_cast<int>(program_.tensors.size());
    h.rhs = e;
    program_.tensors.push_back(std::move(t));
    const ExprRef read = make_read(h.target, e->kind, h.lhs);
    hidden_.push_back(std::move(h));
    return read;
  }

  Program& program_;
  Equation& equation_;
  std::vector<Equation>& hidden_;
  std::set<int> around_;
  std::map<const Expr*, ExprRef> done_;
  std::vector<ExprRef> kept_;
};

}  // namespace

Program hoist_reductions(const Program& program) {
  Program out = program;
  std::vector<Equation> equations;
  std::vector<int> renumbered(program.equations.size());
  for (size_t i = 0; i < program.equations.size(); ++i) {
    Equation e = program.equations[i];
    e.rhs = split_domains(e.indices, e.rhs);
    std::vector<Equation> hidden;
    Hoister(out, e, hidden).run();
    for (Equation& h : hidden) equations.push_back(std::move(h));
    renumbered[i] = static_cast<int>(equations.size());
    equations.push_back(std::move(e));
  }
  // Items refer to the last equation of each run; the hidden ones are found just before it (interpret.cpp).
  for (Item& item : out.items) {
    if (item.equation >= 0) item.equation = renumbered[static_cast<size_t>(item.equation)];
  }
  for (Kernel& k : out.kernels) {
    for (int& e : k.equations) e = renumbered[static_cast<size_t>(e)];
  }
  out.equations = std::move(equations);
  return out;
}

}  // namespace solstice::ir
