#include "ir/rewrite/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/reads.h"
#include "ir/condition.h"

namespace solstice::ir {

ExprRef changed(const ExprRef& root, const Change& change) {
  std::vector<ExprRef> args;
  bool same = true;
  for (const ExprRef& a : root->args) {
    args.push_back(changed(a, change));
    same = same && args.back() == a;
  }
  ExprRef node = root;
  if (!same) {
    auto copy = std::make_shared<Expr>(*root);
    copy->args = std::move(args);
    node = std::move(copy);
  }
  const ExprRef other = change(node);
  return other ? other : node;
}

ExprRef replaced(const ExprRef& root, const Expr* from, const ExprRef& to) {
  if (root.get() == from) return to;
  auto copy = std::make_shared<Expr>(*root);
  bool same = true;
  for (ExprRef& a : copy->args) {
    const ExprRef b = replaced(a, from, to);
    same = same && a == b;
    a = b;
  }
  return same ? root : ExprRef(copy);
}

ExprRef transplanted(Equation& into, const Equation& from, const ExprRef& e, std::map<int, ExprRef> values) {
  if (e->op == Op::kIndex) {
    const auto known = values.find(e->id);
    return known == values.end() ? e : known->second;
  }
  auto copy = std::make_shared<Expr>(*e);
  for (int& b : copy->binders) {
    const int fresh = static_cast<int>(into.indices.size());
    into.indices.push_back(index_of(from, b));
    values[b] = make_index(fresh);
    b = fresh;
  }
  for (ExprRef& a : copy->args) a = transplanted(into, from, a, values);
  return copy;
}

ExprRef instance(Equation& into, const Equation& definition, const Expr& read) {
  std::map<int, ExprRef> values;
  for (size_t d = 0; d < read.args.size(); ++d) values[definition.lhs[d]->id] = read.args[d];
  const Equation from = definition;  // `into` may be it
  return transplanted(into, from, from.rhs, std::move(values));
}

ExprRef product(const std::vector<ExprRef>& factors) {
  if (factors.empty()) return make_int(1);
  const auto is_dim = [](const ExprRef& e) { return e->op == Op::kInt && (e->id >= 0 || e->span.end != 0); };
  ExprRef out = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) {
    const ExprRef& next = factors[i];
    const bool folds = out->op == Op::kInt && next->op == Op::kInt && (is_dim(out) || is_dim(next));
    if (!folds) {
      out = make(Op::kMul, {out, next});
      continue;
    }
    auto both = std::make_shared<Expr>();  // as one number the dim would be lost
    both->op = Op::kMul;
    both->kind = ValueKind::kInt;
    both->args = {out, next};
    out = both;
  }
  return out;
}

ExprRef extent_of(const Equation& equation, int index) {
  auto e = std::make_shared<Expr>(*make_int(index_of(equation, index).extent));
  e->id = index;
  return e;
}

bool depends(const ExprRef& e, const IndexSet& indices) {
  const IndexSet own = indices_of(e);
  return std::any_of(own.begin(), own.end(), [&](int i) { return indices.count(i) != 0; });
}

bool has_infinity(const ExprRef& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || (node.op == Op::kReal && !std::isfinite(node.real)); });
  return found;
}

bool gathers(const ExprRef& e) {
  bool found = false;
  walk(e, [&](const Expr& node) {
    if (node.op != Op::kRead) return;
    for (const ExprRef& index : read_indices(node)) found = found || has_read(index);
  });
  return found;
}

bool is_guarded(const ExprRef& root, const Expr* node) {
  const auto guards = [&](size_t argument) {
    if (root->op == Op::kReduce) return argument == 0 && root->args.size() > 1;
    if (root->op == Op::kRead) return root->has_else && argument + 1 == root->args.size();
    return argument > 0 && (root->op == Op::kSelect || root->op == Op::kAnd || root->op == Op::kOr);
  };
  for (size_t i = 0; i < root->args.size(); ++i) {
    bool below = false;
    walk(root->args[i], [&](const Expr& e) { below = below || &e == node; });
    if (below) return guards(i) || is_guarded(root->args[i], node);
  }
  return false;
}

