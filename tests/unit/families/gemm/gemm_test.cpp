// Family gemm without a GPU: roles, orientation, legality, and what is emitted.
#include <gtest/gtest.h>

#include "families/gemm/cost.h"
#include "families/gemm/steps.h"
#include "unit/families/gemm/gemm_programs.h"

namespace solstice::families::of_gemm {
namespace {

using namespace ir;
using namespace solstice::testing;

TEST(Gemm, LinearSplitsMultipliesAndFallsBack) {
  Linear linear;
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("none"));
  const Emission emission = emission_of(linear.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-fallback"}));
  EXPECT_EQ(emission.sources.size(), 3u);
  EXPECT_EQ(emission.workspace.size(), 6u);
  EXPECT_TRUE(emission.steps[1].pdl);
  EXPECT_LE(emission.steps[1].shared_bytes, static_cast<int64_t>(h200().shared_per_block.value));
}

TEST(Gemm, FrozenWeightsAreSplitAtLoad) {
  Linear linear;
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("none"));
  const Emission emission = emission_of(linear.b.program, true);
  EXPECT_EQ(steps_of(emission), (Names{"up-pack_b", "up-split", "up", "up-fallback"}));
  EXPECT_EQ(emission.steps[0].phase, Phase::kPrepare);
  for (const PlanBuffer& buffer : emission.workspace)
    EXPECT_EQ(buffer.persistent, buffer.name.back() == 'b') << buffer.name;
}

TEST(Gemm, TransposedWeightIsReadAsItLies) {
  Linear linear(640, 512, 256, true);
  linear.kernel().knobs.set("tile", KnobValue::of_size({128, 256}));
  const Emission emission = emission_of(linear.b.program);
  EXPECT_NE(emission.sources[1].code.find("mma::Major::kK, mma::Major::kMN"), std::string::npos);
}

TEST(Gemm, OddExtentsUseNarrowLoadsAndDirectStores) {
  Linear linear(77, 131, 1001);
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("none"));
  const Emission emission = emission_of(linear.b.program);
  EXPECT_NE(emission.sources[0].code.find("mma::Major::kK, 1>(x"), std::string::npos) << emission.sources[0].code;
  EXPECT_NE(emission.sources[1].code.find("kTma = false"), std::string::npos);
}

TEST(Gemm, BlocksAlongTheColumnsShareTheRowsOperand) {
  Linear linear(1111, 1777, 1333);
  linear.kernel().knobs.set("tile", KnobValue::of_size({128, 128}));
  linear.kernel().knobs.set("cluster", KnobValue::of_size({1, 2}));
  const Emission emission = emission_of(linear.b.program);
  const Step& product = emission.steps[1];
  EXPECT_EQ(product.cluster[0], 2);
  EXPECT_EQ(product.grid[0], 126);
  EXPECT_EQ(product.arguments[0].map.box[1], 64);
  EXPECT_EQ(product.arguments[1].map.box[1], 128);
}

TEST(Gemm, HalfOperandsNeedNoSplit) {
  Linear linear(512, 512, 512, false, DType::kBF16);
  const Emission emission = emission_of(linear.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"up"})) << emission.sources[0].code;
  EXPECT_EQ(emission.steps[0].arguments[0].map.buffer, "x");
  EXPECT_EQ(emission.steps[0].arguments[2].map.swizzle, 64);
}

// A product of fp8 operands, of which either may lie the other way round or have gaps between its lines.
struct ByteProduct {
  ProgramBuilder b{"p"};
  explicit ByteProduct(DType left = DType::kE4M3, DType right = DType::kE5M2, int64_t K = 512, bool transposed = false,
                       DType result = DType::kF32) {
    const int x = b.input("x", {640, K}, left);
    const int w = b.input("w", transposed ? std::vector<int64_t>{K, 512} : std::vector<int64_t>{512, K}, right);
    const int y = b.output("y", {640, 512}, result);
    b.kernel("up", "gemm");
    const auto m = b.index("m", 640), n = b.index("n", 512), k = b.bound("k", K);
    b.define(y, {m, n},
             make_reduce(
                 Reducer::kSum, {k->id},
                 b.read(x, {m, k}) * b.read(w, transposed ? std::vector<ExprRef>{k, n} : std::vector<ExprRef>{n, k})));
  }
  Kernel& kernel() { return b.program.kernels.front(); }
};

