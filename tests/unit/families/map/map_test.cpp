// Generated map kernels, compiled for the host and run, against direct evaluation.
#include <algorithm>
#include <cmath>
#include <functional>

#include "unit/families/expect.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

ExprRef erf_gelu(ExprRef x) { return num(0.5) * x * (num(1.0) + op(Op::kErf, {x * num(0.7071067811865476)})); }

TEST(Map, Gelu) {
  ProgramBuilder b("p");
  const int x = b.input("x", {6, 64}), y = b.output("y", {6, 64});
  b.kernel("k", "map");
  const auto m = b.index("m", 6), n = b.index("n", 64);
  b.define(y, {m, n}, erf_gelu(b.read(x, {m, n})));
  expect_same(b.program);
}

// What of a kernel that stores `value` of x[n], of a format.
std::string code_of(DType dtype, const std::function<ExprRef(ExprRef)>& value, bool check = true) {
  ProgramBuilder b("p");
  const int x = b.input("x", {512}, dtype), y = b.output("y", {512}, dtype);
  b.kernel("k", "map");
  const auto n = b.index("n", 512);
  b.define(y, {n}, value(b.read(x, {n})));
  if (check && dtype != DType::kF16) expect_same(b.program, dtype == DType::kF32 ? 2e-6 : 8e-3);
  const auto emission = find_family("map")->generate({b.program, small_machine()}, b.program.kernels.front());
  return emission.ok() ? emission->sources.front().code : emission.error().text();
}

TEST(Map, FunctionsHaveTheDigitsOfTheStorage) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    EXPECT_NE(code_of(dtype, erf_gelu).find("short_one_plus_erf("), std::string::npos);
    const auto silu = [](ExprRef x) { return x / (num(1.0) + op(Op::kExp, {op(Op::kNeg, {x})})); };
    const std::string code = code_of(dtype, silu);
    EXPECT_NE(code.find("short_exponential("), std::string::npos) << code;
    EXPECT_NE(code.find("short_quotient("), std::string::npos) << code;
    EXPECT_NE(code_of(dtype, [](ExprRef x) { return op(Op::kTanh, {x}); }).find("short_tanh("), std::string::npos);
  }
  EXPECT_EQ(code_of(DType::kF32, erf_gelu).find("short_"), std::string::npos);
}

TEST(Map, AConstantOfDoublesIsNotRoundedOnItsWay) {
  const std::string code = code_of(DType::kF64, [](ExprRef) { return op(Op::kTanh, {num(0.0625)}); });
  EXPECT_NE(code.find("0.0624187467475125"), std::string::npos) << code;
}

// A difference, or a function of the function, can make its error larger.
TEST(Map, DigitsAreKeptWhereTheyAreNeeded) {
  const auto differs = [](ExprRef x) { return op(Op::kExp, {x}) - num(1.0); };
  EXPECT_EQ(code_of(DType::kBF16, differs).find("short_"), std::string::npos);
  const auto sum = [](ExprRef x) { return op(Op::kTanh, {x}) + x; };
  EXPECT_EQ(code_of(DType::kBF16, sum).find("short_"), std::string::npos);
  const auto inner = [](ExprRef x) { return op(Op::kSin, {op(Op::kExp, {x})}); };
  EXPECT_EQ(code_of(DType::kBF16, inner).find("short_"), std::string::npos);
  // The same value in two places.
  const auto twice = [](ExprRef x) { return op(Op::kExp, {x}) * op(Op::kSin, {op(Op::kExp, {x})}); };
  EXPECT_EQ(code_of(DType::kBF16, twice).find("short_"), std::string::npos);
}

TEST(Map, ConstantDivisorsAreProducts) {
  for (const double by : {3.0, -7.0, 1.4142135623730951, 1e-20, 8.0}) {
    const std::string code = code_of(DType::kF32, [&](ExprRef x) { return x / num(by); });
    EXPECT_EQ(code.find(" / "), std::string::npos) << code;
  }
  EXPECT_NE(code_of(
                DType::kF32, [](ExprRef x) { return x / num(1e-38); }, false)
                .find(" / "),
            std::string::npos);
}

TEST(Map, TailOfAnOddLength) {
  for (const int64_t length : {1, 3, 4, 5, 1027}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {length}), y = b.output("y", {length});
    b.kernel("k", "map");
    const auto n = b.index("n", length);
    b.define(y, {n}, b.read(x, {n}) * num(3.0));
    expect_same(b.program);
  }
}

