#include "ir/interpret/compile.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "ir/analysis/stops.h"
#include "ir/integers/integers.h"
#include "ir/interpret/exact.h"
#include "ir/interpret/split.h"

namespace solstice::ir {
namespace {

constexpr int64_t kLongRow = 64;  // where it pays to run a reduction's rows one after the other

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

class Compiler {
 public:
  Compiler(const Program& program, const Equation& equation, bool with_branches)
      : program_(program), equation_(equation), with_branches_(with_branches), exact_(program, equation) {}

  Routine run() {
    out_.target = equation_.target;
    out_.text = to_text(program_, equation_);
    add_frame(-1, equation_.free);
    out_.result = value(equation_.rhs, 0, -1);
    const auto strides = row_major_strides(program_.target_of(equation_).shape);
    Affine flat;
    for (size_t d = 0; d < equation_.lhs.size(); ++d) add_scaled(flat, *as_affine(equation_.lhs[d]), strides[d]);
    out_.store = address(flat, 0);
    for (size_t i = 0; i < equation_.free.size(); ++i) {
      if (equation_.group >= 0 && equation_.free[i] == equation_.step_index) out_.step_position = static_cast<int>(i);
    }
    return std::move(out_);
  }

 private:
  Frame& frame(int f) { return out_.frames[static_cast<size_t>(f)]; }

  int add_frame(int parent, const std::vector<int>& indices) {
    Frame f;
    f.parent = parent;
    f.indices = indices;
    for (const int id : indices) f.extents.push_back(equation_.indices[static_cast<size_t>(id)].extent);
    out_.frames.push_back(std::move(f));
    return static_cast<int>(out_.frames.size()) - 1;
  }

  static void add_scaled(Affine& sum, const Affine& form, int64_t factor) {
    std::map<int, int64_t> terms(sum.terms.begin(), sum.terms.end());
    for (const auto& [id, c] : form.terms) terms[id] += c * factor;
    sum.offset += form.offset * factor;
    sum.terms.clear();
    for (const auto& [id, c] : terms) {
      if (c != 0) sum.terms.emplace_back(id, c);
    }
  }

  int position_in(int f, int id) {
    const auto& ids = frame(f).indices;
    const auto found = std::find(ids.begin(), ids.end(), id);
    return found == ids.end() ? -1 : static_cast<int>(found - ids.begin());
  }

  // The frame of the chain of `f` that owns the index.
  int owner(int id, int f) {
    while (f > 0 && position_in(f, id) < 0) f = frame(f).parent;
    return f;
  }

  int deepest(const Affine& form, int f) {
    int out = -1;
    for (const auto& [id, c] : form.terms) out = std::max(out, owner(id, f));
    return out;
  }

  Address address(const Affine& form, int f) {
    Address a;
    a.constant = form.offset;
    Affine rest;
    for (const auto& [id, c] : form.terms) {
      if (owner(id, f) == f) {
        a.own.emplace_back(position_in(f, id), c);
      } else {
        rest.terms.emplace_back(id, c);
      }
    }
    if (!rest.terms.empty()) a.imported = imported_integer(rest, f);
    return a;
  }

  // An integer register of `f` that holds a form of outer indices.
  int imported_integer(const Affine& form, int f) {
    const auto key = std::pair(f, form.terms);
    const auto known = integers_.find(key);
    if (known != integers_.end()) return known->second;
    int out = -1;
    if (deepest(form, f) == f) {
      AddressRegister r;
      r.address = address(form, f);
      r.out = out = frame(f).integer_registers++;
      frame(f).addresses.push_back(std::move(r));
    } else {
      const int from = imported_integer(form, frame(f).parent);
      out = frame(f).integer_registers++;
      frame(f).integer_imports.push_back({from, out});
    }
    integers_[key] = out;
    return out;
  }

  // A value of frame `home`, as a register of the inner frame `f`.
  int import(int reg, int home, int f) {
    if (home == f) return reg;
    const auto key = std::tuple(home, reg, f);
    const auto known = imports_.find(key);
    if (known != imports_.end()) return known->second;
    const int from = import(reg, home, frame(f).parent);
    const int to = frame(f).registers++;
    frame(f).imports.push_back({from, to});
    imports_[key] = to;
    return to;
  }

  // Must it be kept from points where it is not wanted?
  bool risky(const ExprRef& e) {
    const auto known = risky_.find(e.get());
    if (known != risky_.end()) return known->second;
    bool out = e->op == Op::kRead ? !e->has_else && needs_check(*e) : may_stop(*e) || exact_.may_leave(e);
    for (const ExprRef& a : e->args) out = out || risky(a);
    risky_[e.get()] = out;
    return out;
  }

  bool inside(const ExprRef& index, int64_t extent) {
    Integers known(equation_.indices, [](int) { return std::nullopt; });
    const ValueRange range = known.interval(known.linear(index));
    return range.low >= 0 && range.high < extent;
  }

