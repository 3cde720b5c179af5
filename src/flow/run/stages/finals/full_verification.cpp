#include "flow/run/stages/finals/full_verification.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/clock.h"
#include "evaluate/gpu_meter.h"
#include "flow/run/problem/scaled.h"
#include "flow/run/stages/search/search.h"
#include "ir/analysis/masks.h"
#include "numerics/value_families.h"
#include "propose/formulation/label.h"

namespace solstice::flow {
namespace {

constexpr size_t kMostScaled = 64;
constexpr std::string_view kNonfinite = "nan_inf";  // the value family

// Every value family and weight variant, the default one first.
std::vector<CaseRequest> full_requests() {
  std::vector<CaseRequest> requests;
  for (int64_t seed : {1, 2}) requests.push_back({"full", seed, "default", "built"});
  requests.push_back({"full", 3, "default", "perturbed"});
  for (const numerics::ValueFamily& family : numerics::value_families()) {
    if (family.name != "default") requests.push_back({"full", 7, std::string(family.name), "built"});
  }
  return requests;
}

ErrorRow& row_of(std::vector<ErrorRow>& rows, const std::string& output, const char* who) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const ErrorRow& r) { return r.output == output && r.who == who; });
  if (found != rows.end()) return *found;
  ErrorRow& row = rows.emplace_back();
  row.output = output;
  row.who = who;
  return row;
}

// The worst errors of each output, of PyTorch and of the candidate: normwise and elementwise each with its own case.
void add_errors(std::vector<ErrorRow>& rows, const CaseVerdict& verdict) {
  for (const OutputVerdict& output : verdict.outputs) {
    const auto add = [&](const char* who, double normwise, double elementwise, bool limited) {
      ErrorRow& row = row_of(rows, output.output, who);
      if (row.worst.empty() || normwise > row.normwise) {
        row.normwise = normwise;
        row.worst = verdict.name;
        if (limited) row.normwise_limit = output.limit_normwise;
      }
      if (row.worst_elementwise.empty() || elementwise > row.elementwise) {
        row.elementwise = elementwise;
        row.worst_elementwise = verdict.name;
        if (limited) row.elementwise_limit = output.limit_elementwise;
      }
    };
    if (output.pytorch_normwise)
      add("PyTorch eager", *output.pytorch_normwise, output.pytorch_elementwise.value_or(0), false);
    add("winner", output.normwise, output.elementwise, true);
  }
}

