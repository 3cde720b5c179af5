#include "families/reduction/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "codegen/linear.h"
#include "ir/walk_distinct.h"

namespace solstice::families::reduction {
namespace {

using codegen::FlatEquation;
using codegen::FlatKernel;
using codegen::Loop;
using ir::ExprRef;
using ir::Op;

std::vector<ExprRef> nodes_of(const ExprRef& root, Op op) {
  std::vector<ExprRef> out;
  std::set<const ir::Expr*> seen;
  const auto visit = [&](const auto& self, const ExprRef& e) -> void {
    if (!seen.insert(e.get()).second) return;
    if (e->op == op) out.push_back(e);
    for (const ExprRef& arg : e->args) self(self, arg);
  };
  visit(visit, root);
  return out;
}

// Step of `index` through `tensor` in the reads below `root`; 0 where it does not step through it linearly.
int64_t step_through(const ir::Program& program, const FlatKernel& flat, const ExprRef& root, int tensor, int index) {
  for (const ExprRef& read : nodes_of(root, Op::kRead)) {
    if (read->id != tensor) continue;
    int64_t step = 0;
    for (size_t d = 0; d < program.tensor(tensor).shape.size(); ++d) {
      const auto form = codegen::linear_form(flat.indices, read->args[d]);
      if (form) step += form->coefficient(index) * program.tensor(tensor).strides[d];
    }
    if (step != 0) return step;
  }
  return 0;
}

class Shaper {
 public:
  Shaper(const ir::Program& program, const ir::Kernel& kernel) : program_(program), kernel_(kernel) {}

  Result<Shape> run() {
    SOLSTICE_TRY(out_.flat, codegen::flatten(program_, kernel_));
    SOLSTICE_CHECK(find_axes());
    for (FlatEquation& equation : out_.flat.equations) SOLSTICE_CHECK(unify(equation));
    order_axes();
    return std::move(out_);
  }

 private:
  // One axis of the iteration space, as the first reduction sees it.
  struct Axis {
    int index;  // canonical
    int64_t extent;
    int64_t step;  // through the primary tensor
  };

  Error refuse(const FlatEquation& equation, const std::string& why, std::string hint = "") const {
    return fail(Code::illegal_knobs, fmt::format("`{}` {}", program_.tensor(equation.target).name, why),
                std::move(hint));
  }

  bool has_reductions() const {
    bool found = false;
    std::unordered_set<const ir::Expr*> seen;
    for (const FlatEquation& equation : out_.flat.equations) {
      ir::walk_distinct(equation.rhs, seen,
                        [&](const ir::Expr& e) { found |= e.op == Op::kReduce || e.op == Op::kRank; });
    }
    return found;
  }

  Error nothing_to_reduce() const {
    return fail(Code::illegal_knobs,
                fmt::format("kernel `{}` reduces nothing along a row: family `map` fits", kernel_.name));
  }

  Status find_axes() {
    if (!has_reductions()) return nothing_to_reduce();
    for (const FlatEquation& equation : out_.flat.equations) {
      const auto reductions = nodes_of(equation.rhs, Op::kReduce);
      if (!nodes_of(equation.rhs, Op::kRank).empty()) {
        return fail(Code::not_yet, fmt::format("`{}` ranks elements; family `rows` only reduces yet",
                                               program_.tensor(equation.target).name));
      }
      if (reductions.empty() || !columns_.empty()) continue;
      const ExprRef& first = *std::max_element(reductions.begin(), reductions.end(), [&](const auto& a, const auto& b) {
        return points_of(a) < points_of(b);
      });
      choose_primary(first);
      for (const int binder : first->binders) add_axis(columns_, binder, first);
      std::set<int> free = rows_in(equation);
      for (const int id : free) {
        if (!steps_primary(first, id)) {
          return refuse(equation, fmt::format("reduces the same data for every `{}`: a scan or a product, for which "
                                              "`rows` would read the data again "
                                              "each time",
                                              out_.flat.indices.index(id).name));
        }
        add_axis(rows_, id, equation.rhs);
      }
    }
    return columns_.empty() ? Status(nothing_to_reduce()) : success();
  }

  int64_t points_of(const ExprRef& reduction) const {
    int64_t points = 1;
    for (const int binder : reduction->binders) points *= out_.flat.indices.index(binder).extent;
    return points;
  }

