#include "flow/run/problem/scaled.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace solstice::flow {
namespace {

constexpr double kLimitsMoved = 32;

bool is_skippable(const Error& error) { return error.code == Code::too_large || error.code == Code::module_forward; }

// Its verdict; nothing where the case refuses nobody.
Result<std::optional<Verdict>> verdict_of(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                          PreparedCase& test) {
  SOLSTICE_TRY(Verdict found, judge.verify_more({test.judge}));
  if (found.outcome != Outcome::kWrongResult) return std::optional(std::move(found));
  SOLSTICE_TRY(const std::string undetermined, find_undetermined(oracle, judge, problem, test));
  return undetermined.empty() ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace

std::vector<std::string> scalable_tensors(const Problem& problem) {
  std::vector<std::string> names;
  for (const importer::ImportedInput& input : problem.imported.inputs) {
    const int id = input.tensor.empty() ? -1 : problem.program.find_tensor(input.tensor);
    const std::optional<DType> dtype = id < 0 ? std::nullopt : problem.program.tensor(id).dtype;
    if (!dtype || !is_float(*dtype)) continue;
    if (input.kind == GraphInputKind::kUser) names.push_back(fmt::format("input.{}", input.position));
    if (input.kind == GraphInputKind::kParameter) names.push_back("parameter." + input.fqn);
  }
  return names;
}

CaseRequest scaled_request(const std::string& name, double limit) {
  return {"full", 1, "scaled", "built", name, kLimitsMoved * limit};
}

double widest_limit(const Verdict& verdict) {
  double out = 0;
  for (const CaseVerdict& one : verdict.cases) {
    for (const OutputVerdict& output : one.outputs) out = std::max(out, output.limit_normwise);
  }
  return out;
}

Result<Verdict> verify_scaled(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                              const PreparedCase& kept, Verdict verdict) {
  const double limit = widest_limit(verdict);
  for (const std::string& name : scalable_tensors(problem)) {
    if (!judge.held()) break;
    const CaseRequest request = scaled_request(name, limit);
    Result<std::optional<PreparedCase>> made = prepare_case(oracle, judge, problem, request);
    if (!made.ok() && is_skippable(made.error())) continue;
    if (!made.ok()) return made.error();
    if (!*made) continue;
    Result<std::optional<Verdict>> found = verdict_of(oracle, judge, problem, **made);
    SOLSTICE_CHECK(release_case(oracle, judge, **made, kept, request.set));
    if (!found.ok()) return found.error();
    if (*found && !(*found)->passed()) return std::move(**found);
  }
  return verdict;
}

}  // namespace solstice::flow