TEST(Gemm, BytesAreMultipliedAsTheyAreStored) {
  const ByteProduct bytes;
  const Emission emission = emission_of(bytes.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"up"}));
  EXPECT_NE(emission.sources[0].code.find("mainloop::Fp8<mma::E4M3, mma::E5M2>, mma::Major::kK, mma::Major::kK"),
            std::string::npos)
      << emission.sources[0].code;
  const TensorMap& map = emission.steps[0].arguments[0].map;
  EXPECT_EQ(map.buffer, "x");
  EXPECT_EQ(map.dtype, DType::kU8);
  EXPECT_EQ(map.extents[0], 512);
  EXPECT_EQ(map.strides[0], 512);
  EXPECT_EQ(map.box[0], 128);
}

// Of 128 x 256 as of every tile: a stage holds 128 k, after which sums are promoted.
TEST(Gemm, AStageOfBytesHolds128K) {
  ByteProduct bytes;
  bytes.kernel().knobs.set("tile", KnobValue::of_size({128, 256, 128}));
  EXPECT_EQ(first_diagnostic(bytes.b.program), "");
  EXPECT_NE(emission_of(bytes.b.program).sources[0].code.find("gemm::TensorTile<128, 2, 2>"), std::string::npos);
  bytes.kernel().knobs.set("tile", KnobValue::of_size({128, 256, 64}));
  EXPECT_NE(first_diagnostic(bytes.b.program).find("a stage of `math=fp8` holds 128 k"), std::string::npos)
      << first_diagnostic(bytes.b.program);
}

TEST(Gemm, BytesThatDoNotLieAsTheTensorCoresTakeThemAreWidened) {
  for (const bool transposed : {false, true}) {
    ByteProduct bytes(DType::kE4M3, DType::kE4M3, transposed ? 512 : 500, transposed);
    const Emission emission = emission_of(bytes.b.program);
    ASSERT_EQ(steps_of(emission), (Names{"up"}));
    EXPECT_NE(emission.sources[0].code.find("gemm::StridedOperand<solstice::math::E4M3>"), std::string::npos)
        << emission.sources[0].code;
    bytes.kernel().knobs.set("math", KnobValue::of_name("fp8"));
    const std::string said = first_diagnostic(bytes.b.program);
    EXPECT_NE(said.find(transposed
                            ? "E114: `math=fp8` reads operands in place, and `k` of `w` is not contiguous"
                            : "E114: `math=fp8` reads operands in place, and base, lines or batches of `x` are not at"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("closest: `math=simt"), std::string::npos) << said;
  }
}

TEST(Gemm, BytesBesideWiderOperandsAreSplitAsThese) {
  const ByteProduct bytes(DType::kE5M2, DType::kBF16);
  ByteProduct written = bytes;
  written.kernel().knobs.set("math", KnobValue::of_name("fp8"));
  EXPECT_NE(first_diagnostic(written.b.program).find("E110"), std::string::npos) << first_diagnostic(written.b.program);
  written.kernel().knobs = {};
  written.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  written.kernel().knobs.set("stream", KnobValue::of_name("none"));
  const Emission emission = emission_of(written.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-fallback"}));
  EXPECT_NE(emission.sources[0].code.find("gemm::Operand<solstice::math::E5M2>"), std::string::npos)
      << emission.sources[0].code;
}

TEST(Gemm, ResultsOfAByteLeaveByTheCopyEngine) {
  const ByteProduct bytes(DType::kE4M3, DType::kE4M3, 512, false, DType::kE4M3);
  const Emission emission = emission_of(bytes.b.program);
  const TensorMap& map = emission.steps[0].arguments[2].map;
  EXPECT_EQ(map.buffer, "y");
  EXPECT_EQ(map.swizzle, 0);
  EXPECT_EQ(map.strides[0], 512);
}

TEST(Gemm, EveryMathCompilesToASource) {
  for (const char* math : {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3"}) {
    Linear linear;
    linear.b.program.kernels[0].name = math;
    linear.kernel().knobs.set("math", KnobValue::of_name(math));
    const Emission emission = emission_of(linear.b.program, false, "medium");
    EXPECT_FALSE(emission.sources.empty()) << math;
  }
}

TEST(Gemm, ResultsWithContiguousColumnsExchangeTheOperands) {
  ProgramBuilder b("p");
  const int x = b.input("x", {96, 64}), w = b.input("w", {128, 64}), y = b.output("y", {128, 96});
  b.kernel("t", "gemm");
  const auto m = b.index("m", 96), n = b.index("n", 128), k = b.bound("k", 64);
  b.define(y, {n, m}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k})));
  const auto problem = gemm::make_problem(b.program, b.program.kernels[0]);
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  EXPECT_EQ(problem->product.a.tensor, w);
  EXPECT_EQ(problem->product.m, 128);
  EXPECT_TRUE(tensor_core::stores_by_copy_engine(b.program, problem->product, problem->epilogue));
}

