#include "codegen/flatten.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "codegen/expand.h"
#include "codegen/inversion.h"
#include "codegen/linear.h"
#include "codegen/materialised.h"
#include "codegen/recurrence.h"
#include "ir/walk_distinct.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;

constexpr size_t kManyNodes = 8192, kMostGrowth = 32;  // of a kernel; for each that is written
constexpr int kDeepest = 200;  // locals that read locals; beyond it the definitions must be circular

class Flattener {
 public:
  Flattener(const ir::Program& program, const ir::Kernel& kernel, const std::vector<int>& stored,
            const std::vector<Anchor>& anchors, Recurrences recurrences, FlatKernel& out)
      : program_(program),
        anchors_(anchors),
        recurrences_(recurrences),
        out_(out),
        stored_(stored.begin(), stored.end()),
        expander_(out.indices, program) {
    // One look at each equation of the program, which may have thousands, for each of its kernels.
    std::vector<char> defined(program.tensors.size(), 0);
    own_.assign(program.equations.size(), 0);
    for (const int id : kernel.equations) {
      own_[static_cast<size_t>(id)] = 1;
      defined[static_cast<size_t>(program.equation(id).target)] = 1;
      definitions_[program.equation(id).target].push_back(id);
    }
    for (size_t id = 0; id < program.equations.size(); ++id) {
      const int target = program.equations[id].target;
      const ir::Tensor& tensor = program.tensor(target);
      const bool view = tensor.kind == ir::TensorKind::kLocal && tensor.kernel == -1;
      if (!view && defined[static_cast<size_t>(target)] && !own_[id]) elsewhere_.insert(target);
      if (!view) continue;
      if (!definitions_.count(target)) views_.insert(target);
      if (views_.count(target)) definitions_[target].push_back(static_cast<int>(id));
    }
  }

  Status add(int id) {
    const ir::Equation& equation = program_.equation(id);
    if (equation.group >= 0 && recurrences_ == Recurrences::kRefused) return no_recurrence(equation.target);
    out_.indices.set_source(id);
    std::map<int, ExprRef> map;
    FlatEquation flat;
    flat.equation = id;
    flat.target = equation.target;
    flat.free = free_indices(equation);
    for (size_t i = 0; i < flat.free.size(); ++i) map[equation.free[i]] = out_.indices.index_node(flat.free[i]);
    for (const ExprRef& e : equation.lhs) flat.lhs.push_back(out_.indices.substitute(e, map, equation.indices));
    if (equation.group >= 0) {
      SOLSTICE_TRY(flat.rhs, recurrence(equation.target, flat.lhs));
    } else {
      SOLSTICE_TRY(flat.rhs, body(id, map));
    }
    flat.rhs = expander_.expand(flat.rhs);
    if (program_.tensor(flat.target).dtype == DType::kF64) flat.rhs = constant_of_doubles(flat.rhs);
    note_last_step(flat);
    out_.equations.push_back(std::move(flat));
    out_.indices.set_source(-1);
    return success();
  }

  // A node of an equation, whose indices are the first of the table.
  Result<ExprRef> node(int id, const ExprRef& root) {
    const ir::Equation& equation = program_.equation(id);
    out_.indices.set_source(id);
    std::map<int, ExprRef> map;
    for (size_t i = 0; i < equation.indices.size(); ++i)
      map[static_cast<int>(i)] =
          out_.indices.index_node(out_.indices.add_index(equation.indices[i].name, equation.indices[i].extent));
    SOLSTICE_TRY(const ExprRef value, inlined(out_.indices.substitute(root, map, equation.indices)));
    out_.indices.set_source(-1);
    return expander_.expand(value);
  }

 private:
  // Equations over the same indices share them, so that what several inline is inlined, and computed, once: the steps
  // of a chain each of which is a result.
  std::vector<int> free_indices(const ir::Equation& equation) {
    std::vector<int> out;
    for (const int index : equation.free) {
      const ir::Index& old = equation.indices[static_cast<size_t>(index)];
      out.push_back(out_.indices.add_index(old.name, old.extent));
    }
    const auto alike = [&](int a, int b) {
      const ir::Index &x = out_.indices.index(a), &y = out_.indices.index(b);
      return x.name == y.name && x.extent == y.extent;
    };
    for (const FlatEquation& known : out_.equations) {
      if (std::equal(out.begin(), out.end(), known.free.begin(), known.free.end(), alike)) return known.free;
    }
    return out;
  }

