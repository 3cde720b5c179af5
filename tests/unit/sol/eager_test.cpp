#include <gtest/gtest.h>

#include <functional>

#include "sol/eager/predict.h"

namespace solstice::sol {
namespace {

machine::Machine machine_of_eager() {
  return machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = step;
    step *= shape[i];
  }
  return out;
}

// A graph of calls, each of which reads earlier values by name.
class Calls {
 public:
  void input(const std::string& id, std::vector<int64_t> shape, GraphDType dtype = GraphDType::kF32) {
    GraphInput out;
    static_cast<GraphTensor&>(out) = {dtype, shape, strides_of(shape), 0, ""};
    out.id = id;
    graph_.inputs.push_back(out);
  }

  void call(const std::string& op, const std::vector<std::pair<std::string, Json>>& args, const std::string& id,
            std::vector<int64_t> shape, GraphDType dtype = GraphDType::kF32) {
    GraphNode node;
    node.id = id;
    node.op = "aten." + op + ".default";
    node.args = Json::object();
    for (const auto& [name, value] : args) node.args.set(name, value);
    GraphOut out;
    static_cast<GraphTensor&>(out) = {dtype, shape, strides_of(shape), 0, ""};
    out.id = id;
    node.outs = {out};
    graph_.nodes.push_back(std::move(node));
  }

  PredictedOriginal predict(EagerFlags flags = {}) const {
    const auto out = predict_original(graph_, machine_of_eager(), flags);
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
    return out.ok() ? *out : PredictedOriginal();
  }

  PredictedCalls each() const { return predict_calls(graph_, machine_of_eager(), {}); }

