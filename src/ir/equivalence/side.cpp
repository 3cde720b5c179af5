#include "ir/equivalence/side.h"

#include <algorithm>
#include <iterator>

#include "ir/normal/pipeline.h"
#include "ir/normal/prefix.h"

namespace solstice::ir {

using normal::Definition;
using normal::Form;
using normal::Pool;
using normal::Root;
using normal::TermId;

namespace {

Form form_of(Pool& pool, const Side& side, const std::set<int>& opened = {}) {
  Form out(pool, side.program, side.prefix, {});
  out.writers = &side.pieces;
  out.finite = &side.finite;
  out.shared = side.shared;
  std::set_difference(side.cuts.begin(), side.cuts.end(), opened.begin(), opened.end(),
                      std::inserter(out.shared, out.shared.end()));
  return out;
}

normal::Substitution places_of(Pool& pool, const Definition& d, Pattern& pattern) {
  normal::Substitution places;
  for (size_t i = 0; i < d.free.size(); ++i) {
    pattern.free.push_back(pool.root_variable(i, pool.var(d.free[i]).extent));
    places[d.free[i]] = pool.variable(pattern.free.back());
  }
  for (const TermId index : d.left) pattern.left.push_back(pool.substitute(index, places));
  return places;
}

}  // namespace

std::vector<TermId> values_at(Pool& pool, const Side& side, int tensor, const std::vector<Pattern>& patterns,
                              const std::set<int>& opened) {
  Form form = form_of(pool, side, opened);
  for (const Pattern& p : patterns)
    form.roots.push_back({tensor, p.left, p.free, pool.read(form.symbol(tensor), p.left)});
  translate(form);
  run_passes(form);
  std::vector<TermId> out;
  for (const Root& r : form.roots) out.push_back(r.value);
  return pool.exceeded() ? std::vector<TermId>() : out;
}

std::optional<Pieces> steps_of(Pool& pool, const Side& side, int tensor) {
  Form form = form_of(pool, side);
  form.symbol(tensor);  // its reads are of what is equal by induction
  form.shared.erase(tensor);
  form.roots.push_back({tensor, {}, {}, pool.constant(0)});
  translate(form);
  form.shared.insert(tensor);
  const std::vector<Definition> all = form.definitions;
  form.roots.clear();
  for (const Definition& d : all) {
    if (d.tensor != tensor) continue;
    Pattern pattern;
    const normal::Substitution places = places_of(pool, d, pattern);
    form.roots.push_back({tensor, pattern.left, pattern.free, pool.substitute(d.value, places)});
  }
  std::erase_if(form.definitions, [&](const Definition& d) { return d.tensor == tensor; });
  run_passes(form);
  if (pool.exceeded()) return std::nullopt;
  Pieces out;
  for (const Root& r : form.roots) out.emplace_back(r.left, r.value);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Pattern> patterns_of(Pool& pool, const Side& side, int tensor) {
  Form form = form_of(pool, side);
  form.roots.push_back({tensor, {}, {}, pool.constant(0)});
  translate(form);
  std::vector<Pattern> out;
  for (const Definition& d : form.definitions) {
    if (d.tensor != tensor) continue;
    out.emplace_back();
    places_of(pool, d, out.back());
  }
  return out;
}

std::pair<size_t, size_t> fineness(const std::vector<Pattern>& patterns) {
  size_t digits = 0;
  for (const Pattern& p : patterns) digits += p.free.size();
  return {patterns.size(), digits};
}

Side::Side(const Program& p, std::string prefix_of)
    : program(normal::with_prefix_sums(p)), prefix(std::move(prefix_of)), pieces(normal::writers_of(program)) {
  for (size_t t = 0; t < p.tensors.size(); ++t) {
    if (p.tensors[t].is_interface() && p.tensors[t].kind != TensorKind::kOutput) shared.insert(static_cast<int>(t));
  }
}

std::map<std::string, int> Side::reads_below(int tensor, const std::set<int>& opened) const {
  std::map<std::string, int> out;
  std::set<int> seen{tensor};
  std::vector<int> left{tensor};
  while (!left.empty()) {
    const int at = left.back();
    left.pop_back();
    for (const int e : pieces_of(at)) {
      walk(program.equation(e).rhs, [&](const Expr& node) {
        if (node.op != Op::kRead || !seen.insert(node.id).second) return;
        if (shared.count(node.id) || (cuts.count(node.id) && !opened.count(node.id)))
          out.emplace(program.tensor(node.id).name, node.id);
        else
          left.push_back(node.id);
      });
    }
  }
  return out;
}

std::set<int> Side::dependents(int tensor) const {
  std::set<int> out;
  std::vector<int> left{tensor};
  while (!left.empty()) {
    const int at = left.back();
    left.pop_back();
    for (const int e : definitions.readers(at)) {
      if (const int target = program.equation(e).target; out.insert(target).second) left.push_back(target);
    }
  }
  return out;
}

}  // namespace solstice::ir