  // An expression without reads takes the format it is stored in: a constant is not rounded to f32 on its way to f64.
  ExprRef constant_of_doubles(const ExprRef& rhs) {
    bool reads = rhs->kind != ir::ValueKind::kReal;
    walk_distinct(rhs, [&](const ir::Expr& e) { reads = reads || e.op == Op::kRead; });
    return reads ? rhs : out_.indices.intern(*ir::make_cast(DType::kF64, rhs));
  }

  std::string name_of(const ir::Equation& equation) const { return program_.target_of(equation).name; }

  // The right side of an equation with its free indices replaced, everything inlined.
  Result<ExprRef> body(int id, const std::map<int, ExprRef>& map) {
    if (++depth_ > kDeepest) {
      return fail(Code::program_invalid, fmt::format("`{}` is defined through itself", name_of(program_.equation(id))));
    }
    const ir::Equation& equation = program_.equation(id);
    ExprRef rhs = equation.rhs;
    if (std::any_of(anchors_.begin(), anchors_.end(), [&](const Anchor& a) { return a.equation == id; }))
      rhs = with_anchors(rhs, equation);
    // A view belongs to no kernel: it counts as its reader's.
    const int around = out_.indices.set_source(-1);
    out_.indices.set_source(own_[static_cast<size_t>(id)] ? id : around);
    auto result = inlined(out_.indices.substitute(rhs, map, equation.indices));
    out_.indices.set_source(around);
    --depth_;
    return result;
  }

  ExprRef with_anchors(const ExprRef& root, const ir::Equation& equation) {
    for (const Anchor& anchor : anchors_) {
      if (root.get() != anchor.node) continue;
      ir::Expr read;
      read.op = Op::kRead;
      read.kind = root->kind;
      read.id = anchor.pseudo;
      for (const int index : equation.free) read.args.push_back(out_.indices.index_node(index));
      return std::make_shared<const ir::Expr>(std::move(read));
    }
    ir::Expr copy = *root;
    for (ExprRef& arg : copy.args) arg = with_anchors(arg, equation);
    return std::make_shared<const ir::Expr>(std::move(copy));
  }

  Result<ExprRef> inlined(const ExprRef& root) {
    if (const auto found = memo_.find(root.get()); found != memo_.end()) return found->second;
    ir::Expr copy = *root;
    for (ExprRef& arg : copy.args) {
      SOLSTICE_TRY(arg, inlined(arg));
    }
    ExprRef out = out_.indices.intern(std::move(copy));
    if (out_.indices.nodes() > kManyNodes) SOLSTICE_CHECK(check_growth());
    if (out->op == Op::kRead && definitions_.count(out->id)) {
      SOLSTICE_TRY(out, definition(*out));
    }
    memo_.emplace(root.get(), out);
    keep_.push_back(root);
    return out;
  }

  // A kernel whose readers ask for other elements each computes them again for each: exponentially many in a chain of
  // such (the stages of a butterfly). A long kernel of another kind has about the nodes that it is written with.
  Status check_growth() {
    if (written_ == 0) {
      std::unordered_set<const ir::Expr*> seen;
      for (const auto& [target, ids] : definitions_) {
        for (const int id : ids) ir::walk_distinct(program_.equation(id).rhs, seen, [](const ir::Expr&) {});
      }
      written_ = seen.size();
    }
    if (out_.indices.nodes() <= kMostGrowth * written_) return success();
    return fail(Code::illegal_knobs, fmt::format("its {} operations would be computed {} times over, for readers of "
                                                 "different elements: what they read is a kernel of its own",
                                                 written_, kMostGrowth));
  }

  Error no_recurrence(int tensor) const {
    return fail(Code::illegal_knobs,
                fmt::format("`{}` is a recurrence: a linear one runs in `scan`, others in `recurrent`",
                            program_.tensor(tensor).name));
  }