TEST(Map, BroadcastsAndOddRows) {
  for (const int64_t columns : {64, 33, 6}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {10, columns}), c = b.input("c", {columns}), r = b.input("r", {10, 1}),
              y = b.output("y", {10, columns});
    b.kernel("k", "map");
    const auto m = b.index("m", 10), n = b.index("n", columns);
    b.define(y, {m, n}, (b.read(x, {m, n}) + b.read(c, {n})) / op(Op::kExp, {b.read(r, {m, whole(0)})}));
    expect_same(b.program, 1e-5);
  }
}

TEST(Map, TransposeAndOffsets) {
  ProgramBuilder b("p");
  const int x = b.input("x", {12, 20}), y = b.output("y", {16, 12});
  b.kernel("k", "map");
  const auto i = b.index("i", 16), j = b.index("j", 12);
  b.define(y, {i, j}, b.read(x, {whole(11) - j, i + whole(4)}));
  expect_same(b.program);
}

TEST(Map, PaddingReadsNothingOutside) {
  ProgramBuilder b("p");
  const int x = b.input("x", {5, 8}), y = b.output("y", {9, 12});
  b.kernel("k", "map");
  const auto i = b.index("i", 9), j = b.index("j", 12);
  b.define(y, {i, j}, b.read(x, {i - whole(2), j - whole(2)}, num(-1.5)));
  expect_same(b.program);
}

TEST(Map, PaddedRowsKeepTheirVectors) {
  ProgramBuilder b("p");
  const int x = b.input("x", {5, 8}), y = b.output("y", {9, 8});
  b.kernel("k", "map");
  const auto i = b.index("i", 9), j = b.index("j", 8);
  b.define(y, {i, j}, b.read(x, {i - whole(2), j}, num(7.0)));
  expect_same(b.program);
}

TEST(Map, ConcatenationIsOneLaunch) {
  ProgramBuilder b("p");
  const int a = b.input("a", {4, 6}), c = b.input("c", {4, 5}), y = b.output("y", {4, 11});
  b.kernel("k", "map");
  auto m = b.index("m", 4), n = b.index("n", 6);
  b.define(y, {m, n}, b.read(a, {m, n}));
  m = b.index("m", 4), n = b.index("n", 5);
  b.define(y, {m, n + whole(6)}, b.read(c, {m, n}));
  expect_same(b.program);
}

// Row 0 of `t` is kernel 0's own, the others are kernel 1's: kernel 0 reads those from memory.
ProgramBuilder pieces_of_two_kernels() {
  ProgramBuilder b("p");
  const int x = b.input("x", {3, 8}), t = b.tensor("t", TensorKind::kTensor, {4, 8}, DType::kF32),
            y = b.output("y", {4, 8});
  b.kernel("k", "map");
  auto n = b.index("n", 8);
  b.define(t, {whole(0), n}, num(5.0));
  auto m = b.index("m", 4);
  n = b.index("n", 8);
  b.define(y, {m, n}, b.read(t, {m, n}) * num(2.0));
  b.kernel("rest", "map");
  m = b.index("m", 3), n = b.index("n", 8);
  b.define(t, {m + whole(1), n}, b.read(x, {m, n}));
  return b;
}

TEST(Map, ReadsThePiecesOfAnotherKernel) {
  const ProgramBuilder b = pieces_of_two_kernels();
  Tensors values = random_inputs(b.program, 1, 1.0, 4);
  evaluate(b.program, values);
  expect_same(b.program, 2e-6, 4, std::move(values));
}

TEST(Map, RefusesToWriteSomePiecesAndReadTheOthers) {
  ProgramBuilder b = pieces_of_two_kernels();
  b.program.tensors[1].kind = TensorKind::kOutput;
  const Match match = find_family("map")->match(b.program, b.program.kernels.front());
  EXPECT_FALSE(match.ok);
  EXPECT_NE(match.reason.find("in one kernel, or read it in a third"), std::string::npos) << match.reason;
}

TEST(Map, GatherIsTested) {
  ProgramBuilder b("p");
  const int e = b.input("e", {4, 8}), ids = b.input("ids", {10}, DType::kI64), y = b.output("y", {10, 8});
  b.kernel("k", "map");
  const auto t = b.index("t", 10), d = b.index("d", 8);
  b.define(y, {t, d}, b.read(e, {b.read(ids, {t}), d}, num(0.0)));
  expect_same(b.program, 1e-6, 6);
}

