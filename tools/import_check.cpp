// import_check GRAPH.json: the imported problem as JSON (program text, names of inputs and outputs, what is missing).
// import_check GRAPH.json VALUES RESULTS: interprets it. VALUES holds every tensor input of the graph, then what is
// drawn; RESULTS gets every tensor output, in the graph's order, row-major float64 without headers. --folded takes the
// short form of the program. Driven by tools/check_import.py.
#include <fmt/format.h>

#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "import/import.h"
#include "ir/bind.h"
#include "ir/interpret.h"
#include "record/graph.h"

namespace solstice {
namespace {

Result<Graph> load_graph(const std::string& path) {
  SOLSTICE_TRY(const std::string text, read_file(path));
  SOLSTICE_TRY(const Json json, parse_json(text));
  return read_graph(json);
}

Json summary(const Graph& graph, const importer::ImportedProblem& problem) {
  Json inputs = Json::object(), outputs = Json::array(), unsupported = Json::array();
  for (const auto& input : problem.inputs) inputs.set(input.graph_id, input.tensor);
  size_t result = 0, mutation = 0;
  for (const GraphOutput& output : graph.outputs) {
    const bool user = output.kind == GraphOutputKind::kUser;
    outputs.push(user ? problem.outputs[result++].tensor : problem.mutations[mutation++].tensor);
  }
  for (const auto& op : problem.unsupported) unsupported.push(op.op + ": " + op.why);
  return Json::object()
      .set("text", problem.text)
      .set("inputs", inputs)
      .set("outputs", outputs)
      .set("unsupported", unsupported);
}

// The next tensor of VALUES.
Result<ir::TensorValue> next_value(const std::string& bytes, const std::vector<int64_t>& shape, size_t& at) {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  if (at + count * sizeof(double) > bytes.size()) return fail(Code::bad_argument, "VALUES is too short");
  ir::TensorValue value{shape, std::vector<double>(count)};
  std::memcpy(value.values.data(), bytes.data() + at, count * sizeof(double));
  at += count * sizeof(double);
  return value;
}

// The bytes of VALUES cut into the program's tensors.
Result<ir::TensorValues> read_values(const std::string& path, const Graph& graph,
                                     const importer::ImportedProblem& problem) {
  SOLSTICE_TRY(const std::string bytes, read_file(path));
  ir::TensorValues out;
  size_t at = 0;
  for (const auto& entry : problem.inputs) {
    const GraphInput* input = graph.find_input(entry.graph_id);
    if (!input || !input->is_tensor()) continue;
    std::vector<int64_t> shape = input->shape;
    if (!storage_dtype(*input->dtype)) shape.push_back(2);  // complex numbers are pairs
    SOLSTICE_TRY(out[entry.tensor], next_value(bytes, shape, at));
  }
  for (const importer::Draw& draw : problem.draws) {
    SOLSTICE_TRY(out[draw.tensor], next_value(bytes, draw.shape, at));
  }
  return out;
}

// The interpreter files a new buffer value under the state update or under the buffer it replaces.
const ir::TensorValue* find_result(const ir::TensorValues& all, const std::string& update, const std::string& buffer) {
  const auto found = all.find(update);
  if (found != all.end()) return &found->second;
  const auto replaced = all.find(buffer);
  return replaced == all.end() ? nullptr : &replaced->second;
}

Result<std::string> results_of(const Graph& graph, const importer::ImportedProblem& problem,
                               const ir::TensorValues& all) {
  std::string out;
  size_t result = 0, mutation = 0;
  for (const GraphOutput& output : graph.outputs) {
    const bool user = output.kind == GraphOutputKind::kUser;
    const std::string name = user ? problem.outputs[result++].tensor : problem.mutations[mutation].tensor;
    const std::string buffer = user ? "" : problem.mutations[mutation++].buffer;
    const ir::TensorValue* value = find_result(all, name, buffer);
    if (!value) return fail(Code::internal, "the interpreter returned no `" + name + "`");
    out.append(reinterpret_cast<const char*>(value->values.data()), value->values.size() * sizeof(double));
  }
  return out;
}

Result<int> run(const std::vector<std::string>& args, bool folded) {
  SOLSTICE_TRY(const Graph graph, load_graph(args[0]));
  const importer::ImportForm form = folded ? importer::ImportForm::kFolded : importer::ImportForm::kFlat;
  SOLSTICE_TRY(const importer::ImportedProblem problem, importer::import_graph(graph, form));
  if (problem.form != form) return fail(Code::internal, problem.notes[0].text);
  Diagnostics diagnostics;
  SOLSTICE_TRY(const ir::Program program, ir::load_program(problem.text, args[0], diagnostics));
  if (args.size() == 1) {
    fmt::print("{}\n", summary(graph, problem).dump());
    return 0;
  }
  if (!problem.unsupported.empty()) {
    return fail(Code::unsupported_operator, problem.unsupported[0].op + ": " + problem.unsupported[0].why);
  }
  SOLSTICE_TRY(const ir::TensorValues inputs, read_values(args[1], graph, problem));
  SOLSTICE_TRY(const ir::TensorValues all, ir::interpret(program, inputs));
  SOLSTICE_TRY(const std::string bytes, results_of(graph, problem, all));
  SOLSTICE_CHECK(write_file(args[2], bytes));
  return 0;
}

}  // namespace
}  // namespace solstice

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  const bool folded = !args.empty() && args[0] == "--folded";
  if (folded) args.erase(args.begin());
  if (args.size() != 1 && args.size() != 3) {
    fmt::print(stderr, "usage: import_check [--folded] GRAPH.json [VALUES RESULTS]\n");
    return 2;
  }
  const auto result = solstice::run(args, folded);
  if (result.ok()) return *result;
  fmt::print(stderr, "{}\n", result.error().text());
  return solstice::exit_code(result.error().kind());
}