  // A read of an inlined tensor: the piece it falls in, or a select over pieces. The steps of a recurrence are not
  // written out: each of its readers would compute all steps before its own.
  Result<ExprRef> definition(const ir::Expr& read) {
    const ir::Tensor& tensor = program_.tensor(read.id);
    if (recurrences_ == Recurrences::kRefused && group_of(read.id) >= 0) return no_recurrence(read.id);
    const size_t rank = tensor.shape.size();
    const std::vector<ExprRef> arguments(read.args.begin(), read.args.begin() + static_cast<long>(rank));
    ExprRef inside;
    for (size_t d = 0; d < rank && read.has_else; ++d) {
      inside = both(out_.indices, inside, in_range(out_.indices, program_, arguments[d], 0, tensor.shape[d] - 1));
    }
    if (refuted(inside)) return read.args.back();  // outside at every point: no piece has to hold it
    ExprRef value;
    if (recurrences_ == Recurrences::kLinear && group_of(read.id) >= 0 &&
        (!open_ || open_->group != group_of(read.id))) {
      SOLSTICE_TRY(value, recurrence(read.id, arguments));
    } else {
      SOLSTICE_TRY(const bool state, is_state(read));
      if (state) return out_.indices.intern(read);
      SOLSTICE_TRY(value, pieces(read, arguments));
    }
    if (!inside) return value;
    return out_.indices.node(Op::kSelect, value->kind, {inside, value, read.args.back()});
  }