 private:
  Graph graph_;
};

Json t(const std::string& id) { return Json::object().set("t", id); }

Json list(std::initializer_list<int> items) {
  Json out = Json::array();
  for (const int item : items) out.push(item);
  return out;
}

constexpr double kLarge = 16384.0 * 16384 * 4;

TEST(Eager, ALargeElementwiseCallTakesItsBytesAtTheCopyCeiling) {
  Calls calls;
  calls.input("x", {16384, 16384});
  calls.call("relu", {{"self", t("x")}}, "y", {16384, 16384});
  const double rate = machine_of_eager().copy_ceiling().per_second;
  EXPECT_NEAR(calls.predict().time.value, 2 * kLarge / rate, 0.03 * kLarge / rate);
}

TEST(Eager, EachCallIsAKernelAndViewsAreNone) {
  Calls calls;
  calls.input("x", {16384, 16384});
  calls.call("relu", {{"self", t("x")}}, "a", {16384, 16384});
  calls.call("transpose", {{"self", t("a")}}, "b", {16384, 16384});
  calls.call("exp", {{"self", t("b")}}, "y", {16384, 16384});
  const PredictedOriginal found = calls.predict();
  EXPECT_EQ(found.kernels, 2);
  ASSERT_EQ(found.operators.size(), 2U);
  EXPECT_EQ(found.operators[0].calls, 1);
  EXPECT_EQ(found.operators[0].kind, "elementwise");
}

TEST(Eager, WhatTheLastKernelWroteIsReadFromL2) {
  const auto time = [](int64_t rows) {
    Calls calls;
    calls.input("x", {rows, 1024});
    calls.call("relu", {{"self", t("x")}}, "a", {rows, 1024});
    calls.call("relu", {{"self", t("a")}}, "b", {rows, 1024});
    return calls.predict().device.value;
  };
  // Four times the bytes take more than four times as long, once they do not fit.
  EXPECT_GT(time(4 * 6144), 4 * time(6144));
}

TEST(Eager, ShortCallsTakeTheHostsTime) {
  Calls calls;
  calls.input("x", {64});
  std::string last = "x";
  for (int i = 0; i < 200; ++i) {
    const std::string next = "v" + std::to_string(i);
    calls.call("relu", {{"self", t(last)}}, next, {64});
    last = next;
  }
  const PredictedOriginal found = calls.predict();
  EXPECT_GT(found.host, found.device);
  EXPECT_LT(found.time, found.host);  // a part hides behind the writes that flush L2
  EXPECT_GT(found.time, found.device);
}

TEST(Eager, ProductsUseTensorCoresByPyTorchsFlags) {
  Calls calls;
  calls.input("x", {8192, 8192});
  calls.input("w", {8192, 8192});
  calls.call("linear", {{"input", t("x")}, {"weight", t("w")}}, "y", {8192, 8192});
  const double work = 2.0 * 8192 * 8192 * 8192;
  const machine::Machine machine = machine_of_eager();
  EXPECT_NEAR(calls.predict().time.value, work / machine.ceiling(machine::Pipe::kSimtF32)->per_second, 1e-3);
  EXPECT_NEAR(calls.predict({.matmul_tf32 = true}).time.value,
              work / machine.ceiling(machine::Pipe::kTensorTF32)->per_second, 3e-4);
}

// The result that an equation implies, an extent that broadcasts, and axes without a name cost as their plain forms.
TEST(Eager, EinsumsCostAsTheirPlainForms) {
  const auto seconds = [](const char* equation, std::vector<int64_t> left) {
    Calls calls;
    calls.input("a", std::move(left));
    calls.input("b", {8, 512, 512});
    calls.call("einsum", {{"equation", equation}, {"operands", Json::array().push(t("a")).push(t("b"))}}, "y",
               {8, 512, 512});
    return calls.predict().device.value;
  };
  const double plain = seconds("bij,bjk->bik", {8, 512, 512});
  EXPECT_GT(plain, 0);
  EXPECT_DOUBLE_EQ(seconds("bij,bjk->bik", {8, 512, 512}), plain);
  EXPECT_DOUBLE_EQ(seconds("...ij,...jk->...ik", {8, 512, 512}), plain);
  EXPECT_DOUBLE_EQ(seconds("...ij,...jk", {8, 512, 512}), plain);
  EXPECT_LE(seconds("bij,bjk->bik", {1, 512, 512}), plain);
  EXPECT_GT(seconds("bij,bjk->bik", {1, 512, 512}), plain / 2);
}

TEST(Eager, AConvolutionOfOneChannelAGroupIsBoundByItsTaps) {
  Calls calls;
  calls.input("x", {16, 64, 512, 512});
  calls.input("w", {64, 1, 3, 3});
  calls.call("conv2d", {{"input", t("x")}, {"weight", t("w")}, {"groups", 64}}, "y", {16, 64, 510, 510});
  const PredictedOriginal found = calls.predict();
  EXPECT_EQ(found.operators.front().kind, "convolution, depthwise");
  EXPECT_EQ(found.operators.front().limited_by, "CUDA cores");
}

// Rows of a table, not the table.
TEST(Eager, AnEmbeddingReadsWhatItLooksUp) {
  Calls calls;
  calls.input("table", {10000000, 64});
  calls.input("ids", {1000}, GraphDType::kI64);
  calls.call("embedding", {{"weight", t("table")}, {"indices", t("ids")}}, "y", {1000, 64});
  const PredictedOriginal found = calls.predict();
  EXPECT_LT(found.device.value, 1e-5);
  EXPECT_FALSE(found.operators.front().fitted);
}

TEST(Eager, ADropoutThatDropsNothingIsNoKernel) {
  const auto kernels = [](const std::string& type) {
    Graph graph;
    graph.modules = {{"drop", type, true}};
    GraphInput x;
    static_cast<GraphTensor&>(x) = {GraphDType::kF32, {1024}, {1}, 0, ""};
    x.id = "x";
    graph.inputs = {x};
    GraphNode node;
    node.id = "y";
    node.op = "aten.clone.default";
    node.module = "drop";
    node.args = Json::object().set("self", t("x"));
    GraphOut y;
    static_cast<GraphTensor&>(y) = static_cast<GraphTensor&>(x);
    y.id = "y";
    node.outs = {y};
    graph.nodes = {node};
    return predict_original(graph, machine_of_eager(), {})->kernels;
  };
  EXPECT_EQ(kernels("torch.nn.modules.dropout.Dropout"), 0);
  EXPECT_EQ(kernels("model.Copier"), 1);
}

TEST(Eager, RowsBeyondSharedMemoryAreReadAgain) {
  const auto time = [](int64_t rows, int64_t columns) {
    Calls calls;
    calls.input("x", {rows, columns});
    calls.call("softmax", {{"self", t("x")}, {"dim", 1}}, "y", {rows, columns});
    return calls.predict().device.value;
  };
  EXPECT_GT(time(2048, 262144), 1.9 * time(262144, 2048));
}

TEST(Eager, ATupleOfPoolingArgumentsIsItsWindow) {
  Calls calls;
  calls.input("x", {128, 64, 256, 256});
  calls.call("max_pool2d", {{"self", t("x")}, {"kernel_size", list({7, 7})}}, "y", {128, 64, 250, 250});
  EXPECT_EQ(calls.predict().operators.front().limited_by, "CUDA cores");
}

TEST(Eager, AResamplingIsAKernelThatNoOriginalJudged) {
  for (const std::string op : {"upsample_bicubic2d", "grid_sampler"}) {
    Calls calls;
    calls.input("x", {8, 3, 256, 256});
    calls.call(op, {{op == "grid_sampler" ? "input" : "self", t("x")}}, "y", {8, 3, 512, 512});
    const PredictedOriginal found = calls.predict();
    EXPECT_EQ(found.kernels, 1);
    EXPECT_EQ(found.operators.front().kind, "resampling");
    EXPECT_FALSE(found.operators.front().fitted);
    EXPECT_LT(found.device.value, 2e-5);
  }
}

TEST(Eager, AFactorisationGoesColumnByColumn) {
  const auto time = [](int64_t columns) {
    Calls calls;
    calls.input("x", {columns, columns});
    calls.call("linalg_inv", {{"A", t("x")}}, "y", {columns, columns});
    EXPECT_FALSE(calls.predict().operators.front().fitted);
    return calls.predict().device.value;
  };
  EXPECT_GT(time(64), 1e-4);
  EXPECT_GT(time(512), 4 * time(64));
}

TEST(Eager, TimesOfCallsAddUpToTheOriginals) {
  Calls calls;
  calls.input("x", {16, 256, 256});
  calls.input("w", {2048, 256});
  calls.call("lstm", {{"input", t("x")}, {"params", Json::array().push(t("w"))}, {"batch_first", true}}, "h",
             {16, 256, 512});
  calls.call("topk", {{"self", t("h")}, {"k", 4}}, "k", {16, 256, 4});
  calls.call("relu", {{"self", t("k")}}, "y", {16, 256, 4});
  const PredictedCalls found = calls.each();
  const PredictedOriginal whole = calls.predict();
  EXPECT_EQ(found.original.time, whole.time);
  Seconds device{0}, host{0};
  for (const auto& [name, time] : found.calls) {
    device += time.device;
    host += time.host;
  }
  EXPECT_NEAR(device.value, whole.device.value, 1e-12);
  EXPECT_NEAR(host.value, whole.host.value, 1e-12);
  EXPECT_GT(found.calls.at("h").device.value, 1e-3);  // a step each of 256
  EXPECT_DOUBLE_EQ(found.calls.at("h").device.value, whole.operators.front().time.value);
}

TEST(Eager, ACallInPlaceIsItsOperatorAndNoView) {
  Graph graph;
  GraphInput x;
  static_cast<GraphTensor&>(x) = {GraphDType::kF32, {1024}, {1}, 0, ""};
  x.id = "x";
  graph.inputs = {x};
  GraphNode node;
  node.id = "y";
  node.op = "aten.cumsum_.default";
  node.args = Json::object().set("self", t("x"));
  node.mutates = node.view_of = {"self"};
  GraphOut y;
  static_cast<GraphTensor&>(y) = static_cast<GraphTensor&>(x);
  y.id = "y";
  node.outs = {y};
  graph.nodes = {node};
  const PredictedOriginal found = *predict_original(graph, machine_of_eager(), {});
  EXPECT_EQ(found.kernels, 1);
  EXPECT_EQ(found.operators.front().kind, "scan");
}

}  // namespace
}  // namespace solstice::sol