// The copy engine would write the padding behind each row, and behind the last one.
TEST(Gemm, RowsThatEndWithinAUnitAreNotStoredByTheCopyEngine) {
  for (const int64_t columns : {60, 63}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {96, 64}), w = b.input("w", {columns, 64}), y = b.output("y", {96, columns});
    b.program.tensors[static_cast<size_t>(y)].strides = {64, 1};
    b.kernel("k", "gemm");
    const auto m = b.index("m", 96), n = b.index("n", columns), k = b.bound("k", 64);
    b.define(y, {m, n}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k})));
    const auto problem = gemm::make_problem(b.program, b.program.kernels[0]);
    ASSERT_TRUE(problem.ok()) << problem.error().text();
    EXPECT_EQ(tensor_core::stores_by_copy_engine(b.program, problem->product, problem->epilogue), columns == 60);
  }
}

TEST(Gemm, RolesOfABatchedProductOfHeads) {
  // s[t,h,i,j] = sum[d](q[t,i,h,d] * k[t,j,h,d]): batch (t, h) does not flatten, as h lies inside i.
  ProgramBuilder b("p");
  const int q = b.input("q", {2, 16, 4, 32}), r = b.input("k", {2, 24, 4, 32}), s = b.output("s", {2, 4, 16, 24});
  b.kernel("scores", "gemm");
  auto t = b.index("t", 2), h = b.index("h", 4), i = b.index("i", 16), j = b.index("j", 24), d = b.bound("d", 32);
  b.define(s, {t, h, i, j}, make_reduce(Reducer::kSum, {d->id}, b.read(q, {t, i, h, d}) * b.read(r, {t, j, h, d})));
  EXPECT_NE(refusal_of(b.program).find("batch do not step through both operands"), std::string::npos)
      << refusal_of(b.program);

  ProgramBuilder c("p");
  const int u = c.input("u", {2, 4, 16, 32}), v = c.input("v", {2, 4, 32, 24}), o = c.output("o", {2, 16, 4, 24});
  c.kernel("values", "gemm");
  t = c.index("t", 2), h = c.index("h", 4), i = c.index("i", 16), j = c.index("j", 24), d = c.bound("d", 32);
  c.define(o, {t, i, h, j}, make_reduce(Reducer::kSum, {d->id}, c.read(u, {t, h, i, d}) * c.read(v, {t, h, d, j})));
  const auto problem = gemm::make_problem(c.program, c.program.kernels[0]);
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  EXPECT_EQ(problem->product.batches, 8);
  EXPECT_FALSE(tensor_core::stores_by_copy_engine(c.program, problem->product, problem->epilogue));
  emission_of(c.program);
}

