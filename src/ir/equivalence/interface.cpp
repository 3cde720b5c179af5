#include "ir/equivalence/interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/count.h"
#include "ir/equal.h"

namespace solstice::ir {
namespace {

// The name of another tensor that a declaration mentions.
std::string name_at(const Program& p, int tensor) { return tensor < 0 ? "" : p.tensor(tensor).name; }

std::string dtype_text(const Tensor& t) { return t.dtype ? std::string(name_of(*t.dtype)) : "none"; }

// The difference of a declaration of the interface from the problem's, "" if there is none.
std::string declaration_difference(const Program& problem, const Tensor& t, const Program& candidate,
                                   const Tensor& other) {
  if (other.kind != t.kind) return "another kind";
  if (other.dtype != t.dtype) return fmt::format("another dtype, {} instead of {}", dtype_text(other), dtype_text(t));
  if (other.shape != t.shape)
    return fmt::format("another shape, [{}] instead of [{}]", fmt::join(other.shape, ", "), fmt::join(t.shape, ", "));
  if (other.strides != t.strides) return "other strides";
  if (other.path != t.path) return "another module path";
  if (name_at(problem, t.into) != name_at(candidate, other.into)) return "another buffer to update";
  if (name_at(problem, t.same) != name_at(candidate, other.same) || t.same_offset != other.same_offset)
    return "another tensor's storage";
  if (other.distribution != t.distribution || other.distribution_args != t.distribution_args)
    return "another distribution";
  return "";
}

bool is_asked(const Tensor& t) { return t.is_interface() || t.into >= 0; }

bool is_needed(const Program& p, int tensor) {
  return p.tensor(tensor).kind == TensorKind::kOutput || p.tensor(tensor).into >= 0 ||
         std::any_of(p.equations.begin(), p.equations.end(), [&](const Equation& e) { return reads(e.rhs, tensor); }) ||
         std::any_of(p.opaques.begin(), p.opaques.end(), [&](const Opaque& o) {
           return std::any_of(o.arguments.begin(), o.arguments.end(),
                              [&](const auto& a) { return a.second && reads(a.second, tensor); });
         });
}

// The tensors that both have: the caller passes inputs and takes outputs by place, and draws come one after the other.
std::vector<std::string> names_of(TensorKind kind, const Program& p, const Program& other) {
  std::vector<std::string> out;
  for (const Tensor& t : p.tensors) {
    if (t.kind == kind && other.find_tensor(t.name) >= 0) out.push_back(t.name);
  }
  return out;
}

std::string order_difference(const Program& problem, const Program& candidate) {
  const std::pair<TensorKind, const char*> ordered[] = {
      {TensorKind::kInput, "inputs"}, {TensorKind::kOutput, "outputs"}, {TensorKind::kRandom, "random tensors"}};
  for (const auto& [kind, name] : ordered) {
    if (names_of(kind, problem, candidate) != names_of(kind, candidate, problem))
      return fmt::format("the {} are not in the problem's order", name);
  }
  return "";
}

std::string tensors_difference(const Program& problem, const Program& candidate) {
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& t = problem.tensors[i];
    if (!is_asked(t)) continue;
    const int id = candidate.find_tensor(t.name);
    // A draw that nothing needs may go.
    if (id < 0 && t.kind == TensorKind::kRandom && !is_needed(problem, static_cast<int>(i))) continue;
    if (id < 0) return fmt::format("the candidate has no `{}`", t.name);
    const std::string difference = declaration_difference(problem, t, candidate, candidate.tensor(id));
    if (!difference.empty()) return fmt::format("`{}` is declared differently: {}", t.name, difference);
  }
  for (const Tensor& t : candidate.tensors) {
    const int id = problem.find_tensor(t.name);
    if (is_asked(t) && (id < 0 || !is_asked(problem.tensor(id))))
      return fmt::format("the problem has no `{}` in its interface", t.name);
  }
  return order_difference(problem, candidate);
}

// Stored as the problem stores it, at least as wide where the problem leaves that open: what the operation does may
// depend on it.
bool same_storage(const Program& a, int x, const Program& b, int y) {
  const Tensor &t = a.tensor(x), &u = b.tensor(y);
  if (t.shape != u.shape) return false;
  if (t.dtype && u.dtype) return t.dtype == u.dtype && t.strides == u.strides;
  return size_of(dtypes_of(b)[static_cast<size_t>(y)]) >= size_of(dtypes_of(a)[static_cast<size_t>(x)]);
}

bool same_argument(const Program& a, const ExprRef& x, const Program& b, const ExprRef& y) {
  if (!x || !y) return !x && !y;
  if (x->op != y->op || x->args.size() != y->args.size() || x->integer != y->integer || x->real != y->real)
    return false;
  if (x->dtype != y->dtype) return false;
  if (x->op == Op::kRead && (a.tensor(x->id).name != b.tensor(y->id).name || !same_storage(a, x->id, b, y->id)))
    return false;
  for (size_t i = 0; i < x->args.size(); ++i) {
    if (!same_argument(a, x->args[i], b, y->args[i])) return false;
  }
  return true;
}

bool same_opaque(const Program& a, const Opaque& x, const Program& b, const Opaque& y) {
  if (x.op != y.op || x.strings != y.strings || x.arguments.size() != y.arguments.size() ||
      x.results.size() != y.results.size())
    return false;
  for (size_t i = 0; i < x.arguments.size(); ++i) {
    if (x.arguments[i].first != y.arguments[i].first ||
        !same_argument(a, x.arguments[i].second, b, y.arguments[i].second))
      return false;
  }
  for (size_t i = 0; i < x.results.size(); ++i) {
    const Tensor &t = a.tensor(x.results[i]), &u = b.tensor(y.results[i]);
    if (t.name != u.name || t.dtype != u.dtype || t.shape != u.shape || t.strides != u.strides) return false;
  }
  return true;
}

// Every operation that the problem needs in its order, and none besides: an operation may have effects.
std::string opaque_difference(const Program& problem, const Program& candidate) {
  std::vector<bool> matched(candidate.opaques.size(), false);
  size_t next = 0;
  for (const Opaque& o : problem.opaques) {
    bool found = false;
    for (size_t i = 0; i < candidate.opaques.size() && !found; ++i) {
      found = !matched[i] && same_opaque(problem, o, candidate, candidate.opaques[i]);
      if (!found) continue;
      if (i < next) return fmt::format("the operation `{}` is not in the problem's order", o.op);
      matched[i] = true;
      next = i + 1;
    }
    const bool needed = std::any_of(o.results.begin(), o.results.end(), [&](int r) { return is_needed(problem, r); });
    if (!found && needed) return fmt::format("the operation `{}` is missing, or has other arguments or results", o.op);
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    if (!matched[i]) return fmt::format("the operation `{}` is not the problem's", candidate.opaques[i].op);
  }
  return "";
}

bool same_assumptions(const Program& problem, const Program& candidate) {
  return std::all_of(candidate.assumptions.begin(), candidate.assumptions.end(), [&](const Equation& e) {
    return std::any_of(problem.assumptions.begin(), problem.assumptions.end(), [&](const Equation& p) {
      return problem.target_of(p).name == candidate.target_of(e).name && same_up_to_names(problem, p, candidate, e);
    });
  });
}

void define_assumed(Program& program) {
  std::vector<Item> first;
  for (const Equation& e : program.assumptions) {
    Tensor& t = program.tensors[static_cast<size_t>(e.target)];
    if (!describes_whole(program, e) || t.kind != TensorKind::kBuffer) continue;
    t.kind = TensorKind::kLocal;
    first.push_back({static_cast<int>(program.equations.size()), -1, -1});
    program.equations.push_back(e);
  }
  program.items.insert(program.items.begin(), first.begin(), first.end());
}

}  // namespace