std::vector<ExprRef> reductions_in(const ExprRef& root, const std::function<bool(const Expr&)>& wanted) {
  std::vector<ExprRef> out;
  if (root->op == Op::kReduce && wanted(*root)) out.push_back(root);
  for (const ExprRef& a : root->args) {
    const std::vector<ExprRef> below = reductions_in(a, wanted);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

void add_conjuncts(const ExprRef& condition, std::vector<ExprRef>& out) {
  if (!condition) return;
  if (condition->op != Op::kAnd) {
    out.push_back(condition);
    return;
  }
  for (const ExprRef& part : condition->args) add_conjuncts(part, out);
}

ExprRef conjunction(const std::vector<ExprRef>& parts) {
  ExprRef out;
  for (const ExprRef& part : parts) out = out ? make(Op::kAnd, {out, part}) : part;
  return out;
}

const Index& index_of(const Equation& equation, int id) { return equation.indices[static_cast<size_t>(id)]; }

std::string names_of(const Equation& equation, const std::vector<int>& indices) {
  std::string out;
  for (const int i : indices) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", index_of(equation, i).name);
  return out;
}

std::string fresh_name(const Program& program, const std::string& stem) {
  const auto taken = [&](const std::string& name) {
    if (program.find_tensor(name) >= 0) return true;
    return std::any_of(program.dims.begin(), program.dims.end(), [&](const Dim& d) { return d.name == name; });
  };
  std::string name = stem;
  for (int i = 2; taken(name); ++i) name = stem + std::to_string(i);
  return name;
}

void insert_equation(Program& program, int before, Equation equation) {
  program.equations.insert(program.equations.begin() + before, std::move(equation));
  auto place = program.items.end();
  for (auto item = program.items.begin(); item != program.items.end(); ++item) {
    if (item->equation == before) place = item;
    if (item->equation >= before) ++item->equation;
  }
  Item fresh;
  fresh.equation = before;
  program.items.insert(place, fresh);
}

ExprRef hoisted(Program& program, int& place, const ExprRef& rhs, const std::string& stem) {
  const IndexSet own = indices_of(rhs);
  Equation definition = program.equation(place);  // its indices keep their ids
  definition.free.assign(own.begin(), own.end());
  definition.lhs.clear();
  definition.rhs = rhs;
  definition.group = definition.step_index = -1;
  Tensor tensor;
  tensor.name = fresh_name(program, stem);
  tensor.value = rhs->kind;
  for (const int id : definition.free) {
    definition.lhs.push_back(make_index(id));
    tensor.shape.push_back(index_of(definition, id).extent);
    tensor.dims.push_back(index_of(definition, id).dim);
  }
  tensor.strides.assign(tensor.shape.size(), 1);
  for (size_t i = tensor.shape.size(); i-- > 1;) tensor.strides[i - 1] = tensor.strides[i] * tensor.shape[i];
  const int id = static_cast<int>(program.tensors.size());
  definition.target = id;
  const std::vector<ExprRef> at = definition.lhs;
  program.tensors.push_back(std::move(tensor));
  insert_equation(program, place, std::move(definition));
  ++place;
  return make_read(id, rhs->kind, at);
}

std::vector<bool> needed_tensors(const Program& program) {
  std::vector<bool> needed(program.tensors.size(), false);
  bool more = false;
  const auto need = [&](const ExprRef& root) {
    walk(root, [&](const Expr& e) {
      if (e.op != Op::kRead || needed[static_cast<size_t>(e.id)]) return;
      needed[static_cast<size_t>(e.id)] = more = true;
    });
  };
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    needed[i] = program.tensors[i].kind == TensorKind::kOutput || program.tensors[i].into >= 0;
  }
  for (const Opaque& opaque : program.opaques) {
    for (const auto& [name, argument] : opaque.arguments) need(argument);
  }
  // Readers come last: one pass from the end finds all but what recurrences and opaque operations read.
  do {
    more = false;
    for (auto e = program.equations.rbegin(); e != program.equations.rend(); ++e) {
      if (needed[static_cast<size_t>(e->target)]) need(e->rhs);
    }
  } while (more);
  return needed;
}

Program without_dead(Program program) {
  const std::vector<bool> needed = needed_tensors(program);
  std::vector<Equation> equations;
  std::vector<int> moved(program.equations.size(), -1);
  for (size_t i = 0; i < program.equations.size(); ++i) {
    if (!needed[static_cast<size_t>(program.equations[i].target)]) continue;
    moved[i] = static_cast<int>(equations.size());
    equations.push_back(std::move(program.equations[i]));
  }
  program.equations = std::move(equations);
  std::vector<Item> items;
  for (Item item : program.items) {
    if (item.equation >= 0) item.equation = moved[static_cast<size_t>(item.equation)];
    if (item.equation >= 0 || item.kernel >= 0 || item.opaque >= 0) items.push_back(item);
  }
  program.items = std::move(items);
  return program;
}

}  // namespace solstice::ir
