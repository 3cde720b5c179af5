// Graphs that PyTorch cannot have written are refused, with the node and its line. Most cases were found by fuzzing
// (tests/fuzz/graph.cpp).
#include <gtest/gtest.h>

#include "base/file.h"
#include "import/import.h"

namespace solstice::importer {
namespace {

// angles.json: exp and flip of x[4, 5], nextafter of both, times 2. The node `flip` becomes another operator of x.
Graph with_node(const std::string& op, const std::string& args, std::vector<int64_t> shape) {
  Graph graph = *read_graph(*parse_json(*read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/angles.json")));
  GraphNode& node = graph.nodes.at(1);
  node.op = op;
  node.args = *parse_json(args);
  node.outs.at(0)->shape = std::move(shape);
  node.outs.at(0)->stride.clear();
  return graph;
}

struct Damaged {
  const char* name;
  const char* op;
  const char* args;
  std::vector<int64_t> shape;
  const char* message;
};

class ImportDamage : public ::testing::TestWithParam<Damaged> {};

TEST_P(ImportDamage, IsRefusedWithTheLine) {
  const Damaged& damage = GetParam();
  const auto problem = import_graph(with_node(damage.op, damage.args, damage.shape));
  ASSERT_FALSE(problem.ok()) << problem->text;
  EXPECT_EQ(problem.error().code, Code::bad_record) << problem.error().text();
  EXPECT_NE(problem.error().message.find(damage.message), std::string::npos) << problem.error().message;
  EXPECT_EQ(problem.error().file, "angles.py");
  EXPECT_EQ(problem.error().line, 8);
}

const Damaged kDamaged[] = {
    {"ViewOfMore",
     "aten.view.default",
     R"({"self": {"t": "x"}, "size": [4, 6]})",
     {4, 6},
     "a view of other than all elements"},
    {"PermutationOfOneAxis",
     "aten.permute.default",
     R"({"self": {"t": "x"}, "dims": [0, 0]})",
     {4, 4},
     "axes that are no permutation"},
    {"PermutationOfThree",
     "aten.permute.default",
     R"({"self": {"t": "x"}, "dims": [0, 4294967296]})",
     {4, 4},
     "dimensions of the tensor"},
    {"RollOfNoAxis",
     "aten.roll.default",
     R"({"self": {"t": "x"}, "shifts": [1], "dims": [3]})",
     {4, 5},
     "dimensions of the tensor"},
    {"StepOfNothing",
     "aten.slice.Tensor",
     R"({"self": {"t": "x"}, "dim": 0, "start": 0, "end": 4, "step": 0})",
     {4, 5},
     "an integer above 0"},
    {"PartsOfNothing",
     "aten.split.Tensor",
     R"({"self": {"t": "x"}, "split_size": 0, "dim": 0})",
     {4, 5},
     "an integer above 0"},
    {"MorePartsThanResults",
     "aten.split.Tensor",
     R"({"self": {"t": "x"}, "split_size": 1, "dim": 0})",
     {4, 5},
     "fewer results than parts"},
    {"ShuffleOfAVector",
     "aten.channel_shuffle.default",
     R"({"self": {"t": "x"}, "groups": 2})",
     {20},
     "a result of too low a rank"},
    {"PaddedBeyondAll",
     "aten.constant_pad_nd.default",
     R"({"self": {"t": "x"}, "pad": [4611686018427387904, 0], "value": 0})",
     {4, 5},
     "below 2^56"},
    {"NegativePart",
     "aten.narrow.default",
     R"({"self": {"t": "x"}, "dim": 0, "start": 0, "length": -3})",
     {4, 5},
     "a negative extent"},
    {"ExpandedToLess",
     "aten.expand.default",
     R"({"self": {"t": "x"}, "size": [5]})",
     {5},
     "an operand of too high a rank"},
    {"StackOfNothing", "aten.stack.default", R"({"tensors": [], "dim": 0})", {1, 4}, "too few operands"},
    {"NoOperand",
     "aten.soft_margin_loss.default",
     R"({"target": {"t": "x"}, "reduction": 1})",
     {},
     "no argument `self`"},
    {"OperandOfNone",
     "aten.mse_loss.default",
     R"({"self": null, "target": {"t": "x"}, "reduction": 1})",
     {},
     "too few operands"},
    {"BiasOfAMatrix",
     "aten.linear.default",
     R"({"input": {"t": "x"}, "weight": {"t": "x"}, "bias": {"t": "x"}})",
     {4, 4},
     "an operand of another rank"},
};

INSTANTIATE_TEST_SUITE_P(All, ImportDamage, ::testing::ValuesIn(kDamaged),
                         [](const auto& test) { return test.param.name; });

TEST(DamagedImport, ConvolutionsHaveGroupsAndSteps) {
  const Graph graph = *read_graph(*parse_json(*read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/conv_norm.json")));
  for (const char* name : {"groups", "stride", "dilation"}) {
    for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1} << 62}) {
      Graph damaged = graph;
      damaged.nodes.at(0).args.set(name, value);
      const auto problem = import_graph(damaged);
      ASSERT_FALSE(problem.ok()) << name << " = " << value;
      EXPECT_EQ(problem.error().code, Code::bad_record) << problem.error().text();
    }
  }
}

TEST(DamagedImport, APoolOfNoElementsIsLeftToPyTorch) {
  const auto problem = import_graph(
      with_node("aten.adaptive_max_pool1d.default", R"({"self": {"t": "x"}, "output_size": [0]})", {4, 0}));
  EXPECT_FALSE(problem.ok() && problem->unsupported.empty());
}

// A projection to fewer features is an LSTM's.
TEST(DamagedImport, AnRnnHasNoProjection) {
  Graph graph = *read_graph(*parse_json(*read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/lstm.json")));
  for (GraphNode& node : graph.nodes) {
    if (node.op != "aten.lstm.input") continue;
    const Json state = node.args.at("hx").items().at(0);
    node.op = "aten.rnn_tanh.input";
    node.args.set("hx", state).set("has_biases", true).set("num_layers", 1).set("bidirectional", false);
    Json params = Json::array();
    for (int i = 0; i < 5; ++i) params.push(node.args.at("params").items().at(0));
    node.args.set("params", params);
    const auto problem = import_graph(graph);
    EXPECT_FALSE(problem.ok() && problem->unsupported.empty());
    return;
  }
  FAIL() << "no LSTM";
}

TEST(DamagedImport, AMissingOperandIsNoneThatWasLeftOut) {
  Graph graph = *read_graph(*parse_json(*read_file(SOLSTICE_SOURCE_DIR "/tests/golden/import/conv_norm.json")));
  for (GraphNode& node : graph.nodes) {
    if (node.args.find("running_var")) node.args.set("running_var", nullptr);
  }
  const auto problem = import_graph(graph);
  ASSERT_FALSE(problem.ok());
  EXPECT_NE(problem.error().message.find("too few operands"), std::string::npos) << problem.error().message;
}

}  // namespace
}  // namespace solstice::importer
