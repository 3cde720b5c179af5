#include "codegen/epilogue.h"

#include <gtest/gtest.h>

#include "host_kernels/build.h"

namespace solstice::codegen {
namespace {

using namespace ir;
using namespace solstice::testing;

// z[m,n] = sum[k](x*w) + b[n]; y = z / s[m].
struct Linear {
  ProgramBuilder b{"p"};
  int x, w, bias, scale, z, y;
  ExprRef product;

  explicit Linear(bool z_is_output) {
    x = b.input("x", {8, 32}), w = b.input("w", {16, 32}), bias = b.input("b", {16}), scale = b.input("s", {8});
    z = z_is_output ? b.output("z", {8, 16}) : b.local("z", {8, 16});
    y = b.output("y", {8, 16});
    b.kernel("k", "gemm");
    auto m = b.index("m", 8), n = b.index("n", 16);
    const auto k = b.bound("k", 32);
    product = make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k}));
    b.define(z, {m, n}, product + b.read(bias, {n}));
    auto i = b.index("i", 8), j = b.index("j", 16);
    b.define(y, {i, j}, b.read(z, {i, j}) / b.read(scale, {i}));
  }
  EpilogueRequest request() const { return {0, product.get(), {{"m", {0}}, {"n", {1}}}}; }
};

TEST(Epilogue, SplitsWhatTheAccumulatorNeeds) {
  const Linear linear(false);
  const auto code = emit_epilogue(linear.b.program, linear.b.program.kernels[0], linear.request());
  ASSERT_TRUE(code.ok()) << code.error().text();
  EXPECT_EQ(code->reads, (std::vector<int>{linear.bias, linear.scale}));
  EXPECT_NE(code->load.find("load_one(p_b + n)"), std::string::npos) << code->load;
  EXPECT_NE(code->load.find("divisor("), std::string::npos) << code->load;
  EXPECT_EQ(code->load.find("acc"), std::string::npos) << code->load;
  EXPECT_NE(code->compute.find("acc + "), std::string::npos) << code->compute;
  ASSERT_EQ(code->stores.size(), 1u);
  EXPECT_EQ(code->stores[0].tensor, linear.y);
  ASSERT_TRUE(code->stores[0].strides.has_value());
  EXPECT_EQ(*code->stores[0].strides, (std::vector<int64_t>{16, 1}));
  EXPECT_EQ(code->fields.size(), 2u);
}

TEST(Epilogue, SeveralOutputs) {
  const Linear linear(true);
  const auto code = emit_epilogue(linear.b.program, linear.b.program.kernels[0], linear.request());
  ASSERT_TRUE(code.ok()) << code.error().text();
  EXPECT_EQ(code->stores.size(), 2u);
}

TEST(Epilogue, DigitsOfAVariable) {
  ProgramBuilder b("p");
  const int x = b.input("x", {2, 8, 32}), w = b.input("w", {32, 16}), y = b.output("y", {2, 16, 8}),
            z = b.output("z", {2, 8, 16});
  b.kernel("k", "gemm");
  const auto t = b.index("t", 2), m = b.index("m", 8), n = b.index("n", 16), k = b.bound("k", 32);
  const auto product = make_reduce(Reducer::kSum, {k->id}, b.read(x, {t, m, k}) * b.read(w, {k, n}));
  b.define(z, {t, m, n}, product);
  auto i = b.index("t", 2), j = b.index("n", 16), l = b.index("m", 8);
  b.define(y, {i, j, l}, b.read(z, {i, l, j}));
  const auto code = emit_epilogue(b.program, b.program.kernels[0], {0, product.get(), {{"m", {0, 1}}, {"n", {2}}}});
  ASSERT_TRUE(code.ok()) << code.error().text();
  // z could be addressed by m alone, y cannot: both are given by the digits of m.
  for (const EpilogueStore& store : code->stores) EXPECT_FALSE(store.strides.has_value());
  EXPECT_NE(code->load.find("% 8u"), std::string::npos) << code->load;
}

// y = z * u of two sums; `turned`: u is read at the element across the diagonal.
Result<EpilogueCode> of_two_sums(bool turned) {
  ProgramBuilder b("p");
  const int x = b.input("x", {16, 32}), w = b.input("w", {16, 32}), v = b.input("v", {16, 32}),
            y = b.output("y", {16, 16});
  const int z = b.local("z", {16, 16}), u = b.local("u", {16, 16});
  b.kernel("k", "gemm");
  auto m = b.index("m", 16), n = b.index("n", 16), k = b.bound("k", 32);
  const auto first = make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k}));
  b.define(z, {m, n}, first);
  n = b.index("n", 16), m = b.index("m", 16), k = b.bound("k", 32);
  const auto second = make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(v, {n, k}));
  b.define(u, {n, m}, second);
  const auto i = b.index("i", 16), j = b.index("j", 16);
  b.define(y, {i, j}, b.read(z, {i, j}) * (turned ? b.read(u, {i, j}) : b.read(u, {j, i})));
  return emit_epilogue(b.program, b.program.kernels[0],
                       {0, first.get(), {{"m", {0}}, {"n", {1}}}, SecondAnchor{1, second.get(), {{m->id}, {n->id}}}});
}

TEST(Epilogue, TwoAccumulatorsOfOneElement) {
  const auto code = of_two_sums(false);
  ASSERT_TRUE(code.ok()) << code.error().text();
  EXPECT_TRUE(code->dual);
  EXPECT_NE(code->compute.find("acc * acc1"), std::string::npos) << code->compute;
  EXPECT_EQ(*code->stores[0].strides, (std::vector<int64_t>{16, 1}));
  const auto across = of_two_sums(true);
  ASSERT_FALSE(across.ok());
  EXPECT_NE(across.error().message.find("reads the contractions at different elements"), std::string::npos)
      << across.error().text();
}

TEST(Epilogue, RefusesWhatIsNotElementwise) {
  Linear linear(true);
  auto& b = linear.b;
  const int r = b.output("r", {8});
  auto m = b.index("m", 8);
  const auto n = b.bound("n", 16);
  b.define(r, {m}, make_reduce(Reducer::kSum, {n->id}, b.read(linear.z, {m, n})));
  const auto code = emit_epilogue(b.program, b.program.kernels[0], linear.request());
  ASSERT_FALSE(code.ok());
  EXPECT_NE(code.error().message.find("`r` reduces"), std::string::npos) << code.error().text();
}

}  // namespace
}  // namespace solstice::codegen