  bool needs_check(const Expr& e) {
    const auto& shape = program_.tensor(e.id).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!inside(e.args[d], shape[d])) return true;
    }
    return false;
  }

  // Index ids that the value depends on from outside.
  const std::set<int>& dependencies(const ExprRef& e) {
    const auto known = dependencies_.find(e.get());
    if (known != dependencies_.end()) return known->second;
    std::set<int> out;
    if (e->op == Op::kIndex) out.insert(e->id);
    for (const ExprRef& a : e->args) out.insert(dependencies(a).begin(), dependencies(a).end());
    for (const int id : e->binders) out.erase(id);
    kept_.push_back(e);
    return dependencies_[e.get()] = std::move(out);
  }

  int home_of(const ExprRef& e, int f) {
    if (risky(e)) return f;
    int out = 0;
    for (const int id : dependencies(e)) out = std::max(out, owner(id, f));
    return out;
  }

  // The register of frame `f` that holds `e`.
  int value(const ExprRef& e, int f, int mask) {
    const int home = home_of(e, f);
    const bool masked = mask >= 0 && risky(e);
    const auto key = std::tuple(e.get(), home, masked ? mask : -1);
    auto known = values_.find(key);
    if (known == values_.end()) {
      const int reg = emit(e, home, masked ? mask : -1);
      known = values_.emplace(key, reg).first;
      kept_.push_back(e);
    }
    return import(known->second, home, f);
  }

  int push(Instruction i, int f) {
    i.out = frame(f).registers++;
    const int out = i.out;
    frame(f).code.push_back(std::move(i));
    return out;
  }

  // Conditions that are comparisons are listed as such.
  int branch_of(const ExprRef& e) {
    if (!with_branches_) return -1;
    const auto compares = [](const ExprRef& c) { return c->op >= Op::kLt && c->op <= Op::kGt; };
    const bool chooses = e->op == Op::kSelect && !compares(e->args[0]);
    const bool filters = e->op == Op::kReduce && e->args.size() > 1 && !compares(e->args[1]);
    const bool pads = e->op == Op::kRead && e->has_else && needs_check(*e);
    if (!chooses && !filters && !pads && !compares(e) && e->op != Op::kMin && e->op != Op::kMax) return -1;
    const ExprRef& shown = chooses ? e->args[0] : filters ? e->args[1] : e;
    out_.branches.push_back({to_text(program_, equation_, shown), decides_on_large(shown)});
    return static_cast<int>(out_.branches.size()) - 1;
  }

  int emit(const ExprRef& e, int f, int mask) {
    Instruction i;
    i.op = e->op;
    i.mask = mask;
    i.span = e->span;
    i.branch = branch_of(e);
    i.inexact = exact_.may_leave(e);
    switch (e->op) {
      case Op::kReal:
        i.literal = e->real;
        return push(std::move(i), f);
      case Op::kInt:
      case Op::kBool:
        i.literal = static_cast<double>(e->integer);
        return push(std::move(i), f);
      case Op::kIndex:
        i.own_index = position_in(f, e->id);
        return push(std::move(i), f);
      case Op::kRead:
        return emit_read(*e, std::move(i), f, mask);
      case Op::kReduce:
      case Op::kRank:
        return emit_reduction(*e, std::move(i), f, mask);
      case Op::kSelect:
        return emit_select(*e, std::move(i), f, mask);
      case Op::kAnd:
      case Op::kOr:
        return emit_logical(*e, std::move(i), f, mask);
      default:
        break;
    }
    i.dtype = e->dtype;
    i.checked = e->op != Op::kCast && may_stop(*e);
    for (const ExprRef& a : e->args) i.args.push_back(value(a, f, mask));
    return push(std::move(i), f);
  }

  // The lanes of `mask` where `condition` has the given truth.
  int narrowed(int condition, bool truth, int mask, int f) {
    int out = condition;
    if (!truth) {
      Instruction negated;
      negated.op = Op::kNot;
      negated.args = {condition};
      out = push(std::move(negated), f);
    }
    if (mask < 0) return out;
    Instruction both;
    both.op = Op::kAnd;
    both.args = {mask, out};
    return push(std::move(both), f);
  }

  int emit_select(const Expr& e, Instruction i, int f, int mask) {
    const int condition = value(e.args[0], f, mask);
    const int then_mask = risky(e.args[1]) ? narrowed(condition, true, mask, f) : mask;
    const int then = value(e.args[1], f, then_mask);
    const int else_mask = risky(e.args[2]) ? narrowed(condition, false, mask, f) : mask;
    i.args = {condition, then, value(e.args[2], f, else_mask)};
    return push(std::move(i), f);
  }

  int emit_logical(const Expr& e, Instruction i, int f, int mask) {
    const int left = value(e.args[0], f, mask);
    const int right_mask = risky(e.args[1]) ? narrowed(left, e.op == Op::kAnd, mask, f) : mask;
    i.args = {left, value(e.args[1], f, right_mask)};
    return push(std::move(i), f);
  }