  void choose_primary(const ExprRef& reduction) {
    for (const ExprRef& read : nodes_of(reduction, Op::kRead)) {
      if (out_.primary < 0 || program_.tensor(read->id).elements() > program_.tensor(out_.primary).elements())
        out_.primary = read->id;
    }
  }

  // Free indices of an equation that its reductions depend on: they number rows.
  std::set<int> rows_in(const FlatEquation& equation) const {
    std::set<int> out;
    const auto reductions = nodes_of(equation.rhs, Op::kReduce);
    for (const int id : equation.free) {
      const bool used =
          std::any_of(reductions.begin(), reductions.end(), [&](const ExprRef& r) { return free_.depends_on(r, id); });
      if (used && out_.flat.indices.index(id).extent > 1) out.insert(id);
    }
    return out;
  }

  bool steps_primary(const ExprRef& reduction, int id) const {
    const auto reads = nodes_of(reduction, Op::kRead);
    return std::any_of(reads.begin(), reads.end(),
                       [&](const ExprRef& r) { return r->id == out_.primary && free_.depends_on(r, id); });
  }

  void add_axis(std::vector<Axis>& axes, int id, const ExprRef& scope) {
    const ir::Index index = out_.flat.indices.index(id);
    if (index.extent == 1) return;
    const int64_t step = step_through(program_, out_.flat, scope, out_.primary, id);
    axes.push_back({out_.flat.indices.add_index(index.name, index.extent), index.extent, step});
  }

  // The axis of this extent (and, where both step through the primary tensor, of this step) that is not taken yet.
  const Axis* find(const std::vector<Axis>& axes, const std::set<int>& taken, int64_t extent, int64_t step) const {
    const Axis* fits = nullptr;
    for (const Axis& axis : axes) {
      if (taken.count(axis.index) || axis.extent != extent) continue;
      if (step != 0 && axis.step == step) return &axis;
      if ((step == 0 || axis.step == 0) && !fits) fits = &axis;
    }
    return fits;
  }

  Status bind_axes(const FlatEquation& equation, const std::vector<int>& ids, const std::vector<Axis>& axes,
                   const ExprRef& scope, const char* what, std::map<int, ExprRef>& rename) {
    std::set<int> taken;
    for (const int id : ids) {
      const ir::Index& index = out_.flat.indices.index(id);
      if (index.extent == 1) {
        rename[id] = out_.flat.indices.integer(0);
        continue;
      }
      const Axis* axis = find(axes, taken, index.extent, step_through(program_, out_.flat, scope, out_.primary, id));
      if (!axis)
        return refuse(equation, fmt::format("has index `{}` ({}) which is no {} of this kernel's other reductions",
                                            index.name, index.extent, what));
      taken.insert(axis->index);
      rename[id] = out_.flat.indices.index_node(axis->index);
    }
    if (taken.size() != axes.size() && std::string_view(what) == "column") {
      return refuse(equation, "reduces or spans only a part of the row");
    }
    return success();
  }

  // A reduction inside another one that depends on the other's index. With one extent for both it would look like the
  // same axis.
  bool has_nested(const std::vector<ExprRef>& reductions) const {
    const auto depends = [&](const ExprRef& inner, const ExprRef& outer) {
      return std::any_of(outer->binders.begin(), outer->binders.end(),
                         [&](int id) { return out_.flat.indices.index(id).extent > 1 && free_.depends_on(inner, id); });
    };
    return std::any_of(reductions.begin(), reductions.end(), [&](const ExprRef& inner) {
      return std::any_of(reductions.begin(), reductions.end(),
                         [&](const ExprRef& outer) { return depends(inner, outer); });
    });
  }

