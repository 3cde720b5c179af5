#include "ir/normal/nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/domain.h"
#include "ir/equal.h"

namespace solstice::ir::normal {
namespace {

bool is_reduction(const Expr& e) { return e.op == Op::kReduce || e.op == Op::kRank; }

class Separator {
 public:
  explicit Separator(const Program& program) : out_(program) {
    out_.equations.clear();
    std::erase_if(out_.items, [](const Item& i) { return i.opaque < 0; });
  }

  void add(const Equation& equation) {
    Equation e = equation;
    counter_ = 0;
    if (e.group < 0) {
      const bool top = is_reduction(*e.rhs);
      e.rhs = top ? inside(e, e.rhs) : visit(e, e.rhs);
    }
    push(std::move(e));
  }

  Program run() && { return std::move(out_); }

 private:
  void push(Equation e) {
    out_.items.push_back({static_cast<int>(out_.equations.size()), -1, -1});
    out_.equations.push_back(std::move(e));
  }

  ExprRef inside(const Equation& e, const ExprRef& x) {
    if (x->args.empty()) return x;
    auto copy = std::make_shared<Expr>(*x);
    for (ExprRef& a : copy->args) a = visit(e, a);
    return copy;
  }

  ExprRef visit(const Equation& e, const ExprRef& x) {
    const ExprRef done = inside(e, x);
    return is_reduction(*x) ? node(e, done) : done;
  }

  ExprRef node(const Equation& e, const ExprRef& reduction) {
    Equation own;
    own.indices = e.indices;
    own.rhs = reduction;
    const IndexSet free = indices_of(reduction);
    own.free.assign(free.begin(), free.end());
    std::vector<ExprRef> at;
    for (const int i : own.free) at.push_back(make_index(i));
    own.lhs = at;
    for (const auto& [hash, known] : known_[structural_hash(out_, own)]) {
      if (same_up_to_names(out_, known, out_, own)) return make_read(known.target, reduction->kind, at);
    }
    Tensor t;
    do t.name = out_.tensor(e.target).name + "." + std::to_string(++counter_);
    while (out_.find_tensor(t.name) >= 0);
    t.value = reduction->kind;
    for (const int i : own.free) t.shape.push_back(e.indices[static_cast<size_t>(i)].extent);
    own.target = static_cast<int>(out_.tensors.size());
    out_.tensors.push_back(std::move(t));
    known_[structural_hash(out_, own)].emplace_back(0, own);
    push(own);
    return make_read(own.target, reduction->kind, at);
  }

  Program out_;
  std::map<uint64_t, std::vector<std::pair<int, Equation>>> known_;
  int counter_ = 0;
};

}  // namespace

Program separated(const Program& program) {
  Separator separator(program);
  for (const Equation& e : program.equations) separator.add(e);
  return std::move(separator).run();
}

}  // namespace solstice::ir::normal