  Result<ExprRef> pieces(const ir::Expr& read, const std::vector<ExprRef>& arguments) {
    const std::vector<int>& ids = definitions_.at(read.id);
    const bool sole = ids.size() == 1 && elsewhere_.count(read.id) == 0;
    // Pieces that another kernel wrote are in memory; the tests of this kernel's own pieces come first.
    ExprRef value;
    if (elsewhere_.count(read.id)) {
      SOLSTICE_TRY(value, stored_elsewhere(read));
    }
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      SOLSTICE_TRY(Inversion inverse, invert(out_.indices, program_, program_.equation(*id), arguments));
      // A test that its interval already refutes: this piece is not the one.
      if (refuted(inverse.inside)) continue;
      SOLSTICE_TRY(ExprRef piece, body(*id, inverse.indices));
      const bool always = !inverse.inside || sole;
      value = always || !value ? piece : out_.indices.node(Op::kSelect, piece->kind, {inverse.inside, piece, value});
      if (always && !sole) return value;
    }
    if (!value)
      return fail(Code::program_invalid,
                  fmt::format("no piece of `{}` holds the element read", program_.tensor(read.id).name));
    return value;
  }

  int group_of(int tensor) const {
    int out = -1;
    for (const int id : definitions_.at(tensor)) out = std::max(out, program_.equation(id).group);
    return out;
  }

  // The index that counts the steps of recurrences of which the last state alone is read.
  int index_of_steps(int64_t extent, bool reverse) {
    const auto [found, fresh] = steps_.try_emplace({extent, reverse}, -1);
    if (fresh) found->second = out_.indices.add_index("step", extent);
    return found->second;
  }

  void note_last_step(FlatEquation& flat) const {
    for (const auto& [kind, index] : steps_) {
      if (!depends_on(flat.rhs, index)) continue;
      flat.steps = index;
      flat.last = kind.second ? 0 : kind.first - 1;
    }
  }

  // The state of a recurrence at `place`, as one node: everything that its step computes on the way is inlined.
  Result<ExprRef> recurrence(int tensor, std::vector<ExprRef> place) {
    const ir::Tensor& state = program_.tensor(tensor);
    const std::vector<int>& ids = definitions_.at(tensor);
    if (ids.size() != 1 || elsewhere_.count(tensor))
      return fail(Code::not_yet, fmt::format("`{}`, a recurrence, is defined in pieces", state.name));
    const ir::Equation& equation = program_.equation(ids.front());
    const auto [along, offset] = steps_of(equation);
    const bool reverse = equation.step_sign < 0;
    const int64_t extent = state.shape[along];
    if (offset == 0 && place[along]->op == Op::kInt && place[along]->integer == (reverse ? 0 : extent - 1))
      place[along] = out_.indices.index_node(index_of_steps(extent, reverse));
    const ExprRef& step = place[along];
    if (offset != 0 || step->op != Op::kIndex || out_.indices.index(step->id).extent != extent) {
      return fail(Code::not_yet,
                  fmt::format("`{}`, a recurrence, is read at other steps than all of its own in order, or the last",
                              state.name));
    }
    std::optional<OpenRecurrence> outer =
        std::exchange(open_, OpenRecurrence{equation.group, tensor, place, along, reverse});
    std::unordered_map<const ir::Expr*, ExprRef> known = std::exchange(memo_, {});
    SOLSTICE_TRY(const Inversion inverse, invert(out_.indices, program_, equation, place));
    SOLSTICE_TRY(const ExprRef value, body(ids.front(), inverse.indices));
    SOLSTICE_TRY(const LinearStep found, linear_step(out_.indices, value, state, tensor, step->id, open_->reverse));
    open_ = std::move(outer);
    memo_ = std::move(known);
    return recurrence_node(out_.indices, found);
  }

  // `read` is of the open recurrence's state one step before. Other members of its group are inlined, here and
  // there.
  Result<bool> is_state(const ir::Expr& read) const {
    if (!open_ || group_of(read.id) != open_->group) return false;
    const std::vector<int>& ids = definitions_.at(read.id);
    const auto member =
        std::find_if(ids.begin(), ids.end(), [&](int id) { return program_.equation(id).group == open_->group; });
    return open_->is_state(out_.indices, program_, read, program_.equation(*member));
  }

  Result<ExprRef> stored_elsewhere(const ir::Expr& read) {
    if (stored_.count(read.id) == 0) return out_.indices.intern(read);
    return fail(Code::illegal_knobs,
                fmt::format("this kernel writes some pieces of `{0}` and reads others, which another kernel writes: "
                            "define all pieces of `{0}` in one kernel, or read it in a third",
                            program_.tensor(read.id).name));
  }

  bool refuted(const ExprRef& test) {
    if (!test) return false;
    if (test->op == Op::kAnd) return refuted(test->args[0]) || refuted(test->args[1]);
    const Interval range = interval_of(out_.indices, program_, test->args[0]);
    const int64_t bound = test->args[1]->integer;
    return test->op == Op::kGe ? range.hi < bound : test->op == Op::kLe && range.lo > bound;
  }

  const ir::Program& program_;
  const std::vector<Anchor>& anchors_;
  Recurrences recurrences_;
  FlatKernel& out_;
  std::map<int, std::vector<int>> definitions_;
  std::vector<char> own_;    // by equation of the program: it is one of the kernel's
  std::set<int> elsewhere_;  // tensors with pieces that other kernels define
  std::set<int> stored_;     // tensors that this kernel writes
  std::set<int> views_;
  std::map<std::pair<int64_t, bool>, int> steps_;  // by extent and direction
  std::unordered_map<const ir::Expr*, ExprRef> memo_;
  std::vector<ExprRef> keep_;  // keys of the memo stay alive
  std::optional<OpenRecurrence> open_;
  ReducerExpander expander_;
  int depth_ = 0;
  size_t written_ = 0;  // nodes of the definitions; 0: not counted yet
};

}  // namespace

Result<FlatKernel> flatten(const ir::Program& program, const ir::Kernel& kernel, const std::vector<Anchor>& anchors,
                           Recurrences recurrences) {
  FlatKernel out;
  const std::vector<int> stored = materialised(program, kernel);
  Flattener flattener(program, kernel, stored, anchors, recurrences, out);
  for (const int id : kernel.equations) {
    if (std::find(stored.begin(), stored.end(), program.equation(id).target) == stored.end()) continue;
    SOLSTICE_CHECK(flattener.add(id));
  }
  if (out.equations.empty()) {
    return fail(Code::program_invalid,
                fmt::format("kernel `{}` defines nothing that is an output or is read elsewhere", kernel.name));
  }
  return out;
}

Result<FlatNode> flatten_node(const ir::Program& program, const ir::Kernel& kernel, int equation, const ExprRef& node) {
  FlatKernel flat;
  const std::vector<Anchor> none;
  Flattener flattener(program, kernel, materialised(program, kernel), none, Recurrences::kRefused, flat);
  SOLSTICE_TRY(ExprRef value, flattener.node(equation, node));
  return FlatNode{std::move(flat.indices), std::move(value)};
}

}  // namespace solstice::codegen
