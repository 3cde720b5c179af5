#include "flow/run/parts/refused_calls.h"

#include <fmt/format.h>

#include "flow/run/problem/problem.h"
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

Result<Refused> without_family(Run& run, const Opened& opened, const Problem& problem) {
  const propose::PlanningContext context{opened.machine, run.options.terms.numerics, run.options.terms.frozen,
                                         run.options.terms.rewrites, [] { return interrupted(); }};
  SOLSTICE_TRY(const std::vector<propose::Unserved> found, propose::unserved(problem.program, context));
  Refused out;
  for (const propose::Unserved& each : found) {
    const std::string& tensor = problem.program.tensor(problem.program.equation(each.equation).target).name;
    for (const importer::Origin& origin : problem.imported.origins) {
      if (origin.tensor == tensor) out[own_name(problem, origin.node)] = each.why;
    }
  }
  return out;
}

}  // namespace

Result<Refused> refused_calls(Run& run, const Opened& opened) {
  SOLSTICE_TRY(Problem problem, trace_problem(*run.engine.oracle, {}, {}));
  Refused out = without_equations(problem);
  if (!out.empty() || !problem.imported.unsupported.empty()) return out;
  SOLSTICE_CHECK(bind_problem(problem));
  return without_family(run, opened, problem);
}

}  // namespace solstice::flow