// Tiles outside the half-plane are only written; what is needed everywhere is computed everywhere.
TEST(Gemm, ATriangleNeedsHalfOfItsProducts) {
  const auto of = [](const std::string& equation) {
    Diagnostics diagnostics;
    const std::string head =
        "program p\ndim M = 4096, N = 2048, K = 512\ninput x : bf16[M, K]\ninput w : bf16[N, K]\noutput y : f32[M, "
        "N]\n";
    const std::string text =
        head + "kernel k by gemm(tile=128x256) {\np[m,n] = sum[k](x[m,k] * w[n,k])\n" + equation + "\n}\n";
    auto program = load_program(text, "p.ucut", diagnostics);
    EXPECT_TRUE(program.ok()) << program.error().text();
    return *std::move(program);
  };
  const auto plane = [&](const std::string& equation) {
    const std::string code = emission_of(of(equation)).sources.back().code;
    const size_t begin = code.find("problem{") + 8, at = code.find('{', begin), end = code.find('}', at);
    return code.substr(at, end + 1 - at);
  };
  EXPECT_EQ(plane("y[m,n] = select(n <= m, p[m,n], 0)"), "{1, -1, 0}");
  EXPECT_EQ(plane("y[m,n] = relu(1 - select(n < 2*m + 5, 3, p[m,n]))"), "{-2, 1, -5}");
  EXPECT_EQ(plane("y[m,n] = select(n <= m, p[m,n], 0) + p[m,n]"), "{}");
  EXPECT_EQ(plane("y[m,n] = select(n % 2 == 0, p[m,n], 0)"), "{}");
  EXPECT_EQ(plane("y[m,n] = p[m,n]"), "{}");
  const auto time = [&](const std::string& equation) {
    const Program program = of(equation);
    const Context context{program, h200(), "reference", false};
    return find_family("gemm")->cost(context, program.kernels.front())->time.value;
  };
  EXPECT_LT(time("y[m,n] = select(n >= m, p[m,n], 0)"), 0.75 * time("y[m,n] = p[m,n]"));
}

// y[m,n] = silu(sum[k](x[m,k] * w[n,k])) * sum[k](x[m,k] * v[n,k]), or w and v as halves of one tensor.
struct Gate {
  ProgramBuilder b{"p"};
  int x, w, v, y;
  explicit Gate(DType dtype, bool halves = false, bool right = false, bool alike = true, int64_t N = 640) {
    const int64_t M = 512, K = 768;
    x = b.input("x", {M, K}, dtype);
    w = b.tensor("w", TensorKind::kParam, {halves ? 2 * N : N, K}, dtype);
    v = halves
            ? w
            : b.tensor("v", TensorKind::kParam, alike ? std::vector<int64_t>{N, K} : std::vector<int64_t>{K, N}, dtype);
    y = b.output("y", {M, N}, dtype);
    const int g = b.local("g", {M, N}), u = b.local("u", {M, N});
    b.kernel("gate", "gemm");
    auto m = b.index("m", M), n = b.index("n", N), k = b.bound("k", K);
    b.define(g, {m, n}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k})));
    m = b.index("m", M), n = b.index("n", N), k = b.bound("k", K);
    const auto weight = halves ? b.read(w, {n + whole(N), k}) : alike ? b.read(v, {n, k}) : b.read(v, {k, n});
    b.define(u, {m, n},
             make_reduce(Reducer::kSum, {k->id}, right ? weight * b.read(x, {m, k}) : b.read(x, {m, k}) * weight));
    m = b.index("m", M), n = b.index("n", N);
    b.define(y, {m, n}, op(Op::kTanh, {b.read(g, {m, n})}) * b.read(u, {m, n}));
  }
  Kernel& kernel() { return b.program.kernels.front(); }
};

TEST(Gemm, TwoSumsThatShareAnOperandAreOneKernel) {
  for (const bool right : {false, true}) {
    Gate gate(DType::kBF16, false, right);
    gate.kernel().knobs.set("tile", KnobValue::of_size({128, 256}));
    gate.kernel().knobs.set("cluster", KnobValue::of_size({2, 1}));
    const Emission emission = emission_of(gate.b.program);
    ASSERT_EQ(steps_of(emission), (Names{"gate"}));
    EXPECT_TRUE(emission.workspace.empty());
    const Step& step = emission.steps[0];
    EXPECT_EQ(step.arguments[0].map.buffer, "x");
    EXPECT_EQ(step.arguments[1].map.buffer, "w");
    EXPECT_EQ(step.arguments[2].map.buffer, "v");
    EXPECT_EQ(step.arguments[1].map.box[1], 64) << "half of the 128 columns of w";
    EXPECT_EQ(step.grid[0], 4 * 5);
    EXPECT_NE(emission.sources[0].code.find("compute(float acc, float acc1, const In& in"), std::string::npos);
  }
}