std::string interface_difference(const Program& problem, const Program& candidate) {
  std::string out = tensors_difference(problem, candidate);
  if (out.empty()) out = opaque_difference(problem, candidate);
  if (out.empty() && !same_assumptions(problem, candidate)) out = "the candidate assumes what the problem does not";
  return out;
}

Program with_assumptions(Program candidate, const Program& problem) {
  for (const Equation& e : problem.assumptions) {
    const int id = candidate.find_tensor(problem.target_of(e).name);
    bool reads = false;
    walk(e.rhs, [&](const Expr& x) { reads = reads || x.op == Op::kRead; });
    if (id < 0 || reads || !describes_whole(problem, e) || closed_form_of(candidate, id)) continue;
    candidate.assumptions.push_back(e);
    candidate.assumptions.back().target = id;
  }
  return candidate;
}

Program comparable(const Program& program) {
  Program out = program;
  define_assumed(out);
  for (const Opaque& o : program.opaques) {
    for (const auto& [name, argument] : o.arguments) {
      walk(argument, [&](const Expr& e) {
        if (e.op != Op::kRead) return;
        Tensor& t = out.tensors[static_cast<size_t>(e.id)];
        if (t.kind == TensorKind::kTensor || t.kind == TensorKind::kLocal) t.kind = TensorKind::kOutput;
      });
    }
  }
  for (const Opaque& o : program.opaques) {
    for (const int r : o.results) {
      Tensor& t = out.tensors[static_cast<size_t>(r)];
      t.kind = TensorKind::kInput;
      t.into = -1;
      t.any_value = true;
    }
  }
  out.opaques.clear();
  std::erase_if(out.items, [](const Item& item) { return item.opaque >= 0; });
  return out;
}

}  // namespace solstice::ir
