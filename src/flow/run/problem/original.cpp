#include "flow/run/problem/original.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/file.h"
#include "pytorch/module_text.h"

namespace solstice::flow {
namespace {

std::vector<std::string> tensors_of(const ir::Program& program, ir::TensorKind kind) {
  std::vector<std::string> out;
  for (const ir::Tensor& t : program.tensors) {
    if (t.kind == kind) out.push_back(t.name);
  }
  return out;
}

Error other_interface(const std::string& what) {
  return fail(Code::internal, fmt::format("the module that was written from the equations has another {}", what),
              "name the module that the program computes: --of FILE.py");
}

Status name_inputs(const Graph& graph, const ir::Program& program, importer::ImportedProblem& out) {
  std::map<std::string, std::string> by_path;
  for (const ir::Tensor& t : program.tensors) {
    if (t.kind == ir::TensorKind::kParam || t.kind == ir::TensorKind::kBuffer)
      by_path.emplace(pytorch::path_of(t), t.name);
  }
  const std::vector<std::string> inputs = tensors_of(program, ir::TensorKind::kInput);
  size_t users = 0;
  for (const GraphInput& input : graph.inputs) {
    importer::ImportedInput named{"", input.id, input.kind, input.fqn, -1, input.storage.value_or(-1)};
    if (input.kind == GraphInputKind::kUser) {
      named.position = static_cast<int>(users);
      if (users >= inputs.size()) return other_interface("number of inputs");
      named.tensor = inputs[users++];
    } else if (input.kind != GraphInputKind::kConstant) {
      const auto found = by_path.find(input.fqn);
      if (found == by_path.end()) return other_interface(fmt::format("parameter, `{}`", input.fqn));
      named.tensor = found->second;
    }
    out.inputs.push_back(std::move(named));
  }
  return users == inputs.size() ? success() : Status(other_interface("number of inputs"));
}

Status name_outputs(const Graph& graph, const ir::Program& program, importer::ImportedProblem& out) {
  const std::vector<std::string> outputs = tensors_of(program, ir::TensorKind::kOutput);
  size_t results = 0;
  for (const GraphOutput& output : graph.outputs) results += output.kind == GraphOutputKind::kUser;
  if (results != outputs.size()) return other_interface("number of outputs");
  for (const std::string& name : outputs) out.outputs.push_back({name, {}});
  for (const ir::Tensor& t : program.tensors) {
    if (t.into >= 0)
      out.mutations.push_back({t.name, program.tensor(t.into).name, pytorch::path_of(program.tensor(t.into))});
  }
  return success();
}

}  // namespace

Status write_original(const std::string& text, const std::filesystem::path& program,
                      const std::filesystem::path& file) {
  SOLSTICE_TRY(const Written written, written_problem(text, program.string()));
  const Result<std::string> module = pytorch::module_text(written.problem.program, program.stem().string());
  if (!module.ok()) {
    Error error = module.error();
    if (written.problem.imported.text != text) error.offset = -1;  // a place in equations that were written out
    return in_program(std::move(error), text, program.string());
  }
  return write_file(file, *module);
}

Result<Problem> trace_original(run::OracleClient& oracle, const std::filesystem::path& file,
                               const std::filesystem::path& cache, Written written) {
  Problem problem = std::move(written.problem);
  SOLSTICE_TRY(problem.subject, oracle.load(file.string()));
  SOLSTICE_TRY(const OracleTrace traced, oracle.trace_cached(cache.string()));
  problem.cached = traced.cached ? traced.entry : "";
  problem.subject.modules = traced.modules;
  SOLSTICE_TRY(problem.graph, read_graph(traced.graph));
  SOLSTICE_CHECK(name_inputs(problem.graph, problem.program, problem.imported));
  SOLSTICE_CHECK(name_outputs(problem.graph, problem.program, problem.imported));
  return problem;
}

}  // namespace solstice::flow