// "idx, mask": arguments of the module that are tensors of another type than float.
std::string integer_inputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphInput& input : graph.inputs) {
    const std::optional<DType> dtype = input.is_tensor() ? storage_dtype(*input.dtype) : std::nullopt;
    if (input.kind == GraphInputKind::kUser && dtype && !is_float(*dtype)) names.push_back(input.id);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Each case has two passes: the first names the outputs.
std::string left_out_text(const Verdict& verdict) {
  std::vector<std::string> parts;
  for (const OutputVerdict& output : verdict.cases.front().outputs) {
    if (output.left_out > 0)
      parts.push_back(fmt::format("{} of {} elements of `{}`", output.left_out, output.elements, output.output));
  }
  return fmt::format(
      "0 * NaN is not computed: terms that a mask of the module multiplies by zero are left out, so where an input "
      "holds "
      "NaN or infinities, results may be numbers in place of PyTorch's NaN (as verified: {}); --rewrites strict "
      "forbids it",
      fmt::join(parts, ", "));
}

class FullVerification {
 public:
  FullVerification(Run& run, const Measurable& measurable, Finalist& finalist)
      : run_(run),
        measurable_(measurable),
        problem_(measurable.imported.problem),
        judge_(*run.engine.judge),
        finalist_(finalist) {}

  // One process for all cases: two slots, one for each pass; one set of the oracle in memory at a time.
  Result<Verdict> run() {
    SOLSTICE_TRY(all_, verify(measurable_.inputs.cases));
    for (const CaseVerdict& one : all_.cases) add_errors(finalist_.errors, one);
    limit_ = widest_limit(all_);
    if (const std::string fixed = integer_inputs(problem_.graph); !fixed.empty()) {
      warn(fmt::format(
          "verified with the values that get_inputs() makes for {}: no family changes integers, which may be indices",
          fixed));
    }
    for (const CaseRequest& request : full_requests()) {
      if (!all_.passed()) break;
      SOLSTICE_CHECK(try_case(request));
    }
    SOLSTICE_CHECK(try_scaled());
    judge_.release();
    return std::move(all_);
  }

 private:
  Status try_scaled() {
    std::vector<std::string> names = scalable_tensors(problem_);
    if (names.size() > kMostScaled) {
      warn(fmt::format("verified with {} of {} inputs and parameters scaled alone: the first", kMostScaled,
                       names.size()));
      names.resize(kMostScaled);
    }
    for (const std::string& name : names) {
      if (!all_.passed()) break;
      SOLSTICE_CHECK(try_case(scaled_request(name, limit_)));
    }
    return success();
  }

  Result<Verdict> verify(const std::vector<run::JudgeCase>& cases) {
    SOLSTICE_CHECK(measurable_.builds->build(run_.tree.node(finalist_.node)));
    const std::filesystem::path plan = measurable_.builds->plan_of(finalist_.node);
    SOLSTICE_TRY(const int fitting, judge_.slots_for(plan, 1));
    return judge_.verify(plan, cases, std::min(fitting, 2));
  }

  // A case that the oracle has no room for next to the candidate gets all the memory there is.
  Result<std::optional<PreparedCase>> prepared(const CaseRequest& request) {
    Result<std::optional<PreparedCase>> made = prepare_case(*run_.engine.oracle, judge_, problem_, request);
    if (made.ok() || made.error().code != Code::too_large || !judge_.held()) return made;
    judge_.release();
    return prepare_case(*run_.engine.oracle, judge_, problem_, request);
  }

  // Rewrites hold for finite values: `sum[n](inf * w[n])` is NaN where w has both signs, `inf * sum[n](w[n])` is
  // infinite.
  void merge_nonfinite(const CaseRequest& request, run::JudgeCase& test) {
    const std::string& equations = run_.tree.node(finalist_.node).proposal.equations;
    if (request.family != kNonfinite || propose::keeps_nonfinite(equations)) return;
    test.merge_nonfinite = true;
    warn(
        fmt::format("equations {}: where an input holds NaN or infinities, results may be infinite in place of NaN, or "
                    "NaN in place of infinite",
                    equations));
  }

  // A family that memory has no room for, or that `forward` raises on, is skipped, and the report says so.
  Status try_case(const CaseRequest& request) {
    Result<std::optional<PreparedCase>> made = prepared(request);
    // The module itself may refuse such values; it gave results for its own.
    if (!made.ok() && (made.error().code == Code::too_large || made.error().code == Code::module_forward)) {
      warn(fmt::format("not verified with {}: {}", request.title(), made.error().message));
      return success();
    }
    if (!made.ok()) return std::move(made).error();
    if (!*made) return success();
    for (const std::string& note : (*made)->notes) warn(fmt::format("verified with {}, but {}", request.title(), note));
    merge_nonfinite(request, (*made)->judge);
    SOLSTICE_TRY(Verdict verdict, judge_.held() ? judge_.verify_more({(*made)->judge}) : verify({(*made)->judge}));
    const Status again = verify_again(request, **made, verdict);
    const Status released = release_case(*run_.engine.oracle, judge_, **made, *measurable_.inputs.first, request.set);
    SOLSTICE_CHECK(again);
    SOLSTICE_CHECK(released);
    for (const CaseVerdict& one : verdict.cases) add_errors(finalist_.errors, one);
    all_.cases.insert(all_.cases.end(), verdict.cases.begin(), verdict.cases.end());
    if (verdict.passed()) return success();
    all_.outcome = verdict.outcome;
    all_.message = verdict.message;
    return success();
  }

  Status verify_again(const CaseRequest& request, PreparedCase& test, Verdict& verdict) {
    if (verdict.outcome == Outcome::kWrongResult) return verify_determined(test, verdict);
    const bool nonfinite = request.family == kNonfinite && verdict.outcome == Outcome::kNanMismatch;
    return nonfinite && may_leave_out() ? verify_left_out(test, verdict) : success();
  }

  // Terms that a mask multiplies by zero may be left out where the module has masks. Its own equations leave out only
  // what PyTorch's operators leave open (import/rules/attention.cpp): those may do so in any case.
  bool may_leave_out() const {
    if (!run_.options.terms.keep_nonfinite()) return ir::has_masks(problem_.program);
    const std::string equations = propose::equations_key(run_.tree.node(finalist_.node).proposal, finalist_.node);
    const bool own = equations.empty() || propose::is_rewritten(equations);
    return own && propose::keeps_nonfinite(equations) && ir::leaves_terms_out(problem_.program);
  }

  // Once more with the numbers that are right where PyTorch's 0 * NaN is NaN.
  Status verify_left_out(PreparedCase& test, Verdict& verdict) {
    judge_.release();
    SOLSTICE_TRY(const std::string untried, find_left_out(*run_.engine.oracle, judge_, problem_, test));
    if (!untried.empty()) warn(fmt::format("{}: {}", test.judge.name, untried));
    if (test.left_out.empty()) return success();
    SOLSTICE_TRY(verdict, verify({test.judge}));
    if (verdict.passed()) finalist_.left_out = left_out_text(verdict);
    return success();
  }

  // Once more where single elements of the result are not determined by the inputs: the others decide. The search for
  // them takes the candidate's memory.
  Status verify_determined(PreparedCase& test, Verdict& verdict) {
    judge_.release();
    SOLSTICE_TRY(const std::string found, find_undetermined(*run_.engine.oracle, judge_, problem_, test));
    if (!found.empty()) warn(fmt::format("{}: {}", test.judge.name, found));
    if (test.rooms.empty()) return success();
    SOLSTICE_TRY(verdict, verify({test.judge}));
    return success();
  }

  // Once, for all finalists.
  void warn(std::string text) {
    std::vector<std::string>& all = run_.report.warnings;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }

  Run& run_;
  const Measurable& measurable_;
  const Problem& problem_;
  run::Judge& judge_;
  Finalist& finalist_;
  Verdict all_;
  double limit_ = 0;  // normwise, on the example inputs: the widest of the outputs
};

// The trial's last measurement is what the full verification found, so that nobody takes it for a verified one.
Status measure_as_refused(Run& run, const Finalist& finalist) {
  search::Measurement found = *run.tree.node(finalist.node).measurement;
  found.state = evaluate::state_of(*finalist.verdict);
  found.time = Seconds(0);
  found.cost = run.report.verification;
  found.detail = "the full verification: " + finalist.verdict->message;
  found.record.set("verdict", to_json(*finalist.verdict));
  const size_t told = run.tree.events().size();
  run.tree.again(finalist.node, search::Precision::kPrecise);
  run.tree.complete(finalist.node, std::move(found));
  for (size_t number = told; number < run.tree.events().size(); ++number)
    SOLSTICE_CHECK(record_event(run, number, true));
  return success();
}

}  // namespace

Status verify_fully(Run& run, const Measurable& measurable, Finalist& finalist) {
  if (finalist.verdict || !finalist.refused.empty()) return success();
  const Seconds began = monotonic_now();
  SOLSTICE_TRY(finalist.verdict, FullVerification(run, measurable, finalist).run());
  run.report.verification = monotonic_now() - began;
  if (finalist.verdict->passed()) return success();
  refuse(run.report, finalist,
         fmt::format("trial {} failed the full verification: {}", finalist.node, finalist.verdict->message));
  return measure_as_refused(run, finalist);
}

}  // namespace solstice::flow