TEST(Gemm, TwoSumsOverHalvesOfOneTensor) {
  Gate gate(DType::kBF16, true);
  const Emission emission = emission_of(gate.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"gate"}));
  EXPECT_EQ(emission.steps[0].arguments[1].map.offset, 0);
  EXPECT_EQ(emission.steps[0].arguments[2].map.offset, 640 * 768 * 2);
}

TEST(Gemm, TwoSumsOfPlanesSplitThreeOperandsAndFallBackTogether) {
  Gate gate(DType::kF32);
  gate.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  const Emission live = emission_of(gate.b.program);
  ASSERT_EQ(steps_of(live), (Names{"gate-split", "gate", "gate-fallback"}));
  EXPECT_EQ(live.workspace.size(), 9u);
  EXPECT_NE(live.sources[2].code.find("guard_b1"), std::string::npos) << live.sources[2].code;
  const Emission frozen = emission_of(gate.b.program, true);
  EXPECT_EQ(steps_of(frozen), (Names{"gate-pack_b", "gate-pack_b1", "gate-split", "gate", "gate-fallback"}));
}

TEST(Gemm, TwoSumsHaveFormsOfTheirOwn) {
  Gate gate(DType::kF32);
  gate.kernel().knobs.set("stream", KnobValue::of_name("columns"));
  EXPECT_NE(first_diagnostic(gate.b.program).find("E117: `stream=columns` of two sums that share an operand"),
            std::string::npos)
      << first_diagnostic(gate.b.program);
  gate.kernel().knobs = {};
  gate.kernel().knobs.set("math", KnobValue::of_name("simt"));
  EXPECT_EQ(first_diagnostic(gate.b.program), "");
  gate.kernel().knobs.set("tile", KnobValue::of_size({32, 32}));
  EXPECT_NE(first_diagnostic(gate.b.program).find("closest: `tile=128x128`"), std::string::npos)
      << first_diagnostic(gate.b.program);
  gate.kernel().knobs = {};
  gate.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  gate.kernel().knobs.set("tile", KnobValue::of_size({128, 64}));
  EXPECT_NE(first_diagnostic(gate.b.program).find("E111: no kernel for `tile=128x64` and two sums"), std::string::npos)
      << first_diagnostic(gate.b.program);
  gate.kernel().knobs = {};
  const Context context{gate.b.program, h200(), "medium", true};
  const auto proposals = find_family("gemm")->propose(context, gate.kernel());
  ASSERT_TRUE(proposals.ok());
  for (const auto& [knobs, time] : *proposals) {
    gate.kernel().knobs = knobs;
    EXPECT_EQ(first_diagnostic(gate.b.program, true, "medium"), "") << to_text(knobs);
    emission_of(gate.b.program, true, "medium");
  }
}

TEST(Gemm, SaysWhyTwoSumsAreNoKernel) {
  EXPECT_NE(refusal_of(Gate(DType::kBF16, false, false, false).b.program)
                .find("`w` and `v`, which differ in format or in what is contiguous"),
            std::string::npos);
  const auto with = [](std::vector<int64_t> strides, bool shared, int64_t other) {
    ProgramBuilder b("p");
    const int x = b.input("x", {64, 32}), z = b.input("z", {64, 32}), w = b.input("w", {48, 32}),
              v = b.input("v", {other, 32}), y = b.output("y", {64, 48}), t = b.output("t", {64, other});
    b.program.tensors[static_cast<size_t>(y)].strides = strides;
    b.kernel("k", "gemm");
    auto m = b.index("m", 64), n = b.index("n", 48), k = b.bound("k", 32);
    b.define(y, {m, n}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k})));
    m = b.index("m", 64), n = b.index("n", other), k = b.bound("k", 32);
    b.define(t, {m, n}, make_reduce(Reducer::kSum, {k->id}, b.read(shared ? x : z, {m, k}) * b.read(v, {n, k})));
    return refusal_of(b.program);
  };
  EXPECT_EQ(with({48, 1}, true, 48), "");
  EXPECT_NE(with({48, 1}, false, 48).find("share no operand"), std::string::npos) << with({48, 1}, false, 48);
  EXPECT_NE(with({48, 1}, true, 40).find("whose extents differ"), std::string::npos) << with({48, 1}, true, 40);
  EXPECT_NE(with({1, 64}, true, 48).find("along the rows of `x`, which they share"), std::string::npos)
      << with({1, 64}, true, 48);
}

