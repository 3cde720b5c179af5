#include "flow/cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "numerics/value_families.h"

namespace solstice::flow {
namespace {

using Exported = std::map<std::pair<std::string, std::string>, const OracleTensor*>;  // kind, name

Result<run::DeviceTensor> open_tensor(const OracleTensor& tensor, run::Judge& judge, std::set<std::string>& handles) {
  run::DeviceTensor out;
  const std::optional<DType> dtype = tensor.dtype ? storage_dtype(*tensor.dtype) : std::nullopt;
  if (!dtype) return fail(Code::unsupported_operator, fmt::format("`{}` is complex", tensor.name));
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

// Calls visit(buffer, producer, value) for all that is compared after a run: the plan's buffer, the program's tensor that it takes
// its value from, and the oracle's name of that value.
template <typename Visit>
Status for_each_expected(const Problem& problem, const Visit& visit) {
  for (size_t i = 0; i < problem.imported.outputs.size(); ++i) {
    const std::string& tensor = problem.imported.outputs[i].tensor;
    if (!tensor.empty()) SOLSTICE_CHECK(visit(tensor, tensor, fmt::format("output.{}", i)));
  }
  for (const ir::BufferMutation& mutation : problem.imported.mutations) {
    SOLSTICE_CHECK(visit(mutation.buffer, mutation.tensor, "buffer." + mutation.target));
  }
  return success();
}

class CaseBuilder {
 public:
  CaseBuilder(const Problem& problem, const OracleTensors& exported, run::Judge& judge) : problem_(problem), judge_(judge) {
    for (const OracleTensor& tensor : exported.tensors) table_[{tensor.kind, tensor.name}] = &tensor;
  }

  Result<PreparedCase> build(const CaseRequest& request) {
    out_.judge.name = request.title();
    out_.judge.set = request.set;
    const numerics::ValueFamily* family = numerics::find_value_family(request.family);
    dominated_ = family && family->data == numerics::Data::kOutlier;
    for (const ir::ImportedInput& input : problem_.imported.inputs) SOLSTICE_CHECK(add_given(input));
    SOLSTICE_CHECK(for_each_expected(
        problem_, [&](const auto& buffer, const auto& producer, const auto& value) { return add_expected(buffer, producer, value); }));
    return std::move(out_);
  }

 private:
  Result<run::DeviceTensor> find(const std::string& kind, const std::string& name) {
    const auto found = table_.find({kind, name});
    if (found == table_.end()) return fail(Code::internal, fmt::format("the oracle exported no {} `{}`", kind, name));
    return open_tensor(*found->second, judge_, out_.handles);
  }

  Status add_given(const ir::ImportedInput& input) {
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
    SOLSTICE_TRY(const run::Comparison compared, judge_.kernels().compare(tensor, expected.oracle, std::nullopt, 0, false));
    if (compared.class_mismatches > 0) return numerics::Errors{-1, -1};
    return numerics::Errors{compared.normwise, compared.elementwise};
  }

 private:
  run::Judge& judge_;
  std::map<std::string, const OracleTensor*> table_;
  std::set<std::string> opened_, handles_;
};

bool multiplies(const run::JudgeCase& test) {
  return std::any_of(test.expected.begin(), test.expected.end(), [](const auto& each) { return each.second.sum.products > 0; });
}

}  // namespace

Status measure_tf32(run::OracleClient& oracle, run::Judge& judge, const Problem& problem, run::JudgeCase& test,
                    std::vector<std::string>& notes) {
  if (judge.options().policy == numerics::Policy::kReference || test.tf32_measured || !multiplies(test)) return success();
  const std::string set = "tf32";
  const Status done = oracle.run_tf32(test.set, set);
  if (!done.ok() && done.error().code != Code::too_large) return done;
  if (!done.ok()) {
    notes.push_back("the error of PyTorch's own result with TF32 is not known: " + done.error().message);
    return success();
  }
  SOLSTICE_TRY(const OracleTensors exported, oracle.export_ipc(set, {"eager"}));
  {
    Beside beside(exported, judge);
    SOLSTICE_CHECK(for_each_expected(problem, [&](const auto& buffer, const auto&, const auto& value) -> Status {
      run::ExpectedOutput& expected = test.expected.at(buffer);
      if (expected.sum.products == 0) return success();
      SOLSTICE_TRY(expected.tf32, beside.errors(value, expected));
      return success();
    }));
  }
  test.tf32_measured = true;
  return oracle.release_set(set);
}

std::string CaseRequest::title() const {
  return fmt::format("seed {}, {}{}", seed, family, weights == "built" ? "" : ", " + weights + " weights");
}

Result<std::optional<PreparedCase>> prepare_case(run::OracleClient& oracle, run::Judge& judge, const Problem& problem,
                                                 const CaseRequest& request) {
  SOLSTICE_TRY(const OracleInputs inputs, oracle.prepare_inputs(request.set, {request.seed, request.family, request.weights}));
  if (!inputs.applies) return std::optional<PreparedCase>();
  SOLSTICE_TRY(OracleExpected expected, oracle.expected(request.set, false));
  SOLSTICE_TRY(const OracleTensors exported, oracle.export_ipc(request.set, {"input", "parameter", "buffer", "expected", "eager"}));
  SOLSTICE_TRY(PreparedCase made, CaseBuilder(problem, exported, judge).build(request));
  made.notes = std::move(expected.notes);
  SOLSTICE_CHECK(measure_tf32(oracle, judge, problem, made.judge, made.notes));
  return std::optional(std::move(made));
}

Status release_case(run::OracleClient& oracle, run::Judge& judge, const PreparedCase& done, const PreparedCase& kept,
                    const std::string& set) {
  for (const std::string& handle : done.handles) {
    if (!kept.handles.contains(handle)) judge.imports().close(handle);
  }
  return oracle.release_set(set);
}

}  // namespace solstice::flow
