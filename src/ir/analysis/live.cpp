#include "ir/analysis/live.h"

#include <algorithm>
#include <set>

#include "ir/analysis/reads.h"
#include "ir/substitute.h"

namespace solstice::ir {

Liveness::Liveness(const Program& program, const Needs& needs, Reads reads) : program_(program), reads_(reads) {
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
        if (node.op == Op::kRead) need_all(node.id), readings_[node.id].count += 2;
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
  keep_conditions(equation, domain);
  return domain;
}

// The reader's conditions, in the indices of the equation: those of its left side are the reader's, one for one.
void Liveness::keep_conditions(const Equation& equation, Domain& domain) const {
  const auto found = readings_.find(equation.target);
  const Tensor& target = program_.target_of(equation);
  if (found == readings_.end() || found->second.count != 1 || equation.group >= 0) return;
  if ((target.kind != TensorKind::kLocal && target.kind != TensorKind::kTensor) || target.into >= 0) return;
  const std::vector<ExprRef> at = read_indices(*found->second.read);
  std::map<int, ExprRef> own;  // by the reader's
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d]->op != Op::kIndex || equation.lhs[d]->op != Op::kIndex || !own.emplace(at[d]->id, equation.lhs[d]).second)
      return;
  }
  for (const Domain::Condition& c : found->second.conditions) {
    const bool known =
        std::all_of(c.indices.begin(), c.indices.end(), [&](int index) { return own.count(index) != 0; });
    if (known) domain = domain.with(substitute(c.expression, own), c.negated);
  }
}

void Liveness::visit(const Equation& equation) {
  const ReadVisitor visit = [&](const ExprRef& read, const Domain& around) {
    Reading& reading = readings_[read->id];
    if (++reading.count == 1) reading.read = read, reading.conditions = around.conditions();
    need(read->id, around.reach(read_indices(*read), program_.tensor(read->id).shape));
  };
  if (reads_ == Reads::kAll) return each_read(equation.rhs, domain(equation), visit);
  each_certain_read(equation.rhs, domain(equation), visit);
}

}  // namespace solstice::ir
