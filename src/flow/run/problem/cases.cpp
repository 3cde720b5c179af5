#include "flow/run/problem/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "numerics/value_families.h"

namespace solstice::flow {
namespace {

using Exported = std::map<std::pair<std::string, std::string>, const OracleTensor*>;  // kind, name

Result<run::DeviceTensor> open_tensor(const OracleTensor& tensor, run::Judge& judge, std::set<std::string>& handles) {
  run::DeviceTensor out;
  const std::optional<DType> dtype = tensor.dtype ? storage_dtype(*tensor.dtype) : std::nullopt;
  if (!dtype)
    return fail(Code::unsupported_operator,
                fmt::format("`{}` is complex: keep its parts as real numbers (`torch.view_as_real`)", tensor.name));
  out.dtype = *dtype;
  out.shape = tensor.shape;
  out.strides = tensor.stride;
  out.bytes = tensor.physical_bytes;
  if (tensor.handle.empty()) return out;
  SOLSTICE_TRY(const cu::DevicePtr base, judge.imports().open(tensor.handle));
  handles.insert(tensor.handle);
  out.address = base + static_cast<cu::DevicePtr>(tensor.handle_offset);
  return out;
}

// Calls visit(buffer, producer, value) for all that is compared after a run: the plan's buffer, the program's tensor
// that it takes its value from, and the oracle's name of that value.
template <typename Visit>
Status for_each_expected(const Problem& problem, const Visit& visit) {
  for (size_t i = 0; i < problem.imported.outputs.size(); ++i) {
    const std::string& tensor = problem.imported.outputs[i].tensor;
    if (!tensor.empty()) SOLSTICE_CHECK(visit(tensor, tensor, fmt::format("output.{}", i)));
  }
  for (const importer::BufferMutation& mutation : problem.imported.mutations) {
    SOLSTICE_CHECK(visit(mutation.buffer, mutation.tensor, "buffer." + mutation.target));
  }
  return success();
}

class CaseBuilder {
 public:
  CaseBuilder(const Problem& problem, const OracleTensors& exported, run::Judge& judge)
      : problem_(problem), judge_(judge) {
    for (const OracleTensor& tensor : exported.tensors) table_[{tensor.kind, tensor.name}] = &tensor;
  }

  Result<PreparedCase> build(const CaseRequest& request) {
    out_.judge.name = request.title();
    out_.judge.set = request.set;
    const numerics::ValueFamily* family = numerics::find_value_family(request.family);
    dominated_ = family && family->data == numerics::Data::kOutlier;
    for (const importer::ImportedInput& input : problem_.imported.inputs) SOLSTICE_CHECK(add_given(input));
    SOLSTICE_CHECK(for_each_expected(problem_, [&](const auto& buffer, const auto& producer, const auto& value) {
      return add_expected(buffer, producer, value);
    }));
    return std::move(out_);
  }

 private:
  Result<run::DeviceTensor> find(const std::string& kind, const std::string& name) {
    const auto found = table_.find({kind, name});
    if (found == table_.end()) return fail(Code::internal, fmt::format("the oracle exported no {} `{}`", kind, name));
    return open_tensor(*found->second, judge_, out_.handles);
  }

  Status add_given(const importer::ImportedInput& input) {
    if (input.tensor.empty()) return success();
    std::string kind = "input";
    std::string name = std::to_string(input.position);
    if (input.kind == GraphInputKind::kParameter) kind = "parameter", name = input.fqn;
    if (input.kind == GraphInputKind::kBuffer) kind = "buffer", name = input.fqn;
    if (input.kind == GraphInputKind::kConstant) {
      return fail(Code::not_yet, fmt::format("constant tensor `{}` made in forward", input.fqn));
    }
    SOLSTICE_TRY(run::DeviceTensor tensor, find(kind, name));
    out_.judge.given.emplace(input.tensor, std::move(tensor));
    return success();
  }

  Status add_expected(const std::string& buffer, const std::string& producer, const std::string& value) {
    run::ExpectedOutput expected;
    SOLSTICE_TRY(expected.oracle, find("expected", value));
    SOLSTICE_TRY(expected.eager, find("eager", value));
    const int id = problem_.program.find_tensor(producer);
    if (id < 0) return fail(Code::internal, fmt::format("the program has no tensor `{}`", producer));
    expected.sum = numerics::longest_sum(problem_.program, id);
    expected.sum.dominated = dominated_;
    out_.judge.expected.emplace(buffer, std::move(expected));
    return success();
  }

