// Operators without equations are sent back by name; what PyTorch breaks them up into is kept where it helps.
#include "flow/run/problem/traced_import.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"

namespace solstice::flow {
namespace {

std::string node(const std::string& id, const std::string& op, const std::string& from,
                 const std::string& dtype = "f32") {
  return R"({"id":")" + id + R"(","op":")" + op + R"(","args":{"self":{"t":")" + from +
         R"("}},"module":"","outs":[{"id":")" + id + R"(","dtype":")" + dtype +
         R"(","shape":[4],"stride":[1],"device":"cpu","used":true}]})";
}

Graph graph_of(const std::string& nodes, const std::string& last, const std::string& decomposable) {
  const std::string text =
      R"({"schema":"solstice.graph","version":1,"producer":{"decomposable":)" + decomposable +
      R"(},"semantics":{"training":true,"grad":true,"default_dtype":"f32","matmul_precision":"highest",)"
      R"("cudnn_tf32":true,"deterministic":false},"symbols":{},"files":[],"modules":[],"state":[],)"
      R"("inputs":[{"id":"x","kind":"user_input","dtype":"f32","shape":[4],"stride":[1],"device":"cpu","used":true}],)"
      R"("nodes":[)" +
      nodes + R"(],"subgraphs":{},"rng":[],"outputs":[{"kind":"user_output","value":")" + last +
      R"("}],"in_tree":null,"out_tree":null,"structure":{}})";
  const Result<Json> json = parse_json(text);
  EXPECT_TRUE(json.ok());
  Result<Graph> graph = read_graph(*json);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().text());
  return std::move(*graph);
}

TEST(TracedImport, BreaksUpWhatLacksEquations) {
  std::vector<std::vector<std::string>> asked;
  const Tracer trace = [&](const std::vector<std::string>& decompose) -> Result<Graph> {
    asked.push_back(decompose);
    if (decompose.empty())
      return graph_of(node("a", "aten.strange.default", "x"), "a", R"(["aten.strange.default","aten.exp.default"])");
    if (decompose.size() == 1)
      return graph_of(node("a", "aten.stranger.default", "x"), "a", R"(["aten.stranger.default"])");
    return graph_of(node("a", "aten.exp.default", "x"), "a", "[]");
  };
  const auto found = import_traced(trace);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_TRUE(found->imported.unsupported.empty());
  const std::vector<std::vector<std::string>> expected = {
      {}, {"aten.strange.default"}, {"aten.strange.default", "aten.stranger.default"}};
  EXPECT_EQ(asked, expected);
  ASSERT_TRUE(found->whole);  // PyTorch runs the operator, not its pieces
  EXPECT_EQ(found->whole->nodes[0].op, "aten.strange.default");
}

TEST(TracedImport, KeepsTheWholeOperatorWhereItsPartsAreNoBetter) {
  const Tracer trace = [](const std::vector<std::string>& decompose) -> Result<Graph> {
    if (decompose.empty()) return graph_of(node("a", "aten.strange.default", "x"), "a", R"(["aten.strange.default"])");
    return graph_of(node("a", "aten.odd.default", "x") + "," + node("b", "aten.odder.default", "a"), "b", "[]");
  };
  const auto found = import_traced(trace);
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->imported.unsupported.size(), 1U);
  EXPECT_EQ(found->imported.unsupported[0].op, "aten.strange.default");
  EXPECT_FALSE(found->whole);
}

TEST(TracedImport, NotesADecompositionThatFails) {
  const Tracer trace = [](const std::vector<std::string>& decompose) -> Result<Graph> {
    if (decompose.empty()) return graph_of(node("a", "aten.strange.default", "x"), "a", R"(["aten.strange.default"])");
    return fail(Code::internal, "the oracle is tired");
  };
  const auto found = import_traced(trace);
  ASSERT_TRUE(found.ok());
  ASSERT_FALSE(found->imported.notes.empty());
  EXPECT_NE(found->imported.notes.back().text.find("the oracle is tired"), std::string::npos);
}

// `strange` and `odd` of the module; `odd` cannot be broken up, `strange` can.
TEST(TracedImport, LeavesOutTheOneWhoseDecompositionFails) {
  std::vector<std::vector<std::string>> asked;
  const Tracer trace = [&](const std::vector<std::string>& decompose) -> Result<Graph> {
    asked.push_back(decompose);
    const auto named = [&](const char* op) {
      return std::find(decompose.begin(), decompose.end(), op) != decompose.end();
    };
    if (named("aten.odd.default")) return fail(Code::module_trace, "no functions here");
    const std::string first = named("aten.strange.default") ? "aten.exp.default" : "aten.strange.default";
    return graph_of(node("a", first, "x") + "," + node("b", "aten.odd.default", "a"), "b",
                    R"(["aten.strange.default","aten.odd.default"])");
  };
  const auto found = import_traced(trace);
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->imported.unsupported.size(), 1U);
  EXPECT_EQ(found->imported.unsupported[0].op, "aten.odd.default");
  ASSERT_FALSE(found->imported.notes.empty());
  EXPECT_EQ(found->imported.notes.back().text, "decomposing aten.odd.default failed: no functions here");
  const std::vector<std::vector<std::string>> expected = {{},
                                                          {"aten.strange.default", "aten.odd.default"},
                                                          {"aten.strange.default"},
                                                          {"aten.strange.default", "aten.odd.default"}};
  EXPECT_EQ(asked, expected);
}

// A transform yields complex numbers, of which no program can hold those that an operator without equations makes.
TEST(TracedImport, NamesTheCallsOfWhatNoProgramCanHold) {
  const std::string nodes = node("a", "aten.exp.default", "x") + "," + node("b", "aten.fft_fft.default", "a", "c64") +
                            "," + node("c", "aten.conj_physical.default", "b", "c64") + "," +
                            node("d", "aten.fft_irfft.default", "c") + "," + node("e", "aten.exp.default", "d");
  const auto found = import_traced([&](const auto&) -> Result<Graph> { return graph_of(nodes, "e", "[]"); });
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_TRUE(found->refused);
  EXPECT_EQ(found->refused->code, Code::unsupported_operator);
  EXPECT_NE(found->refused->message.find("aten.fft_fft.default"), std::string::npos) << found->refused->message;
  std::vector<std::string> calls;
  for (const importer::UnsupportedOp& each : found->imported.unsupported) calls.push_back(each.node);
  EXPECT_EQ(calls, (std::vector<std::string>{"b", "c", "d"}));
}

TEST(TracedImport, NamesTheCallOfAResultThatNoProgramCanHold) {
  const std::string nodes = node("a", "aten.exp.default", "x") + "," + node("b", "aten.complex.default", "a", "c64");
  Graph graph = graph_of(nodes, "b", "[]");
  graph.nodes[1].args = *parse_json(R"({"real":{"t":"a"},"imag":{"t":"x"}})");
  const auto found = import_traced([&](const auto&) -> Result<Graph> { return graph; });
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_TRUE(found->refused);
  EXPECT_EQ(found->refused->hint, "return its real and its imaginary part: `torch.view_as_real`");
  ASSERT_EQ(found->imported.unsupported.size(), 1U);
  EXPECT_EQ(found->imported.unsupported[0].node, "b");
}

}  // namespace
}  // namespace solstice::flow
