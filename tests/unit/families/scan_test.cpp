// Generated scan kernels, compiled for the host and run with all their threads, against direct evaluation.
#include <cmath>
#include <limits>

#include "unit/families/expect.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

// y[m,n] = R[j where j OP n](x[m,j]), along the last axis or the first one.
struct Cumulative {
  ProgramBuilder b{"p"};
  int x, y;
  Cumulative(int64_t rows, int64_t columns, Reducer reducer = Reducer::kSum, Op ends = Op::kLe, bool first_axis = false,
             DType dtype = DType::kF32) {
    const auto shape = first_axis ? std::vector<int64_t>{columns, rows} : std::vector<int64_t>{rows, columns};
    x = b.input("x", shape, dtype), y = b.output("y", shape, dtype);
    b.kernel("k", "scan");
    const auto m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", columns);
    const auto at = [&](const ExprRef& along) { return first_axis ? std::vector<ExprRef>{along, m} : std::vector<ExprRef>{m, along}; };
    b.define(y, at(n), make_reduce(reducer, {j->id}, b.read(x, at(j)), op(ends, {j, n})));
  }
  Cumulative& knob(const char* name, int64_t value) {
    b.program.kernels[0].knobs.set(name, KnobValue::of_int(value));
    return *this;
  }
};

TEST(Scan, RowsOfAllLengths) {
  for (const int64_t columns : {1, 7, 200, 513}) expect_same(Cumulative(37, columns).b.program, 1e-5);
}
TEST(Scan, LongRowsTileByTile) {
  expect_same(Cumulative(3, 2600).knob("threads", 128).b.program, 3e-5);
  expect_same(Cumulative(2, 1501).knob("threads", 128).knob("items", 4).b.program, 3e-5);
}
TEST(Scan, ExclusiveAndFromTheEnd) {
  for (const Op ends : {Op::kLt, Op::kGe, Op::kGt}) {
    expect_same(Cumulative(5, 100, Reducer::kSum, ends).b.program, 1e-5);
    expect_same(Cumulative(2, 1300, Reducer::kSum, ends).knob("threads", 128).knob("items", 4).b.program, 3e-5);
  }
}
TEST(Scan, ByColumns) {
  for (const Op ends : {Op::kLe, Op::kGt}) expect_same(Cumulative(72, 300, Reducer::kSum, ends, true).b.program, 2e-5);
  expect_same(Cumulative(7, 33, Reducer::kSum, Op::kGe, true).b.program, 1e-5);
}
TEST(Scan, OtherReducers) {
  for (const Reducer reducer : {Reducer::kProd, Reducer::kMax, Reducer::kMin}) {
    expect_same(Cumulative(5, 300, reducer).b.program, 2e-5);
    expect_same(Cumulative(8, 40, reducer, Op::kGe, true).b.program, 2e-5);
  }
}
TEST(Scan, HalfPrecisionIsSummedInFloat) { expect_same(Cumulative(3, 600, Reducer::kSum, Op::kLe, false, DType::kBF16).b.program, 2e-2); }

TEST(Scan, InfinitiesAndNanReachWhatFollowsThem) {
  for (const bool first_axis : {false, true}) {
    Cumulative c(4, 300, Reducer::kSum, Op::kLe, first_axis);
    Tensors values = random_inputs(c.b.program, 3);
    const auto at = [&](size_t row, size_t column) { return first_axis ? column * 4 + row : row * 300 + column; };
    values[c.x][at(0, 17)] = std::nan("");
    values[c.x][at(1, 40)] = std::numeric_limits<double>::infinity();
    values[c.x][at(2, 299)] = -std::numeric_limits<double>::infinity();
    expect_same(c.b.program, 1e-5, 4, values);
  }
}

// Masked, scaled before and behind, an exclusive sum beside an inclusive maximum, over a tensor of three axes.
TEST(Scan, SeveralPrefixesWithMapsAround) {
  ProgramBuilder b("p");
  const int x = b.input("x", {3, 4, 130}), keep = b.input("keep", {3, 4, 130}, DType::kBool), g = b.input("g", {130});
  const int y = b.output("y", {3, 4, 130}), z = b.output("z", {3, 4, 130});
  b.kernel("k", "scan");
  auto a = b.index("a", 3), m = b.index("m", 4), n = b.index("n", 130), j = b.bound("j", 130);
  b.define(
      y, {a, m, n},
      make_reduce(Reducer::kSum, {j->id}, b.read(x, {a, m, j}) * num(0.5), op(Op::kAnd, {op(Op::kLt, {j, n}), b.read(keep, {a, m, j})})) *
              b.read(g, {n}) +
          b.read(x, {a, m, n}));
  a = b.index("a", 3), m = b.index("m", 4), n = b.index("n", 130), j = b.bound("j", 130);
  b.define(z, {a, m, n}, op(Op::kTanh, {make_reduce(Reducer::kMax, {j->id}, b.read(x, {a, m, j}), op(Op::kGe, {n, j}))}));
  expect_same(b.program, 1e-5, 2);
}

// flip(cumsum(flip(x))) as views leave it: the binder runs against the index.
TEST(Scan, OverAFlippedTensor) {
  ProgramBuilder b("p");
  const int x = b.input("x", {5, 77}), y = b.output("y", {5, 77});
  b.kernel("k", "scan");
  const auto m = b.index("m", 5), n = b.index("n", 77), j = b.bound("j", 77);
  b.define(y, {m, n}, make_reduce(Reducer::kSum, {j->id}, b.read(x, {m, whole(76) - j}), op(Op::kLe, {j, whole(76) - n})));
  expect_same(b.program, 1e-5);
}

std::string scan_refusal(const Program& program) { return find_family("scan")->match(program, program.kernels.front()).reason; }

TEST(Scan, RefusesWhatIsNoPrefix) {
  ProgramBuilder b("p");
  const int x = b.input("x", {8, 8}), y = b.output("y", {8, 8});
  b.kernel("k", "scan");
  const auto m = b.index("m", 8), n = b.index("n", 8), j = b.bound("j", 8);
  b.define(y, {m, n}, make_reduce(Reducer::kSum, {j->id}, b.read(x, {m, j}) * b.read(x, {n, j}), op(Op::kLe, {j, n})));
  EXPECT_NE(scan_refusal(b.program).find("its terms depend on where it ends"), std::string::npos) << scan_refusal(b.program);

  ProgramBuilder w("p");
  const int u = w.input("x", {8}), v = w.output("y", {8});
  w.kernel("k", "scan");
  const auto o = w.index("n", 8), i = w.bound("j", 8);
  w.define(v, {o},
           make_reduce(Reducer::kSum, {i->id}, w.read(u, {i}), op(Op::kAnd, {op(Op::kLe, {i, o}), op(Op::kGt, {i, o - whole(3)})})));
  EXPECT_NE(scan_refusal(w.program).find("two ends"), std::string::npos) << scan_refusal(w.program);
}

}  // namespace
}  // namespace solstice::families