  const Problem& problem_;
  run::Judge& judge_;
  Exported table_;
  PreparedCase out_;
  bool dominated_ = false;
};

// The results of a set that holds nothing else, read once; what was opened for them is closed again.
class Beside {
 public:
  Beside(const OracleTensors& exported, run::Judge& judge) : judge_(judge) {
    for (const OracleTensor& tensor : exported.tensors) {
      table_[tensor.name] = &tensor;
      if (!tensor.handle.empty() && !judge.imports().holds(tensor.handle)) opened_.insert(tensor.handle);
    }
  }
  ~Beside() {
    for (const std::string& handle : opened_) judge_.imports().close(handle);
  }

  // Unknown where one is infinite and the other is not.
  Result<numerics::Errors> errors(const std::string& value, const run::ExpectedOutput& expected) {
    const auto found = table_.find(value);
    if (found == table_.end()) return fail(Code::internal, fmt::format("the oracle exported no `{}`", value));
    SOLSTICE_TRY(const run::DeviceTensor tensor, open_tensor(*found->second, judge_, handles_));
    SOLSTICE_TRY(const run::Comparison compared,
                 judge_.kernels().compare(tensor, expected.oracle, std::nullopt, 0, false));
    if (compared.class_mismatches > 0) return numerics::Errors{-1, -1};
    return numerics::Errors{compared.normwise, compared.elementwise};
  }

