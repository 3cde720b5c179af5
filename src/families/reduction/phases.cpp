#include "families/reduction/phases.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

#include "ir/walk_distinct.h"

namespace solstice::families::reduction {
namespace {

using ir::ExprRef;
using ir::Op;

bool is_expensive(Op op) {
  switch (op) {
    case Op::kDiv:
    case Op::kFmod:
    case Op::kRemainder:
    case Op::kFloorDivide:
    case Op::kPow:
    case Op::kExp:
    case Op::kExpm1:
    case Op::kLog:
    case Op::kLog1p:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSin:
    case Op::kCos:
    case Op::kAtan2:
    case Op::kErfInv:
    case Op::kLgamma:
      return true;
    default:
      return false;
  }
}

class Planner {
 public:
  explicit Planner(const Shape& shape) : shape_(shape) {}

  Phases run(bool keep_values) {
    for (size_t k = 0; k < shape_.flat.equations.size(); ++k) place(static_cast<int>(k));
    choose_resident(keep_values);
    count_resident();
    return std::move(out_);
  }

 private:
  Sweep& sweep(size_t level) {
    if (out_.sweeps.size() <= level) out_.sweeps.resize(level + 1);
    return out_.sweeps[level];
  }

  // First sweep in which the value of `e` can be computed; its reductions are placed on the way.
  size_t level_of(const ExprRef& e) {
    if (const auto found = levels_.find(e.get()); found != levels_.end()) return found->second;
    size_t level = 0;
    for (const ExprRef& arg : e->args) level = std::max(level, level_of(arg));
    if (e->op == Op::kReduce) {
      sweep(level).reductions.push_back(e);
      ++level;
    }
    levels_.emplace(e.get(), level);
    return level;
  }

  void place(int k) {
    const codegen::FlatEquation& equation = shape_.flat.equations[static_cast<size_t>(k)];
    const size_t level = level_of(equation.rhs);
    const bool along =
        std::any_of(equation.lhs.begin(), equation.lhs.end(), [&](const ExprRef& e) { return shape_.along_row(e); });
    if (along)
      sweep(level).stores.push_back(k);
    else
      out_.row_outputs.push_back(k);
  }

  std::vector<ExprRef> roots(const Sweep& s) const {
    std::vector<ExprRef> out;
    for (const ExprRef& r : s.reductions) out.insert(out.end(), r->args.begin(), r->args.end());
    for (const int k : s.stores) out.push_back(shape_.flat.equations[static_cast<size_t>(k)].rhs);
    return out;
  }

  bool along_row(const ExprRef& e) {
    if (const auto found = along_.find(e.get()); found != along_.end()) return found->second;
    const bool along = std::any_of(shape_.columns.begin(), shape_.columns.end(), [&](const codegen::Loop& loop) {
      return std::any_of(loop.indices.begin(), loop.indices.end(), [&](int id) { return free_.depends_on(e, id); });
    });
    return along_[e.get()] = along;
  }

  // Loaded from memory for this row alone (weights along the row are shared by all rows and stay in cache).
  bool is_row_data(const ExprRef& e) const {
    if (e->op != Op::kRead) return false;
    return shape_.rows.empty() || std::any_of(shape_.rows.begin(), shape_.rows.end(), [&](const codegen::Loop& loop) {
             return std::any_of(loop.indices.begin(), loop.indices.end(),
                                [&](int id) { return codegen::depends_on(e, id); });
           });
  }

  bool worth_keeping(const ExprRef& e) {
    if (e->op == Op::kRead) return is_row_data(e);
    if (const auto found = costly_.find(e.get()); found != costly_.end()) return found->second;
    bool costly = is_expensive(e->op);
    for (const ExprRef& arg : e->args) {
      costly |= along_row(arg) && arg->op != Op::kRead && arg->op != Op::kReduce && worth_keeping(arg);
    }
    return costly_[e.get()] = costly;
  }