  Status unify(FlatEquation& equation) {
    const auto reductions = nodes_of(equation.rhs, Op::kReduce);
    std::map<int, ExprRef> rename;
    if (reductions.empty()) return unify_map(equation);
    if (has_nested(reductions)) {
      return refuse(
          equation,
          "reduces what another reduction depends on: a scan, a product, or a second axis; a kernel reduces along one "
          "axis",
          "store the inner result and reduce it in another kernel");
    }
    for (const ExprRef& r : reductions) SOLSTICE_CHECK(bind_axes(equation, r->binders, columns_, r, "column", rename));
    const std::set<int> numbering = rows_in(equation);
    std::vector<int> row_ids, column_ids;
    for (const int id : equation.free) {
      const bool single = out_.flat.indices.index(id).extent == 1;
      (single || numbering.count(id) ? row_ids : column_ids).push_back(id);
    }
    SOLSTICE_CHECK(bind_axes(equation, row_ids, rows_, equation.rhs, "row", rename));
    if (!column_ids.empty()) SOLSTICE_CHECK(bind_axes(equation, column_ids, columns_, equation.rhs, "column", rename));
    if (row_ids.size() -
            static_cast<size_t>(std::count_if(row_ids.begin(), row_ids.end(),
                                              [&](int id) { return out_.flat.indices.index(id).extent == 1; })) !=
        rows_.size()) {
      return refuse(equation, "has other rows than this kernel's first reduction");
    }
    equation.rhs = out_.flat.indices.substitute(equation.rhs, rename);
    for (ExprRef& e : equation.lhs) e = out_.flat.indices.substitute(e, rename);
    // Every reduction must now bind all columns and nothing else may vary inside it but rows.
    for (const ExprRef& r : nodes_of(equation.rhs, Op::kReduce)) {
      for (const Axis& axis : columns_) {
        if (free_.depends_on(r, axis.index))
          return refuse(equation, "has a reduction that depends on the column: a scan or a product");
      }
    }
    return success();
  }

  // A map over the rows' own data, on the way of the first sweep: its indices are told apart by their steps through it.
  Status unify_map(FlatEquation& equation) {
    std::map<int, ExprRef> rename;
    std::set<int> taken;
    for (const int id : equation.free) {
      const ir::Index& index = out_.flat.indices.index(id);
      if (index.extent == 1) {
        rename[id] = out_.flat.indices.integer(0);
        continue;
      }
      const int64_t step = step_through(program_, out_.flat, equation.rhs, out_.primary, id);
      const Axis* axis = step == 0 ? nullptr : find(rows_, taken, index.extent, step);
      if (!axis && step != 0) axis = find(columns_, taken, index.extent, step);
      if (!axis || axis->step != step)
        return refuse(equation, "has no reduction and does not cover the reduced data", "put it into a `map` kernel");
      taken.insert(axis->index);
      rename[id] = out_.flat.indices.index_node(axis->index);
    }
    if (taken.size() != rows_.size() + columns_.size())
      return refuse(equation, "has no reduction and spans only a part of the rows", "put it into a `map` kernel");
    equation.rhs = out_.flat.indices.substitute(equation.rhs, rename);
    for (ExprRef& e : equation.lhs) e = out_.flat.indices.substitute(e, rename);
    return success();
  }

  static std::vector<int> ordered(std::vector<Axis> axes) {
    std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.step > b.step; });
    std::vector<int> out;
    for (const Axis& axis : axes) out.push_back(axis.index);
    return out;
  }

  void order_axes() {
    out_.rows = codegen::fused_loops(program_, out_.flat, ordered(rows_));
    out_.columns = codegen::fused_loops(program_, out_.flat, ordered(columns_));
    for (const Loop& loop : out_.rows) out_.row_count *= loop.extent;
    for (const Loop& loop : out_.columns) out_.column_count *= loop.extent;
    const auto steps_by_one = [](const std::vector<Axis>& axes) {
      return std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.step == 1; });
    };
    out_.strided = !steps_by_one(columns_) && steps_by_one(rows_);
  }

  const ir::Program& program_;
  const ir::Kernel& kernel_;
  Shape out_;
  mutable codegen::FreeIndices free_;  // of nodes that `out_` holds
  std::vector<Axis> rows_, columns_;
};

}  // namespace

bool Shape::is_column(int index) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Loop& loop) {
    return std::find(loop.indices.begin(), loop.indices.end(), index) != loop.indices.end();
  });
}

bool Shape::along_row(const ExprRef& e) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Loop& loop) {
    return std::any_of(loop.indices.begin(), loop.indices.end(), [&](int id) { return codegen::depends_on(e, id); });
  });
}

bool depends_on_any(const codegen::Access& access, const std::vector<codegen::Loop>& loops) {
  return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) { return access.depends_on(loop.stepping()); });
}

Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel) { return Shaper(program, kernel).run(); }

}  // namespace solstice::families::reduction
