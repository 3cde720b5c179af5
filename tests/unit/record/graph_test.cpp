#include "record/graph.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

constexpr const char* kGraph = R"({
 "schema": "solstice.graph", "version": 1, "producer": {"torch": "2.13.0"},
 "semantics": {"training": true, "default_dtype": "f32"}, "symbols": {}, "files": ["model.py"],
 "modules": [{"path": "", "type": "model.Model", "training": true}],
 "state": [{"fqn": "n", "kind": "buffer", "dtype": "i64", "shape": [], "stride": [], "device": "cpu"}],
 "inputs": [
  {"id": "b_n", "kind": "buffer", "fqn": "n", "dtype": "i64", "shape": [], "stride": [], "storage": 0, "used": true},
  {"id": "x", "kind": "user_input", "dtype": "b1", "shape": [3, 4], "stride": [4, 1], "used": true},
  {"id": "flag", "kind": "user_input", "value": true}],
 "nodes": [{"id": "cat", "op": "aten.cat.default", "args": {"tensors": [{"t": "x"}, {"t": "x"}], "dim": 0},
   "outs": [{"id": "cat", "dtype": "b1", "shape": [6, 4], "stride": [4, 1], "used": true}, null],
   "module": "", "src": {"file": 0, "line": 9}}],
 "outputs": [{"kind": "buffer_mutation", "value": "b_n", "target": "n"},
             {"kind": "user_output", "value": "cat"}, {"kind": "user_output", "const": null}]
})";

Result<Graph> read_edited(const std::string& from, const std::string& to) {
  std::string text = kGraph;
  const size_t at = text.find(from);
  if (at == std::string::npos) return fail(Code::internal, "the edit does not apply");
  text.replace(at, from.size(), to);
  SOLSTICE_TRY(const Json json, parse_json(text));
  return read_graph(json);
}

std::string message(const Result<Graph>& graph) { return graph.ok() ? "accepted" : graph.error().message; }

TEST(Graph, Reads) {
  const auto graph = read_edited("model.py", "model.py");
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(graph->inputs[1].dtype, GraphDType::kB1);
  EXPECT_EQ(storage_dtype(*graph->inputs[1].dtype), DType::kBool);
  EXPECT_FALSE(graph->inputs[2].is_tensor());
  EXPECT_TRUE(graph->inputs[2].value.as_bool());
  EXPECT_FALSE(graph->nodes[0].outs[1]);
  EXPECT_EQ(graph->nodes[0].src->line, 9);
  EXPECT_EQ(graph->find_input("x"), &graph->inputs[1]);
  EXPECT_EQ(graph->find_input("y"), nullptr);
}

TEST(Graph, RefusesAnUnknownVersion) {
  EXPECT_NE(message(read_edited("\"version\": 1", "\"version\": 2")).find("version 2 is not known"), std::string::npos);
}

TEST(Graph, RefusesSymbolicShapes) {
  const auto graph = read_edited("\"symbols\": {}", "\"symbols\": {\"s0\": [\"2\", \"64\"]}");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, Code::not_yet);
}

// Found by fuzzing.
TEST(Graph, RefusesSymbolsWithoutNames) {
  EXPECT_NE(
      message(read_edited("\"symbols\": {}", "\"symbols\": [{\"path\": \"\"}]")).find("`symbols` is not an object"),
      std::string::npos);
}

TEST(Graph, RefusesAReadBeforeTheDefinition) {
  EXPECT_NE(message(read_edited("[{\"t\": \"x\"}", "[{\"t\": \"later\"}")).find("reads `later` before"),
            std::string::npos);
}

TEST(Graph, RefusesTwoValuesOfOneName) {
  EXPECT_NE(message(read_edited("{\"id\": \"flag\"", "{\"id\": \"x\"")).find("`x` is defined twice"),
            std::string::npos);
}

TEST(Graph, RefusesAMutationOfNothing) {
  EXPECT_NE(message(read_edited("\"target\": \"n\"", "\"target\": \"m\"")).find("writes `m`"), std::string::npos);
}

TEST(Graph, RefusesClosedFormsThatSayNothing) {
  const std::string form = R"("closed_form": {"kind": "arange", "axes": [0], "value": 0, "step": 1}, )";
  EXPECT_NE(message(read_edited("\"storage\": 0", form + "\"storage\": 0")).find("`b_n` is written"),
            std::string::npos);
  const std::string user = "\"kind\": \"user_input\", \"dtype\"";
  EXPECT_NE(message(read_edited(user, "\"kind\": \"user_input\", " + form + "\"dtype\"")).find("`x` is no buffer"),
            std::string::npos);
}

TEST(Graph, RefusesShapeAndStridesOfUnequalRank) {
  EXPECT_NE(message(read_edited("\"stride\": [4, 1], \"used\": true},\n  {\"id\": \"flag\"",
                                "\"stride\": [4], \"used\": true},\n  {\"id\": \"flag\""))
                .find("2 extents but 1 strides"),
            std::string::npos);
}

TEST(Graph, RefusesASourceFileThatIsNotListed) {
  EXPECT_NE(message(read_edited("\"file\": 0", "\"file\": 3")).find("source file 3 of 1"), std::string::npos);
}

TEST(Graph, RefusesAnUnknownOutput) {
  EXPECT_NE(message(read_edited("\"value\": \"cat\"", "\"value\": \"dog\"")).find("`dog` is no value"),
            std::string::npos);
}

}  // namespace
}  // namespace solstice