 private:
  run::Judge& judge_;
  std::map<std::string, const OracleTensor*> table_;
  std::set<std::string> opened_, handles_;
};

Status compare_tf32(run::OracleClient& oracle, run::Judge& judge, const Problem& problem, const std::string& set,
                    run::JudgeCase& test) {
  SOLSTICE_TRY(const OracleTensors exported, oracle.export_ipc(set, {"eager"}));
  Beside beside(exported, judge);
  return for_each_expected(problem, [&](const auto& buffer, const auto&, const auto& value) -> Status {
    run::ExpectedOutput& expected = test.expected.at(buffer);
    if (expected.sum.products == 0) return success();
    SOLSTICE_TRY(expected.tf32, beside.errors(value, expected));
    return success();
  });
}

bool multiplies(const run::JudgeCase& test) {
  return std::any_of(test.expected.begin(), test.expected.end(),
                     [](const auto& each) { return each.second.sum.products > 0; });
}

}  // namespace

Status measure_tf32(run::OracleClient& oracle, run::Judge& judge, const Problem& problem, run::JudgeCase& test,
                    std::vector<std::string>& notes) {
  if (judge.options().policy == numerics::Policy::kReference || test.tf32_measured || !multiplies(test))
    return success();
  const std::string set = "tf32";
  const Status done = oracle.run_tf32(test.set, set);
  if (!done.ok() && done.error().code != Code::too_large && done.error().code != Code::module_forward) return done;
  if (!done.ok()) {
    notes.push_back("the error of PyTorch's own result with TF32 is not known: " + done.error().message);
    return success();
  }
  const Status compared = compare_tf32(oracle, judge, problem, set, test);
  const Status released = oracle.release_set(set);
  SOLSTICE_CHECK(compared);
  test.tf32_measured = true;
  return released;
}

std::string CaseRequest::title() const {
  if (!scaled.empty()) return fmt::format("seed {}, {} scaled", seed, scaled);
  return fmt::format("seed {}, {}{}", seed, family, weights == "built" ? "" : ", " + weights + " weights");
}

Result<std::optional<PreparedCase>> prepare_case(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                                 const CaseRequest& request) {
  SOLSTICE_TRY(const OracleInputs inputs,
               oracle.prepare_inputs(request.set,
                                     {request.seed, request.family, request.weights, request.scaled, request.least}));
  if (!inputs.applies) return std::optional<PreparedCase>();
  SOLSTICE_TRY(OracleExpected expected, oracle.expected(request.set, false));
  SOLSTICE_TRY(const OracleTensors exported,
               oracle.export_ipc(request.set, {"input", "parameter", "buffer", "expected", "eager"}));
  SOLSTICE_TRY(PreparedCase made, CaseBuilder(problem, exported, judge).build(request));
  made.notes = std::move(expected.notes);
  SOLSTICE_CHECK(measure_tf32(oracle, judge, problem, made.judge, made.notes));
  return std::optional(std::move(made));
}

namespace {

// The limit by the error model of the policy's class alone: neither a candidate nor PyTorch has a part in it.
numerics::Errors modelled_limit(const run::Judge& judge, const run::ExpectedOutput& expected) {
  return numerics::limit_of(judge.options().policy, {-1, -1}, expected.sum, expected.own).allowed;
}

// Gives each expected value a tensor that the set `set` of the oracle holds for it, if it holds one.
Status add_from_set(run::OracleClient& oracle, run::Judge& judge, const Problem& problem, const std::string& set,
                    std::optional<run::DeviceTensor> run::ExpectedOutput::*member, PreparedCase& test) {
  SOLSTICE_TRY(const OracleTensors exported, oracle.export_ipc(set, {"expected"}));
  return for_each_expected(problem, [&](const auto& buffer, const auto&, const auto& value) -> Status {
    for (const OracleTensor& tensor : exported.tensors) {
      if (tensor.name != value) continue;
      SOLSTICE_TRY(test.judge.expected.at(buffer).*member, open_tensor(tensor, judge, test.handles));
    }
    return success();
  });
}

// The oracle could not try it: there is no memory, or `forward` raises on the values that it needs.
bool could_not_try(const Error& error) { return error.code == Code::too_large || error.code == Code::module_forward; }

std::string undetermined_text(const OracleUndetermined& found, double error) {
  std::vector<std::string> parts;
  for (const OracleStability& value : found.values) {
    if (value.undetermined > 0)
      parts.push_back(fmt::format("{} of {} elements of `{}`", value.undetermined, value.elements, value.name));
  }
  return fmt::format(
      "{} are not determined at this precision: steps of the size of its errors ({:.2g} of inputs and parameters) move "
      "the float64 result there by far more than its limit, and as far a candidate may be off",
      fmt::join(parts, ", "), error);
}

}  // namespace

Result<std::string> find_undetermined(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                      PreparedCase& test) {
  if (!test.rooms.empty()) return std::string();
  double error = 0;
  std::map<std::string, double> limits;
  SOLSTICE_CHECK(for_each_expected(problem, [&](const auto& buffer, const auto&, const auto& value) -> Status {
    const run::ExpectedOutput& expected = test.judge.expected.at(buffer);
    if (expected.oracle.dtype != DType::kF64) return success();  // integers
    const numerics::Errors limit = modelled_limit(judge, expected);
    error = std::max(error, limit.normwise);
    limits.emplace(value, limit.elementwise);
    return success();
  }));
  if (limits.empty()) return std::string();
  const std::string set = "undetermined";
  const Result<OracleUndetermined> found = oracle.find_undetermined(test.judge.set, set, error, limits);
  if (!found.ok() && could_not_try(found.error())) {
    return "every element counts as determined by the inputs, since others could not be tried: " +
           found.error().message;
  }
  if (!found.ok()) return found.error();
  const auto any = [](const OracleStability& value) { return value.undetermined > 0; };
  if (std::none_of(found->values.begin(), found->values.end(), any)) {
    SOLSTICE_CHECK(oracle.release_set(set));
    return std::string();
  }
  test.rooms = set;
  SOLSTICE_CHECK(add_from_set(oracle, judge, problem, set, &run::ExpectedOutput::room, test));
  return undetermined_text(*found, error);
}

Result<std::string> find_left_out(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                  PreparedCase& test) {
  const std::string set = "left_out";
  const Result<OracleLeftOut> found = oracle.find_left_out(test.judge.set, set);
  if (!found.ok() && could_not_try(found.error()))
    return "terms that a mask multiplies by zero count, since others could not be told from them: " +
           found.error().message;
  if (!found.ok()) return found.error();
  if (found->elements == 0) {
    SOLSTICE_CHECK(oracle.release_set(set));
    return std::string();
  }
  test.left_out = set;
  SOLSTICE_CHECK(add_from_set(oracle, judge, problem, set, &run::ExpectedOutput::left_out, test));
  return std::string();
}

Status release_case(run::OracleClient& oracle, run::Judge& judge, const PreparedCase& done, const PreparedCase& kept,
                    const std::string& set) {
  for (const std::string& handle : done.handles) {
    if (!kept.handles.contains(handle)) judge.imports().close(handle);
  }
  for (const std::string& beside : {done.rooms, done.left_out}) {
    if (!beside.empty()) SOLSTICE_CHECK(oracle.release_set(beside));
  }
  return oracle.release_set(set);
}

}  // namespace solstice::flow
