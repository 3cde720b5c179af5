// Tiles whose k several blocks share (`split` of tiles): what the family emits, allows and chooses.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "families/family.h"
#include "host_kernels/build.h"
#include "ir/bind.h"
#include "machine/machine.h"
#include "unit/families/h200.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

struct Product {
  ProgramBuilder b{"p"};
  Product(int64_t M, int64_t N, int64_t K, DType dtype, bool triangle = false) {
    const int x = b.input("x", {M, K}, dtype), w = b.input("w", {N, K}, dtype), y = b.output("y", {M, N}, dtype);
    b.kernel("up", "gemm");
    const auto m = b.index("m", M), n = b.index("n", N), k = b.bound("k", K);
    ExprRef sum = make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k}));
    if (triangle) sum = op(Op::kSelect, {op(Op::kLe, {n, m}), sum, num(0.0)});
    b.define(y, {m, n}, sum);
  }
  void write(const char* knob, KnobValue value) { b.program.kernels.front().knobs.set(knob, std::move(value)); }
  void tiles(int64_t m, int64_t n, int64_t cluster, int64_t split) {
    write("stream", KnobValue::of_name("none"));
    write("tile", KnobValue::of_size({m, n}));
    write("cluster", KnobValue::of_size({cluster, 1}));
    write("split", KnobValue::of_int(split));
  }
  Context context() const { return {b.program, h200(), "reference", false}; }
  Emission generated() const {
    auto emission = find_family("gemm")->generate(context(), b.program.kernels.front());
    EXPECT_TRUE(emission.ok()) << emission.error().text();
    return emission.ok() ? std::move(*emission) : Emission{};
  }
  std::string diagnostic() const {
    Diagnostics diagnostics;
    find_family("gemm")->check(context(), b.program.kernels.front(), diagnostics);
    return diagnostics.all().empty() ? "" : diagnostics.all().front().code + ": " + diagnostics.all().front().message;
  }
  std::string chosen() const {
    const auto found = find_family("gemm")->propose(context(), b.program.kernels.front());
    return found.ok() && !found->empty() ? to_text(found->front().knobs) : "";
  }
};

TEST(SharedProduct, SplitPassClearsTheSignals) {
  Product p(960, 6400, 11432, DType::kF32);  // 100 tiles of clusters on 66
  p.write("math", KnobValue::of_name("fp16x3"));
  p.tiles(128, 256, 2, 2);
  const Emission emission = p.generated();
  ASSERT_EQ(emission.steps.size(), 3U);
  EXPECT_EQ(emission.steps[0].name, "up-split");
  EXPECT_EQ(emission.steps[0].arguments.back().buffer, "up-signals");
  EXPECT_EQ(emission.steps[1].grid[0], 132);
  EXPECT_TRUE(emission.steps[1].pdl);
  EXPECT_NE(emission.sources[0].code.find("gemm::clear_signals(signals, 264)"), std::string::npos);
  EXPECT_NE(emission.sources[1].code.find("{66, 34, 66}, {partials, signals}"), std::string::npos);
}

TEST(SharedProduct, WithoutASplitPassAMemsetClearsThem) {
  Product p(512, 512, 16384, DType::kBF16);  // 16 tiles
  p.tiles(128, 128, 1, 4);
  const Emission emission = p.generated();
  ASSERT_EQ(emission.steps.size(), 2U);
  EXPECT_EQ(emission.steps[0].kind, StepKind::kMemset);
  EXPECT_EQ(emission.steps[0].bytes, 4 * 64 * 2);
  EXPECT_EQ(emission.steps[1].grid[0], 64);
  EXPECT_FALSE(emission.steps[1].pdl);
}

TEST(SharedProduct, EvenRoundsAreNotShared) {
  Product p(1024, 8448, 4096, DType::kBF16);  // 264 tiles of 128x256 on 132
  p.tiles(128, 256, 2, 2);
  EXPECT_EQ(p.generated().steps.size(), 1U);
}

TEST(SharedProduct, Rules) {
  Product triangle(1000, 1000, 1024, DType::kBF16, true);
  triangle.tiles(128, 128, 1, 2);
  EXPECT_EQ(triangle.diagnostic(), "E117: `split=2` of tiles of a triangle of the result");
  Product many(512, 512, 16384, DType::kBF16);
  many.tiles(128, 128, 1, 200);
  EXPECT_EQ(many.diagnostic(), "E117: `split=200` of tiles; legal: 1..128");
  Product simt(512, 512, 16384, DType::kF32);
  simt.write("math", KnobValue::of_name("simt"));
  simt.write("stream", KnobValue::of_name("none"));
  simt.write("split", KnobValue::of_int(4));
  EXPECT_EQ(simt.diagnostic(), "E117: `split=4` with `math=simt` and no streamed operand");
}

TEST(SharedProduct, TheModelSharesWhereRoundsAreUneven) {
  EXPECT_NE(Product(960, 6400, 11432, DType::kF32).chosen().find("split=2"), std::string::npos);
  EXPECT_NE(Product(1024, 8448, 4096, DType::kBF16).chosen().find("split=1"), std::string::npos);
  EXPECT_EQ(Product(2048, 2048, 512, DType::kBF16, true).chosen().find("split=2"), std::string::npos);
}

}  // namespace
}  // namespace solstice::families
