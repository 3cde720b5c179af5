#include "flow/cases.h"

#include <fmt/format.h>

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

class CaseBuilder {
 public:
  CaseBuilder(const Problem& problem, const OracleTensors& exported, run::Judge& judge) : problem_(problem), judge_(judge) {
    for (const OracleTensor& tensor : exported.tensors) table_[{tensor.kind, tensor.name}] = &tensor;
  }

  Result<PreparedCase> build(const CaseRequest& request) {
    out_.judge.name = request.title();
    const numerics::ValueFamily* family = numerics::find_value_family(request.family);
    dominated_ = family && family->data == numerics::Data::kOutlier;
    for (const ir::ImportedInput& input : problem_.imported.inputs) SOLSTICE_CHECK(add_given(input));
    for (size_t i = 0; i < problem_.imported.outputs.size(); ++i) {
      const std::string& tensor = problem_.imported.outputs[i].tensor;
      if (!tensor.empty()) SOLSTICE_CHECK(add_expected(tensor, tensor, fmt::format("output.{}", i)));
    }
    for (const ir::BufferMutation& mutation : problem_.imported.mutations) {
      SOLSTICE_CHECK(add_expected(mutation.buffer, mutation.tensor, "buffer." + mutation.target));
    }
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

  // `buffer` is compared after the run; `producer` is the program's tensor that it takes its value from.
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

}  // namespace

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
