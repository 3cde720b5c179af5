#include "flow/run/parts/refused_calls.h"

#include <fmt/format.h>

#include "propose/cut/partition.h"

namespace solstice::flow {
namespace {

// The module's own name of a call in a stage's graph.
std::string own_name(const Problem& problem, const std::string& node) {
  const Json* origins = problem.graph.producer.find("origins");
  const Json* name = origins ? origins->find(node) : nullptr;
  return name ? name->as_string() : node;
}

Refused without_equations(const Problem& problem) {
  Refused out;
  for (const importer::UnsupportedOp& op : problem.imported.unsupported) {
    if (!op.node.empty()) out[own_name(problem, op.node)] = op.why;
  }
  for (const importer::Draw& draw : problem.imported.draws) {
    out[own_name(problem, draw.node)] = "it draws random numbers";
  }
  return out;
}

const importer::Origin* origin_of(const Problem& problem, int equation) {
  const std::string& tensor = problem.program.tensor(problem.program.equation(equation).target).name;
  for (const importer::Origin& origin : problem.imported.origins) {
    if (origin.tensor == tensor) return &origin;
  }
  return nullptr;
}

// Of the first operator that has none: what follows it may be served once it is out of the way, since it may read
// through its layout.
Result<Refused> without_family(Run& run, const Opened& opened, const Problem& problem) {
  const propose::PlanningContext context{opened.machine, run.options.terms.numerics, run.options.terms.frozen,
                                         run.options.terms.rewritten(), [] { return interrupted(); }};
  SOLSTICE_TRY(const std::vector<propose::Unserved> found, propose::unserved(problem.program, context));
  Refused out;
  std::string op;
  for (const propose::Unserved& each : found) {
    const importer::Origin* origin = origin_of(problem, each.equation);
    if (!origin) continue;
    if (op.empty()) op = origin->op;
    if (origin->op == op) out[own_name(problem, origin->node)] = each.why;
  }
  return out;
}

}  // namespace

Result<LookedAt> refused_calls(Run& run, const Opened& opened) {
  SOLSTICE_TRY(Problem problem, trace_problem(*run.engine.oracle, {}, {}));
  LookedAt out{without_equations(problem), key_of_object(problem), {}};
  if (!out.refused.empty()) return out;
  if (problem.refused) return *problem.refused;
  if (!problem.imported.unsupported.empty()) return out;
  SOLSTICE_CHECK(bind_problem(problem));
  SOLSTICE_TRY(out.refused, without_family(run, opened, problem));
  out.problem = std::move(problem);
  return out;
}

}  // namespace solstice::flow
