// The folded form of an imported problem: shorter, and the same equations once its defs are expanded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "import/import.h"
#include "ir/bind.h"
#include "support/golden.h"

namespace solstice::importer {
namespace {

const std::string kImportGraphs = SOLSTICE_SOURCE_DIR "/tests/golden/import/";

Graph golden_graph(const std::string& name) {
  const Result<std::string> text = read_file(kImportGraphs + name + ".json");
  Result<Json> json = text.ok() ? parse_json(*text) : Result<Json>(text.error());
  Result<Graph> graph = json.ok() ? read_graph(*json) : Result<Graph>(json.error());
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  return graph.ok() ? *std::move(graph) : Graph{};
}

struct Imported {
  ImportedProblem problem;
  ir::Program program;
};

Imported import_as(const Graph& graph, ImportForm form) {
  Imported out;
  Result<ImportedProblem> problem = import_graph(graph, form);
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  if (!problem.ok()) return out;
  out.problem = *std::move(problem);
  Diagnostics diagnostics;
  Result<ir::Program> program = ir::load_program(out.problem.text, "folded.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(diagnostics.size(), 0U) << render_text(diagnostics, out.problem.text, "folded.ucut");
  if (program.ok()) out.program = *std::move(program);
  return out;
}

// The equations with tensors named by module path, interface name or order of definition, and indices by number.
std::vector<std::string> equations_of(ir::Program program) {
  std::map<int, size_t> order;
  for (const ir::Equation& equation : program.equations) order.emplace(equation.target, order.size());
  for (const auto& [id, number] : order) {
    ir::Tensor& tensor = program.tensors[static_cast<size_t>(id)];
    const std::string into = tensor.into < 0 ? "" : " into " + program.tensor(tensor.into).path;
    if (!tensor.is_interface()) tensor.name = fmt::format("t{}{}", number, into);
  }
  for (ir::Tensor& tensor : program.tensors) {
    if (!tensor.path.empty()) tensor.name = tensor.path;
  }
  std::vector<std::string> out;
  for (ir::Equation equation : program.equations) {
    std::string extents;
    for (size_t i = 0; i < equation.indices.size(); ++i) {
      equation.indices[i].name = fmt::format("i{}", i);
      extents += fmt::format(" {}", equation.indices[i].extent);
    }
    out.push_back(ir::to_text(program, equation) + " for" + extents);
  }
  return out;
}

void expect_named(const Imported& imported) {
  for (const ImportedInput& input : imported.problem.inputs) {
    if (input.tensor.empty()) continue;
    const int id = imported.program.find_tensor(input.tensor);
    ASSERT_GE(id, 0) << input.tensor;
    if (!input.fqn.empty()) {
      EXPECT_EQ(imported.program.tensor(id).path, input.fqn);
    }
  }
  for (const BufferMutation& mutation : imported.problem.mutations) {
    EXPECT_GE(imported.program.find_tensor(mutation.tensor), 0) << mutation.tensor;
    EXPECT_GE(imported.program.find_tensor(mutation.buffer), 0) << mutation.buffer;
  }
  for (const Origin& origin : imported.problem.origins) {
    EXPECT_GE(imported.program.find_tensor(origin.tensor), 0) << origin.tensor;
  }
}

class ImportFold : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportFold, MeansTheSame) {
  const Graph graph = golden_graph(GetParam());
  const Imported flat = import_as(graph, ImportForm::kFlat);
  const Imported folded = import_as(graph, ImportForm::kFolded);
  expect_named(flat);
  expect_named(folded);
  EXPECT_EQ(equations_of(flat.program), equations_of(folded.program));
}

INSTANTIATE_TEST_SUITE_P(All, ImportFold,
                         ::testing::Values("attention", "conv_norm", "dense", "group_norm", "linear_gelu", "lstm",
                                           "scan_loss", "tied", "residual", "transposed", "windows", "assumed",
                                           "filled_rows", "mixer", "shared_heads"),
                         [](const auto& test) { return test.param; });

// Concatenations that grow are taken from each other, so the equations are others; tools/check_import.py compares
// values.
TEST(ImportFold, WritesLayersThatGrowAsCallsOfOneDef) {
  const Imported folded = import_as(golden_graph("dense_layers"), ImportForm::kFolded);
  expect_named(folded);
  testing::expect_golden("import/dense_layers.folded.ucut", folded.problem.text);
}

TEST(ImportFold, WritesUnrolledLoopsAsRecurrences) {
  const Imported folded = import_as(golden_graph("unrolled"), ImportForm::kFolded);
  expect_named(folded);
  testing::expect_golden("import/unrolled.folded.ucut", folded.problem.text);
}

// Numbers that grow by steps which f32 holds become the step's index; tenths and powers of two stay unrolled.
TEST(ImportFold, WritesTheNumberOfAStepAsItsIndex) {
  const Imported folded = import_as(golden_graph("stepped"), ImportForm::kFolded);
  EXPECT_EQ(folded.problem.form, ImportForm::kFolded);
  expect_named(folded);
  testing::expect_golden("import/stepped.folded.ucut", folded.problem.text);
}

TEST(ImportFold, WritesOneRecurrenceOfNestedLoopsAndDeclaresWhatItCounts) {
  const Imported folded = import_as(golden_graph("carried"), ImportForm::kFolded);
  EXPECT_EQ(folded.problem.form, ImportForm::kFolded);
  expect_named(folded);
  testing::expect_golden("import/carried.folded.ucut", folded.problem.text);
}

TEST(ImportFold, SaysInADefWhatItsBufferHolds) {
  const Graph graph = golden_graph("assumed");
  const Imported folded = import_as(graph, ImportForm::kFolded);
  testing::expect_golden("import/assumed.folded.ucut", folded.problem.text);
  EXPECT_EQ(folded.program.assumptions.size(), import_as(graph, ImportForm::kFlat).program.assumptions.size());
}

// A row that is filled up to a fixed extent holds as many zeros as the row leaves room for, in each call its own.
TEST(ImportFold, PassesWhatFillsARowToEachCall) {
  const Imported folded = import_as(golden_graph("filled_rows"), ImportForm::kFolded);
  EXPECT_EQ(folded.problem.form, ImportForm::kFolded);
  testing::expect_golden("import/filled_rows.folded.ucut", folded.problem.text);
}

TEST(ImportFold, DeclaresTheDimsThatCallsSpeakOf) {
  const Imported folded = import_as(golden_graph("mixer"), ImportForm::kFolded);
  EXPECT_EQ(folded.problem.form, ImportForm::kFolded);
  testing::expect_golden("import/mixer.folded.ucut", folded.problem.text);
}

TEST(ImportFold, WritesBlocksWithStateAsDefsThatCallDefs) {
  const Imported folded = import_as(golden_graph("residual"), ImportForm::kFolded);
  testing::expect_golden("import/residual.folded.ucut", folded.problem.text);
}

}  // namespace
}  // namespace solstice::importer