  int emit_read(const Expr& e, Instruction i, int f, int mask) {
    const auto& shape = program_.tensor(e.id).shape;
    const auto strides = row_major_strides(shape);
    i.tensor = e.id;
    Affine flat;
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto form = as_affine(e.args[d]);
      const int reg = form ? -1 : value(e.args[d], f, mask);
      if (form) {
        add_scaled(flat, *form, strides[d]);
      } else {
        i.gathered.push_back({reg, strides[d]});
      }
      if (inside(e.args[d], shape[d])) continue;
      BoundCheck check;
      check.extent = shape[d];
      check.value = reg;
      if (form) check.address = address(*form, f);
      i.checks.push_back(std::move(check));
    }
    i.address = address(flat, f);
    if (f > 0) note_order(flat, f);
    i.has_else = e.has_else;
    if (e.has_else) {
      const Expr& otherwise = *e.args.back();
      i.literal = otherwise.op == Op::kReal ? otherwise.real : static_cast<double>(otherwise.integer);
      const bool literal = otherwise.op == Op::kReal || otherwise.op == Op::kInt || otherwise.op == Op::kBool;
      if (!literal && !i.checks.empty()) i.otherwise = value(e.args.back(), f, mask);
    }
    return push(std::move(i), f);
  }

  // The index along which the lanes of a frame run; -1: none.
  int innermost(int f) {
    const auto& ids = frame(f).indices;
    auto last = static_cast<int>(ids.size()) - 1;
    if (f == 0 && equation_.group >= 0 && last >= 0 && ids[static_cast<size_t>(last)] == equation_.step_index) --last;
    return last < 0 ? -1 : ids[static_cast<size_t>(last)];
  }

  // Counts the reads of a reduction's frame that are consecutive along its last index, or along that of its parent.
  void note_order(const Affine& flat, int f) {
    const int64_t along = std::abs(flat.coefficient(frame(f).indices.back()));
    const int64_t across = std::abs(flat.coefficient(innermost(frame(f).parent)));
    Order& order = orders_[f];
    order.along += along == 1 && across > 1;
    order.across += across == 1 && along > 1;
    const bool is_long = frame(f).extents.back() >= kLongRow;
    frame(f).by_rows = is_long && order.along > 0 && order.across == 0;
  }

  // The conditions of a reduction over one index, where all of them bound it.
  bool bound(const Expr& e, Instruction& i, int f) {
    std::vector<ExprRef> conditions;
    conjuncts(e.args[1], conditions);
    for (const ExprRef& c : conditions) {
      auto form = e.binders.size() == 1 ? bound_on(c, false, e.binders[0]) : std::nullopt;
      if (!form) return i.bounds.clear(), false;
      i.bounds.push_back({std::move(*form), {}, -1});
      i.bounds.back().rest = address(i.bounds.back().form.rest, f);
    }
    for (size_t k = 0; k < conditions.size(); ++k) i.bounds[k].branch = branch_of(conditions[k]);
    return true;
  }

  int emit_reduction(const Expr& e, Instruction i, int f, int mask) {
    i.reducer = e.reducer;
    const bool filtered = e.op == Op::kReduce && e.args.size() > 1;
    if (filtered) i.bounded = bound(e, i, f);
    if (filtered && !i.bounded) {
      i.where_frame = add_frame(f, e.binders);
      i.where = value(e.args[1], i.where_frame, -1);
    }
    if (e.op == Op::kRank) {
      i.rank = value(e.args[1], f, mask);
      const std::set<int>& on = dependencies(e.args[0]);
      std::copy_if(on.begin(), on.end(), std::back_inserter(i.key),
                   [&](int id) { return std::find(e.binders.begin(), e.binders.end(), id) == e.binders.end(); });
    }
    const bool one_pass = i.reducer != Reducer::kVar && i.reducer != Reducer::kLogSumExp;
    i.one_body = i.bounded && f == 0 && one_pass && dependencies(e.args[0]).count(innermost(f)) == 0;
    i.body_frame = add_frame(f, e.binders);
    i.body = value(e.args[0], i.body_frame, -1);
    return push(std::move(i), f);
  }

  const Program& program_;
  const Equation& equation_;
  const bool with_branches_;
  ExactIntegers exact_;
  Routine out_;
  std::map<std::pair<int, std::vector<std::pair<int, int64_t>>>, int> integers_;
  std::map<std::tuple<int, int, int>, int> imports_;
  std::map<std::tuple<const Expr*, int, int>, int> values_;
  struct Order {
    int along = 0;
    int across = 0;
  };
  std::map<int, Order> orders_;  // by frame
  std::map<const Expr*, bool> risky_;
  std::map<const Expr*, std::set<int>> dependencies_;
  std::vector<ExprRef> kept_;  // keys above stay alive
};

}  // namespace

Routine compile(const Program& program, const Equation& equation, bool with_branches) {
  return Compiler(program, equation, with_branches).run();
}

}  // namespace solstice::ir