TEST(Map, DivisionAndRemainderOfIndices) {
  ProgramBuilder b("p");
  const int x = b.input("x", {6, 10}), y = b.output("y", {60}), z = b.output("z", {30});
  b.kernel("k", "map");
  auto i = b.index("i", 60);
  b.define(y, {i},
           b.read(x, {op(Op::kFloorDiv, {i, whole(10)}), op(Op::kMod, {i, whole(10)})}) +
               op(Op::kMod, {i - whole(7), whole(5)}));
  i = b.index("i", 30);
  b.define(z, {i}, b.read(x, {whole(0), op(Op::kMod, {i * whole(3) + whole(1), whole(10)})}));
  expect_same(b.program);
}

TEST(Map, LocalsPiecesAndSeveralOutputs) {
  ProgramBuilder b("p");
  const int x = b.input("x", {3, 16}), w = b.output("w", {3, 16}), y = b.output("y", {3, 16});
  const int t = b.local("t", {3, 16});
  b.kernel("k", "map");
  auto m = b.index("m", 3), n = b.index("n", 16);
  b.define(t, {m, n}, op(Op::kTanh, {b.read(x, {m, n})}));
  m = b.index("m", 3), n = b.index("n", 16);
  b.define(w, {m, n}, b.read(t, {m, n}) * b.read(t, {m, n}));
  m = b.index("m", 3), n = b.index("n", 16);
  b.define(y, {m, n}, b.read(w, {m, whole(15) - n}) + b.read(t, {m, n}));
  expect_same(b.program);
}

TEST(Map, FormatsAndCasts) {
  ProgramBuilder b("p");
  const int x = b.input("x", {40}, DType::kBF16), i8 = b.input("i", {40}, DType::kI8),
            f = b.input("f", {40}, DType::kBool), d = b.input("d", {40}, DType::kF64);
  const int y = b.output("y", {40}), z = b.output("z", {40}, DType::kI64), q = b.output("q", {40}, DType::kF64);
  b.kernel("k", "map");
  auto n = b.index("n", 40);
  b.define(y, {n}, op(Op::kSelect, {b.read(f, {n}), b.read(x, {n}) * num(2.0), b.read(i8, {n}) + num(0.5)}));
  n = b.index("n", 40);
  b.define(z, {n}, b.read(i8, {n}) * whole(5000000000) - n);
  n = b.index("n", 40);
  b.define(q, {n}, b.read(d, {n}) / num(3.0));
  expect_same(b.program, 1e-7);
}

TEST(Map, NanGoesThroughMaximum) {
  ProgramBuilder b("p");
  const int x = b.input("x", {8}), y = b.output("y", {8});
  b.kernel("k", "map");
  const auto n = b.index("n", 8);
  b.define(y, {n}, op(Op::kMax, {op(Op::kLog, {b.read(x, {n})}), num(0.0)}));
  expect_same(b.program);
}

TEST(Map, SumsInsideAThreadAreTakenInRuns) {
  for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{1, 1000}, {1, 1024}, {100, 9}, {4, 200}}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {3, outer, inner}), y = b.output("y", {3});
    b.kernel("k", "map");
    const auto m = b.index("m", 3), i = b.bound("i", outer), j = b.bound("j", inner);
    b.define(y, {m}, make_reduce(Reducer::kSum, {i->id, j->id}, b.read(x, {m, i, j})));
    Tensors values;
    values[x].assign(static_cast<size_t>(3 * outer * inner), 0.7310586f);
    const auto got = run_kernel(b.program, values);
    ASSERT_TRUE(got.ok()) << got.error().text();
    const double wanted = static_cast<double>(outer * inner) * static_cast<double>(0.7310586f);
    for (const double v : got->at(y)) EXPECT_LT(std::abs(v - wanted) / wanted, 6e-7) << outer << " x " << inner;
  }
}

TEST(Map, ShortReductionInsideAThread) {
  ProgramBuilder b("p");
  const int x = b.input("x", {4, 9}), y = b.output("y", {4, 7});
  b.kernel("k", "map");
  const auto m = b.index("m", 4), n = b.index("n", 7);
  const auto r = b.bound("r", 3);
  const auto term = b.read(x, {m, n + r}) * num(2.0);
  b.define(y, {m, n}, make_reduce(Reducer::kSum, {r->id}, term, op(Op::kLt, {r, n})));
  expect_same(b.program);
}

