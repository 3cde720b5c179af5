#include "ir/live.h"

#include <algorithm>
#include <set>

namespace solstice::ir {

Domain inside(const Expr& node, size_t argument, const Domain& domain) {
  if (node.op == Op::kReduce && argument == 0 && node.args.size() > 1) return domain.with(node.args[1]);
  if (node.op == Op::kSelect && argument > 0) return domain.with(node.args[0], argument == 2);
  return domain;
}

std::vector<ExprRef> read_indices(const Expr& read) { return {read.args.begin(), read.args.end() - (read.has_else ? 1 : 0)}; }

Liveness::Liveness(const Program& program, const Needs& needs) : program_(program) {
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    const int id = static_cast<int>(i);
    if (tensor.kind != TensorKind::kOutput && tensor.into < 0) continue;
    const auto part = needs.find(id);
    if (part == needs.end()) {
      need_all(id);
    } else {
      needed_.insert(*part);
    }
  }
  for (const Opaque& opaque : program.opaques) {
    for (const auto& [name, argument] : opaque.arguments) {
      walk(argument, [&](const Expr& node) {
        if (node.op == Op::kRead) need_all(node.id);
      });
    }
  }
  std::set<int> groups;
  for (auto equation = program.equations.rbegin(); equation != program.equations.rend(); ++equation) {
    // A recurrence needs all its steps: its equations read each other.
    if (equation->group >= 0 && groups.insert(equation->group).second) {
      const auto same = [&](const Equation& e) { return e.group == equation->group; };
      const auto wanted = [&](const Equation& e) { return same(e) && live(e); };
      if (std::any_of(program.equations.begin(), program.equations.end(), wanted)) {
        for (const Equation& each : program.equations) {
          if (same(each)) need_all(each.target);
        }
      }
    }
    if (live(*equation)) visit(*equation);
  }
}

void Liveness::need_all(int tensor) { needed_[tensor].assign(program_.tensor(tensor).shape.size(), Marks()); }

void Liveness::need(int tensor, const std::vector<Marks>& marks) {
  const auto [known, fresh] = needed_.emplace(tensor, marks);
  for (size_t d = 0; !fresh && d < marks.size(); ++d) {
    Marks& all = known->second[d];
    if (all.empty() || marks[d].empty()) {
      all.clear();
      continue;
    }
    for (size_t i = 0; i < all.size(); ++i) all[i] = all[i] || marks[d][i];
  }
}

Domain Liveness::domain(const Equation& equation) const {
  Domain domain(equation);
  const auto found = needed_.find(equation.target);
  if (found == needed_.end()) return domain;
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    const Marks& marks = found->second[d];
    const std::optional<Affine> form = as_affine(equation.lhs[d]);
    // Several indices in one dim: the condition on them is not one on each, so all stay.
    if (marks.empty() || !form || form->terms.size() != 1) continue;
    const auto [index, coefficient] = form->terms[0];
    Marks values(static_cast<size_t>(domain.extent(index)));
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t at = form->offset + coefficient * static_cast<int64_t>(i);
      values[i] = at >= 0 && static_cast<size_t>(at) < marks.size() && marks[static_cast<size_t>(at)];
    }
    domain.keep(index, values);
  }
  return domain;
}

void Liveness::visit(const Equation& equation) { visit(equation.rhs, domain(equation)); }

void Liveness::visit(const ExprRef& e, const Domain& domain) {
  if (e->op == Op::kRead) need(e->id, domain.reach(read_indices(*e), program_.tensor(e->id).shape));
  for (size_t i = 0; i < e->args.size(); ++i) visit(e->args[i], inside(*e, i, domain));
}

}  // namespace solstice::ir