TEST(Gemm, SaysWhyItDoesNotMatch) {
  ProgramBuilder b("p");
  const int x = b.input("x", {8, 32}), y = b.output("y", {8});
  b.kernel("k", "gemm");
  const auto m = b.index("m", 8), k = b.bound("k", 32);
  b.define(y, {m}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k})));
  EXPECT_EQ(refusal_of(b.program), "no equation holds a sum over a product");
}

TEST(Gemm, LegalityNamesTheNearestValue) {
  Linear linear;
  linear.kernel().knobs.set("math", KnobValue::of_name("bf16"));
  EXPECT_NE(first_diagnostic(linear.b.program).find("E110: `math=bf16` is less accurate"), std::string::npos)
      << first_diagnostic(linear.b.program);
  linear.kernel().knobs = {};
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("tile", KnobValue::of_size({256, 256}));
  EXPECT_NE(first_diagnostic(linear.b.program).find("legal: 128x256, 128x128"), std::string::npos);
  linear.kernel().knobs.set("tile", KnobValue::of_size({128, 256, 32}));
  EXPECT_NE(first_diagnostic(linear.b.program).find("closest: `tile=128x256x64`"), std::string::npos)
      << first_diagnostic(linear.b.program);
  linear.kernel().knobs.set("tile", KnobValue::of_size({128, 256, 64}));
  linear.kernel().knobs.set("stages", KnobValue::of_int(3));
  EXPECT_NE(first_diagnostic(linear.b.program).find("shared memory: A 3 x 32 KiB + B 6 x 32 KiB + staging 32 KiB"),
            std::string::npos)
      << first_diagnostic(linear.b.program);
  linear.kernel().knobs = {};
  linear.kernel().knobs.set("cluster", KnobValue::of_size({2, 2}));
  EXPECT_NE(first_diagnostic(linear.b.program).find("E112: `cluster=2x2`"), std::string::npos)
      << first_diagnostic(linear.b.program);
  linear.kernel().knobs = {};
  linear.kernel().knobs.set("math", KnobValue::of_name("simt"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("rows"));
  EXPECT_NE(first_diagnostic(linear.b.program).find("E117: `math=simt, stream=rows` holds at most 8 lines"),
            std::string::npos)
      << first_diagnostic(linear.b.program);
  linear.kernel().knobs = {};
  linear.kernel().knobs.set("tile", KnobValue::of_size({40, 128}));
  linear.kernel().knobs.set("stream", KnobValue::of_name("columns"));
  EXPECT_NE(first_diagnostic(linear.b.program).find("E117: no kernel for `tile=40x128`"), std::string::npos)
      << first_diagnostic(linear.b.program);
  linear.kernel().knobs = {};
  linear.kernel().knobs.set("prepack", KnobValue::of_name("true"));
  EXPECT_NE(first_diagnostic(linear.b.program).find("E115"), std::string::npos);
}

TEST(Gemm, ProposesBySize) {
  const Linear large(4096, 4096, 4096), small(256, 256, 256);
  const auto first = [](const Program& program) {
    const Context context{program, h200()};
    const auto proposals = find_family("gemm")->propose(context, program.kernels.front());
    return proposals.ok() && !proposals->empty() ? to_text(proposals->front().knobs) : proposals.error().text();
  };
  EXPECT_EQ(first(large.b.program), "math=fp16x3, tile=128x256x64, cluster=2x1, split=1");
  EXPECT_EQ(first(small.b.program).find("128x256"), std::string::npos) << first(small.b.program);
}

TEST(Gemm, EveryProposalIsLegal) {
  for (const bool transposed : {false, true}) {
    Linear linear(300, 200, 100, transposed);
    const Context context{linear.b.program, h200(), "medium", true};
    const auto proposals = find_family("gemm")->propose(context, linear.kernel());
    ASSERT_TRUE(proposals.ok());
    EXPECT_GE(proposals->size(), 4u);
    for (const auto& [knobs, time] : *proposals) {
      linear.kernel().knobs = knobs;
      EXPECT_EQ(first_diagnostic(linear.b.program, true, "medium"), "") << to_text(knobs);
    }
  }
}

}  // namespace
}  // namespace solstice::families::of_gemm
