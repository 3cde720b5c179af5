// Every tests/golden/import/NAME.json, a traced graph, must become NAME.ucut, with the notes of NAME.notes; NAME.py is
// the module it was traced from.
#include "support/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "import/import.h"
#include "ir/bind.h"

namespace solstice::importer {
namespace {

std::vector<std::string> golden_names() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(SOLSTICE_SOURCE_DIR "/tests/golden/import")) {
    if (entry.path().extension() == ".json") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<ImportedProblem> import_golden(const std::string& name) {
  SOLSTICE_TRY(const std::string text, read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/" + name + ".json"));
  SOLSTICE_TRY(const Json json, parse_json(text));
  SOLSTICE_TRY(const Graph graph, read_graph(json));
  return import_graph(graph);
}

class ImportGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportGolden, BecomesTheProgramAndBinds) {
  const auto problem = import_golden(GetParam());
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  testing::expect_golden("import/" + GetParam() + ".ucut", problem->text);
  std::string notes;
  for (const ImportNote& note : problem->notes)
    notes += fmt::format("{}, {}:{}\n", note.text, note.source.file, note.source.line);
  if (!notes.empty()) testing::expect_golden("import/" + GetParam() + ".notes", notes);
  Diagnostics diagnostics;
  const auto program = ir::load_program(problem->text, GetParam() + ".ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(diagnostics.size(), 0U) << render_text(diagnostics, problem->text, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ImportGolden, ::testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(Import, RefusesADamagedGraph) {
  const auto text = read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/attention.json");
  ASSERT_TRUE(text.ok());
  Graph graph = *read_graph(*parse_json(*text));
  ASSERT_FALSE(graph.inputs.empty());
  graph.inputs[0].stride.pop_back();
  const auto problem = import_graph(graph);
  ASSERT_FALSE(problem.ok());
  EXPECT_EQ(problem.error().code, Code::bad_record);
  graph = *read_graph(*parse_json(*text));
  graph.inputs[0].shape[0] = int64_t{1} << 62;
  EXPECT_FALSE(import_graph(graph).ok());
}

TEST(Import, RefusesResultsWithoutElements) {
  Graph graph = *read_graph(*parse_json(*read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/linear_gelu.json")));
  for (auto& out : graph.nodes.back().outs) out->shape[0] = 0;
  const auto problem = import_graph(graph);
  ASSERT_FALSE(problem.ok());
  EXPECT_EQ(problem.error().code, Code::unsupported_operator);
  EXPECT_NE(problem.error().message.find("has no elements"), std::string::npos) << problem.error().message;
}

// Found by fuzzing: a normalisation of a tensor without channels read its second axis.
TEST(Import, DoesNotNormaliseChannelsThatAreNotThere) {
  const auto text = read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/group_norm.json");
  ASSERT_TRUE(text.ok());
  Graph graph = *read_graph(*parse_json(*text));
  for (GraphInput& input : graph.inputs) {
    if (input.shape.size() > 1) input.shape = {input.shape[0]}, input.stride = {1};
  }
  const auto problem = import_graph(graph);
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  EXPECT_EQ(problem->unsupported.size(), 1U) << problem->text;
}

TEST(Import, NamesInterfaceMutationsAndOrigins) {
  const auto problem = import_golden("conv_norm");
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  ASSERT_EQ(problem->mutations.size(), 3U);
  EXPECT_EQ(problem->mutations[0].target, "bn.running_mean");
  EXPECT_EQ(problem->mutations[0].buffer, "rm");
  ASSERT_EQ(problem->outputs.size(), 1U);
  EXPECT_EQ(problem->outputs[0].tensor, "y");
  const auto x = std::find_if(problem->inputs.begin(), problem->inputs.end(),
                              [](const ImportedInput& i) { return i.position == 0; });
  ASSERT_NE(x, problem->inputs.end());
  EXPECT_EQ(x->tensor, "x");
  ASSERT_FALSE(problem->origins.empty());
  EXPECT_EQ(problem->origins[0].op, "aten.conv2d.default");
  EXPECT_EQ(problem->origins[0].source.module, "conv");
  EXPECT_EQ(problem->origins[0].source.file, "conv_norm.py");
  EXPECT_GT(problem->origins[0].source.line, 0);
}

TEST(Import, ReportsOperatorsWithoutEquations) {
  const auto problem = import_golden("angles");
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  ASSERT_EQ(problem->unsupported.size(), 1U);
  EXPECT_EQ(problem->unsupported[0].op, "aten.nextafter.default");
  EXPECT_EQ(problem->unsupported[0].source.file, "angles.py");
}

// The exporter's own copy into the input has no place in the user's code; what it copies has.
TEST(Import, SaysWhereTheModuleWritesItsInput) {
  const auto problem = import_golden("fixed");
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  ASSERT_EQ(problem->unsupported.size(), 1U);
  EXPECT_EQ(problem->unsupported[0].op, "user_input_mutation");
  EXPECT_EQ(problem->unsupported[0].source.file, "fixed.py");
  EXPECT_EQ(problem->unsupported[0].source.line, 12);
}

TEST(Import, NotesParametersThatNothingReads) {
  const auto problem = import_golden("conv_norm");
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  EXPECT_TRUE(std::any_of(problem->notes.begin(), problem->notes.end(),
                          [](const ImportNote& n) { return n.text == "`spare.weight` is never read"; }));
  EXPECT_NE(problem->text.find("\"spare.weight\""), std::string::npos);
}

}  // namespace
}  // namespace solstice::importer