// Sums of windows of 3 x 3 with a step along the rows' axis, `rows` results of that axis a thread.
ir::Program windows(int64_t step, int rows) {
  ProgramBuilder b("p");
  const int x = b.input("x", {2, 12 * step + 2, 18}), y = b.output("y", {2, 12, 16});
  b.kernel("k", "map");
  const auto c = b.index("c", 2), p = b.index("p", 12), q = b.index("q", 16);
  const auto r = b.bound("r", 3), s = b.bound("s", 3);
  b.define(y, {c, p, q}, make_reduce(Reducer::kSum, {r->id, s->id}, b.read(x, {c, whole(step) * p + r, q + s})));
  b.program.kernels.front().knobs.set("rows", KnobValue::of_int(rows));
  return b.program;
}

TEST(Map, RowsWhoseWindowsOverlapAreTakenTogether) {
  for (const int rows : {1, 2, 3, 4, 6}) expect_same(windows(1, rows));
  expect_same(windows(2, 3));
  const auto emission = find_family("map")->generate({windows(1, 4), small_machine()}, windows(1, 4).kernels.front());
  ASSERT_TRUE(emission.ok()) << emission.error().text();
  EXPECT_EQ(emission->steps.front().grid[0], 1);  // 2 * 3 * 16 points for 96 vectors or fewer
}

TEST(Map, RowsThatShareNothingAreRefused) {
  const Family& map = *find_family("map");
  const ir::Program apart = windows(3, 2), uneven = windows(1, 5);
  EXPECT_NE(map.match(apart, apart.kernels.front()).reason.find("overlap along no outer index"), std::string::npos);
  EXPECT_NE(map.match(uneven, uneven.kernels.front()).reason.find("does not divide the 12 results of `y` along `p`"),
            std::string::npos);
}

TEST(Map, ProposesRowsThatDivide) {
  const auto rows_of = [](const ir::Program& program) {
    std::vector<int64_t> out;
    const auto proposals = find_family("map")->propose({program, small_machine()}, program.kernels.front());
    EXPECT_TRUE(proposals.ok());
    for (const auto& [knobs, time] : *proposals) {
      if (knobs.find("rows")) out.push_back(knobs.int_or("rows", 0));
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(rows_of(windows(1, 1)), (std::vector<int64_t>{3, 4, 6}));
  EXPECT_EQ(rows_of(windows(3, 1)), std::vector<int64_t>());
}

// Windows of three with a step, over rows of an even number of results.
bool proposes_single_elements(int64_t step) {
  ProgramBuilder b("p");
  const int x = b.input("x", {1024, 1024 * step + 2}), y = b.output("y", {1024, 1024});
  b.kernel("k", "map");
  const auto m = b.index("m", 1024), n = b.index("n", 1024);
  const auto r = b.bound("r", 3);
  b.define(y, {m, n}, make_reduce(Reducer::kMax, {r->id}, b.read(x, {m, whole(step) * n + r})));
  const auto proposals = find_family("map")->propose({b.program, small_machine()}, b.program.kernels.front());
  EXPECT_TRUE(proposals.ok());
  return std::any_of(proposals->begin(), proposals->end(),
                     [](const Proposed& one) { return one.knobs.int_or("vector", 0) == 1; });
}

TEST(Map, ProposesSingleElementsWhereReadsStep) {
  EXPECT_TRUE(proposes_single_elements(2));
  EXPECT_FALSE(proposes_single_elements(1));
}

TEST(Map, RefusesLongReductions) {
  ProgramBuilder b("p");
  const int x = b.input("x", {4, 4096}), y = b.output("y", {4});
  b.kernel("k", "map");
  const auto m = b.index("m", 4);
  const auto r = b.bound("r", 4096);
  b.define(y, {m}, make_reduce(Reducer::kSum, {r->id}, b.read(x, {m, r})));
  const Match match = find_family("map")->match(b.program, b.program.kernels.front());
  EXPECT_FALSE(match.built);
  EXPECT_NE(match.reason.find("`y` reduces 4096 points"), std::string::npos) << match.reason;
}

TEST(Map, ModelIsBytesOverTheCopyRate) {
  ProgramBuilder b("p");
  const int x = b.input("x", {1024, 1024}), y = b.output("y", {1024, 1024});
  b.kernel("k", "map");
  const auto m = b.index("m", 1024), n = b.index("n", 1024);
  b.define(y, {m, n}, b.read(x, {m, n}) + num(1.0));
  const machine::Machine machine = small_machine();
  const auto cost = find_family("map")->cost({b.program, machine}, b.program.kernels.front());
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->traffic.value, 8.0 * 1024 * 1024);
  EXPECT_EQ(cost->bound, "memory");
}

}  // namespace
}  // namespace solstice::families