  // Visits values along the row below `root`, parents first, until `stop` says so.
  void descend(const ExprRef& root, std::set<const ir::Expr*>& seen, const std::function<bool(const ExprRef&)>& stop) {
    if (root->op == Op::kReduce || !along_row(root) || !seen.insert(root.get()).second || stop(root)) return;
    for (const ExprRef& arg : root->args) descend(arg, seen, stop);
  }

  void choose_resident(bool keep_values) {
    std::unordered_map<const ir::Expr*, size_t> evaluated;  // value -> sweep that has it first
    std::set<const ir::Expr*> kept;
    for (size_t p = 0; p < out_.sweeps.size(); ++p) {
      std::set<const ir::Expr*> seen;
      for (const ExprRef& root : roots(out_.sweeps[p])) {
        descend(root, seen, [&](const ExprRef& e) {
          const auto found = evaluated.find(e.get());
          const bool reuse = keep_values && found != evaluated.end() && worth_keeping(e);
          if (!reuse && is_row_data(e)) out_.sweeps[p].reads.push_back(e);
          if (!reuse) return false;
          out_.sweeps[p].uses.push_back(e);
          if (kept.insert(e.get()).second) out_.sweeps[found->second].keeps.push_back(e);
          return true;
        });
      }
      for (const ir::Expr* e : seen) evaluated.emplace(e, p);
    }
  }

  void count_resident() {
    for (size_t p = 0; p + 1 < out_.sweeps.size(); ++p) {
      std::set<const ir::Expr*> live;
      for (size_t q = p + 1; q < out_.sweeps.size(); ++q) {
        for (const ExprRef& e : out_.sweeps[q].uses) {
          for (size_t r = 0; r <= p; ++r) {
            for (const ExprRef& k : out_.sweeps[r].keeps) {
              if (k == e) live.insert(e.get());
            }
          }
        }
      }
      out_.resident_at_once = std::max(out_.resident_at_once, live.size());
    }
  }

  const Shape& shape_;
  Phases out_;
  std::unordered_map<const ir::Expr*, size_t> levels_;
  std::unordered_map<const ir::Expr*, bool> along_, costly_;
  codegen::FreeIndices free_;  // of nodes that `shape_` holds
};

void add_reads(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op == Op::kRead && std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
  if (e->op == Op::kReduce) return;
  for (const ExprRef& arg : e->args) add_reads(arg, out);
}

bool holds(const ExprRef& root, Op op) {
  bool found = false;
  ir::walk_distinct(root, [&](const ir::Expr& e) { found = found || e.op == op; });
  return found;
}

}  // namespace

bool is_costly(const ExprRef& e) {
  return is_expensive(e->op) || std::any_of(e->args.begin(), e->args.end(), [](const ExprRef& arg) {
           return arg->op != Op::kReduce && is_costly(arg);
         });
}

EarlyReads early_reads_of(const Shape& shape) {
  constexpr size_t kMost = 8;  // registers that they take
  EarlyReads out;
  std::set<const ir::Expr*> seen;
  const std::function<void(const ExprRef&)> visit = [&](const ExprRef& e) {
    if (!seen.insert(e.get()).second) return;
    for (const ExprRef& arg : e->args) visit(arg);
    if (e->op != Op::kRead || shape.along_row(e) || holds(e, Op::kReduce)) return;
    const bool gather =
        std::any_of(e->args.begin(), e->args.end(), [](const ExprRef& arg) { return holds(arg, Op::kRead); });
    if (out.direct.size() + out.gathers.size() < kMost) (gather ? out.gathers : out.direct).push_back(e);
  };
  for (const codegen::FlatEquation& equation : shape.flat.equations) visit(equation.rhs);
  return out;
}

std::vector<ExprRef> reads_of_stores(const Shape& shape, const Phases& phases) {
  std::vector<ExprRef> out;
  for (const Sweep& sweep : phases.sweeps) {
    for (const int k : sweep.stores) add_reads(shape.flat.equations[static_cast<size_t>(k)].rhs, out);
  }
  return out;
}

Phases phases_of(const Shape& shape, bool keep_values) { return Planner(shape).run(keep_values); }

}  // namespace solstice::families::reduction
