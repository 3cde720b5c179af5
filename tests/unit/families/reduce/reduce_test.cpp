// Generated reduce kernels, compiled for the host and run with all their threads, against direct evaluation.
#include <cmath>
#include <limits>

#include "unit/families/expect.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

// s[b, n] of x[b, k, n], by one reducer or several.
struct Middle {
  ProgramBuilder b{"p"};
  int x;
  int64_t batch, reduced, columns;
  Middle(int64_t batch_, int64_t reduced_, int64_t columns_, DType dtype = DType::kF32)
      : batch(batch_), reduced(reduced_), columns(columns_) {
    x = b.input("x", {batch, reduced, columns}, dtype);
    b.kernel("k", "reduce");
  }
  Middle& take(Reducer reducer, DType dtype = DType::kF32) {
    const bool ranked = reducer == Reducer::kArgMax || reducer == Reducer::kArgMin;
    const int s =
        b.output("s" + std::to_string(b.program.tensors.size()), {batch, columns}, ranked ? DType::kI64 : dtype);
    const auto i = b.index("i", batch), n = b.index("n", columns), k = b.bound("k", reduced);
    b.define(s, {i, n}, make_reduce(reducer, {k->id}, b.read(x, {i, k, n})));
    return *this;
  }
  Middle& knob(const char* name, int64_t value) {
    b.program.kernels[0].knobs.set(name, KnobValue::of_int(value));
    return *this;
  }
};

TEST(Reduce, OddColumns) { expect_same(Middle(2, 70, 1237).take(Reducer::kSum).b.program); }
TEST(Reduce, AlignedColumns) { expect_same(Middle(2, 70, 2056).take(Reducer::kSum).b.program); }
TEST(Reduce, AlignedColumnsPassThroughTheRingOnRequest) {
  expect_same(Middle(2, 70, 2056).knob("stages", 3).take(Reducer::kSum).b.program);
  expect_same(Middle(2, 70, 1024, DType::kBF16).knob("rows", 5).take(Reducer::kSum).b.program, 1e-5);
}
TEST(Reduce, AlignedColumnsInParts) {
  expect_same(Middle(2, 1001, 640).knob("split", 3).take(Reducer::kSum).take(Reducer::kArgMax).b.program);
  expect_same(Middle(1, 5, 516).take(Reducer::kMax).b.program);
}
TEST(Reduce, ShortRowsThatFollowEachOther) {
  for (const int64_t columns : {2, 3, 64, 77, 300}) expect_same(Middle(3, 101, columns).take(Reducer::kSum).b.program);
}
TEST(Reduce, RowsInParts) {
  expect_same(Middle(2, 333, 1025).knob("split", 7).take(Reducer::kMax).b.program);
  expect_same(Middle(1, 2000, 12).knob("split", 40).take(Reducer::kSum).b.program);
}
TEST(Reduce, SeveralReductionsShareThePass) {
  expect_same(Middle(2, 90, 515).take(Reducer::kSum).take(Reducer::kMin).take(Reducer::kArgMax).b.program);
  expect_same(Middle(2, 90, 20).knob("split", 3).take(Reducer::kSum).take(Reducer::kArgMin).b.program);
}
TEST(Reduce, HalfPrecision) {
  for (const int64_t columns : {1031, 1024, 24}) {
    expect_same(Middle(2, 60, columns, DType::kBF16).take(Reducer::kSum).b.program, 1e-5);
    expect_same(Middle(2, 60, columns, DType::kBF16).take(Reducer::kMax, DType::kBF16).b.program, 1e-2);
  }
}
TEST(Reduce, Knobs) {
  for (const int threads : {64, 128, 512})
    expect_same(Middle(1, 40, 1500).knob("threads", threads).take(Reducer::kSum).b.program);
  expect_same(Middle(1, 40, 1501).knob("rows", 3).knob("stages", 2).knob("columns", 2).take(Reducer::kSum).b.program);
  expect_same(Middle(1, 40, 1504).knob("vector", 1).take(Reducer::kSum).b.program);
}

// Ties go to the first; a NaN wins; infinities keep their place.
TEST(Reduce, RanksAsTheLanguageSays) {
  Middle m(1, 50, 600);
  m.take(Reducer::kArgMax).take(Reducer::kArgMin).take(Reducer::kMax);
  Tensors values = random_inputs(m.b.program, 3);
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double>& x = values[m.x];
  const auto at = [](size_t k, size_t n) { return k * 600 + n; };
  for (size_t k = 0; k < 50; ++k) x[at(k, 0)] = -inf, x[at(k, 1)] = inf, x[at(k, 2)] = 1.0;
  x[at(20, 3)] = std::nan(""), x[at(30, 3)] = std::nan("");
  expect_same(m.b.program, 2e-6, 4, values);
}

// A weighted square with a bias of the column, a map behind it, and a condition on the row.
TEST(Reduce, MapsBeforeAndBehind) {
  for (const int64_t columns : {513, 20}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {2, 45, columns}), w = b.input("w", {45}), c = b.input("c", {columns}),
              y = b.output("y", {2, columns});
    b.kernel("k", "reduce");
    const auto i = b.index("i", 2), n = b.index("n", columns), k = b.bound("k", 45);
    const auto term = (b.read(x, {i, k, n}) - b.read(c, {n})) * b.read(w, {k});
    b.define(y, {i, n},
             op(Op::kSqrt, {make_reduce(Reducer::kSum, {k->id}, term * term, op(Op::kLt, {k, whole(40)})) +
                            b.read(c, {n}) * b.read(c, {n})}));
    expect_same(b.program);
    b.program.kernels[0].knobs.set("split", KnobValue::of_int(3));
    expect_same(b.program);
  }
}

// Two tensors step together; outer axes on both sides of what is reduced.
TEST(Reduce, TwoStreamsAndSeveralReducedAxes) {
  ProgramBuilder b("p");
  const int x = b.input("x", {3, 4, 5, 6, 130}), z = b.input("z", {3, 4, 5, 6, 130}, DType::kBF16),
            y = b.output("y", {4, 6, 130});
  b.kernel("k", "reduce");
  const auto p = b.index("p", 4), q = b.index("q", 6), n = b.index("n", 130), a = b.bound("a", 3), c = b.bound("c", 5);
  b.define(y, {p, q, n},
           make_reduce(Reducer::kSum, {a->id, c->id}, b.read(x, {a, p, c, q, n}) * b.read(z, {a, p, c, q, n})));
  expect_same(b.program);
}

// Sums that cancel: 1e8 - 1e8 among ones leaves the ones.
TEST(Reduce, SumsRoundOnce) {
  Middle m(1, 400, 333);
  m.take(Reducer::kSum);
  Tensors values;
  std::vector<double>& x = values[m.x];
  x.assign(400 * 333, 1.0);
  for (size_t n = 0; n < 333; ++n) x[n] = 1e8, x[399 * 333 + n] = -1e8;
  const auto got = run_kernel(m.b.program, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  for (const double s : got->rbegin()->second) EXPECT_EQ(s, 398);
}

// x[i, k, n] by n: rows that are contiguous, with what is copied on the way.
TEST(Reduce, ContiguousRowsWithACopyOfTheData) {
  for (const bool split : {false, true}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {2, 3, 640}), s = b.output("s", {2, 3}), v = b.output("v", {2, 3}),
              f = b.output("f", {2, 4, 640});
    b.kernel("k", "reduce");
    const auto reduce_to = [&](int to, Reducer reducer) {
      const auto i = b.index("i", 2), k = b.index("k", 3), n = b.bound("n", 640);
      b.define(to, {i, k}, make_reduce(reducer, {n->id}, b.read(x, {i, k, n})));
    };
    if (!split) {
      const auto i = b.index("i", 2), k = b.index("k", 3), n = b.index("n", 640);
      b.define(f, {i, k + whole(1), n}, op(Op::kNeg, {b.read(x, {i, k, n})}));
      reduce_to(v, Reducer::kVar);
    }
    reduce_to(s, Reducer::kSum);
    if (split) b.program.kernels[0].knobs.set("split", KnobValue::of_int(2));
    const machine::Machine machine = small_machine();
    const auto emission = find_family("reduce")->generate({b.program, machine}, b.program.kernels[0]);
    ASSERT_TRUE(emission.ok()) << emission.error().text();
    Tensors values = random_inputs(b.program, 1);
    const auto got = run_on_host(b.program, *emission, values);
    ASSERT_TRUE(got.ok()) << got.error().text();
    evaluate(b.program, values);
    for (size_t at = 0; at < 6; ++at) EXPECT_NEAR(got->at(s)[at], values[s][at], 1e-4);
    for (size_t at = 0; !split && at < 6; ++at) EXPECT_NEAR(got->at(v)[at], values[v][at], 1e-4);
    for (size_t at = 640; !split && at < 4 * 640; ++at) EXPECT_EQ(got->at(f)[at], values[f][at]);
  }
}

TEST(Reduce, RefusesNormsAlongRows) {
  ProgramBuilder b("p");
  const int x = b.input("x", {2, 64}), y = b.output("y", {2, 64});
  b.kernel("k", "reduce");
  const auto i = b.index("i", 2), n = b.index("n", 64), j = b.bound("j", 64);
  b.define(y, {i, n}, b.read(x, {i, n}) - make_reduce(Reducer::kSum, {j->id}, b.read(x, {i, j})));
  const Match match = find_family("reduce")->match(b.program, b.program.kernels[0]);
  EXPECT_FALSE(match.ok);
  EXPECT_NE(match.reason.find("family `rows`"), std::string::npos) << match.reason;
}

TEST(Reduce, TooManyStagesAreRefusedWithTheSum) {
  Middle m(1, 40, 5000);
  m.take(Reducer::kSum).knob("rows", 32).knob("stages", 16).knob("threads", 512);
  Diagnostics diagnostics;
  const machine::Machine machine = small_machine();
  find_family("reduce")->check({m.b.program, machine}, m.b.program.kernels[0], diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("16 stages of"), std::string::npos) << diagnostics.all()[0].message;
}

}  // namespace
}  // namespace solstice::families
