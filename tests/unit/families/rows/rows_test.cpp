// Generated rows kernels, compiled for the host and run with all their threads, against direct evaluation.
#include <cmath>
#include <limits>

#include "families/rows/settings.h"
#include "ir/bind.h"
#include "unit/families/expect.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

// y[m,n] = exp(x - max) / sum(exp(x - max)), as the language's example writes it.
struct Softmax {
  ProgramBuilder b{"p"};
  int x, y;
  Softmax(int64_t rows, int64_t columns, DType dtype = DType::kF32) {
    x = b.input("x", {rows, columns}, dtype), y = b.output("y", {rows, columns}, dtype);
    const int e = b.local("e", {rows, columns});
    b.kernel("k", "rows");
    auto m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", columns);
    b.define(e, {m, n}, op(Op::kExp, {b.read(x, {m, n}) - make_reduce(Reducer::kMax, {j->id}, b.read(x, {m, j}))}));
    m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", columns);
    b.define(y, {m, n}, b.read(e, {m, n}) / make_reduce(Reducer::kSum, {j->id}, b.read(e, {m, j})));
  }
  Softmax& knob(const char* name, int64_t value) {
    b.program.kernels[0].knobs.set(name, KnobValue::of_int(value));
    return *this;
  }
  Softmax& residency(const char* value) {
    b.program.kernels[0].knobs.set("residency", KnobValue::of_name(value));
    return *this;
  }
};

TEST(Rows, SoftmaxOfShortRows) {
  for (const int64_t columns : {2, 7, 40, 200}) expect_same(Softmax(37, columns).b.program);
}
TEST(Rows, SoftmaxOfABlock) { expect_same(Softmax(3, 4096).b.program, 2e-6); }
TEST(Rows, SoftmaxOfOddRows) { expect_same(Softmax(3, 1237).b.program); }
TEST(Rows, SoftmaxOfACluster) { expect_same(Softmax(3, 4104).knob("cluster", 2).knob("threads", 128).b.program); }
TEST(Rows, SoftmaxOfAClusterOfSingleWarps) {
  expect_same(Softmax(3, 189).knob("cluster", 2).knob("threads", 32).b.program);
}
TEST(Rows, SoftmaxInSharedMemory) { expect_same(Softmax(3, 3000).residency("shared").knob("threads", 64).b.program); }
TEST(Rows, SoftmaxReadAgain) { expect_same(Softmax(3, 3000).residency("l2").knob("threads", 64).b.program); }
TEST(Rows, SoftmaxOfSeveralRowsABlock) {
  expect_same(Softmax(5, 640).knob("threads", 256).knob("rows_per_block", 2).b.program);
}
TEST(Rows, SoftmaxInBF16) { expect_same(Softmax(3, 512, DType::kBF16).b.program, 1e-2); }

TEST(Rows, SoftmaxOfATeam) {
  for (const int64_t columns : {1000, 4096, 4097, 3001}) {
    for (const int team : {1, 2, 3}) expect_same(Softmax(7, columns).knob("team", team).knob("threads", 128).b.program);
  }
  expect_same(
      Softmax(9, 1394).knob("team", 3).knob("threads", 128).b.program);  // rows that begin between 16-byte units
  expect_same(Softmax(5, 4096, DType::kBF16).knob("team", 4).knob("threads", 128).b.program, 1e-2);
}
// Whole parts of masked elements, of NaN, of Inf.
TEST(Rows, InfinitiesAndNanInATeam) {
  Softmax s(4, 3000);
  s.knob("team", 3).knob("threads", 128);
  Tensors values = random_inputs(s.b.program, 3);
  std::vector<double>& x = values.at(s.x);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < 1100; ++i) x[i] = -kInf;      // the first part of row 0
  for (size_t i = 3000; i < 6000; ++i) x[i] = -kInf;   // all of row 1
  x[7000] = std::numeric_limits<double>::quiet_NaN();  // in row 2
  x[11000] = kInf;                                     // in row 3
  expect_same(s.b.program, 2e-6, 4, values);
}

// Every thread of the host's emulator is a fiber: large blocks take long.
TEST(Rows, LongRowsGoToTeams) { expect_same(Softmax(2, 263000).knob("threads", 128).b.program, 5e-6); }

TEST(Rows, InfinitiesAndNanInSoftmax) {
  Softmax s(4, 64);
  Tensors values = random_inputs(s.b.program, 3);
  const double inf = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < 64; ++i) values[s.x][i] = -inf;  // a masked row: NaN
  values[s.x][64] = std::nan("");
  values[s.x][130] = -inf;  // one masked element
  values[s.x][200] = inf;
  expect_same(s.b.program, 2e-6, 4, values);
}

TEST(Rows, LayerNormKeepsTheRowAndReadsWeightsAlongIt) {
  ProgramBuilder b("p");
  const int x = b.input("x", {6, 48}), g = b.input("g", {48}), y = b.output("y", {6, 48});
  b.kernel("k", "rows");
  const auto m = b.index("m", 6), n = b.index("n", 48), i = b.bound("i", 48), j = b.bound("j", 48);
  const auto mean = make_reduce(Reducer::kMean, {i->id}, b.read(x, {m, i}));
  const auto var = make_reduce(Reducer::kVar, {j->id}, b.read(x, {m, j}));
  b.define(y, {m, n}, (b.read(x, {m, n}) - mean) * op(Op::kRsqrt, {var + num(1e-5)}) * b.read(g, {n}));
  expect_same(b.program, 5e-6);
}

TEST(Rows, GroupNormOverFusedColumns) {
  ProgramBuilder b("p");
  const int x = b.input("x", {2, 6, 4, 5}), g = b.input("g", {6}), y = b.output("y", {2, 6, 4, 5}),
            mu = b.output("mu", {2, 3});
  const int vr = b.local("vr", {2, 3});
  b.kernel("k", "rows");
  const auto channel = [](ExprRef q, ExprRef d) { return q * whole(2) + d; };
  auto n = b.index("n", 2), q = b.index("q", 3);
  auto d = b.bound("d", 2), h = b.bound("h", 4), w = b.bound("w", 5);
  b.define(mu, {n, q}, make_reduce(Reducer::kMean, {d->id, h->id, w->id}, b.read(x, {n, channel(q, d), h, w})));
  n = b.index("n", 2), q = b.index("q", 3), d = b.bound("d", 2), h = b.bound("h", 4), w = b.bound("w", 5);
  b.define(vr, {n, q}, make_reduce(Reducer::kVar, {d->id, h->id, w->id}, b.read(x, {n, channel(q, d), h, w})));
  n = b.index("n", 2), q = b.index("q", 3), d = b.index("d", 2), h = b.index("h", 4), w = b.index("w", 5);
  b.define(y, {n, channel(q, d), h, w},
           (b.read(x, {n, channel(q, d), h, w}) - b.read(mu, {n, q})) *
               op(Op::kRsqrt, {b.read(vr, {n, q}) + num(1e-5)}) * b.read(g, {channel(q, d)}));
  expect_same(b.program, 5e-6);
}

TEST(Rows, ChannelStatisticsOverBatchAndPixels) {
  ProgramBuilder b("p");
  const int x = b.input("x", {3, 5, 4, 8}), mu = b.output("mu", {5}), y = b.output("y", {3, 5, 4, 8});
  b.kernel("k", "rows");
  auto c = b.index("c", 5);
  auto n = b.bound("n", 3), h = b.bound("h", 4), w = b.bound("w", 8);
  b.define(mu, {c}, make_reduce(Reducer::kMean, {n->id, h->id, w->id}, b.read(x, {n, c, h, w})));
  n = b.index("n", 3), c = b.index("c", 5), h = b.index("h", 4), w = b.index("w", 8);
  b.define(y, {n, c, h, w}, b.read(x, {n, c, h, w}) - b.read(mu, {c}));
  expect_same(b.program);
}

TEST(Rows, AxisThatIsNotInnermost) {
  for (const int64_t inner : {5, 33}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {2, 19, inner}), y = b.output("y", {2, 19, inner}), s = b.output("s", {2, inner});
    b.kernel("k", "rows");
    auto n = b.index("n", 2), c = b.index("c", 19), w = b.index("w", inner), k = b.bound("k", 19);
    b.define(y, {n, c, w}, b.read(x, {n, c, w}) - make_reduce(Reducer::kLogSumExp, {k->id}, b.read(x, {n, k, w})));
    n = b.index("n", 2), w = b.index("w", inner), k = b.bound("k", 19);
    b.define(s, {n, w}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {n, k, w}) * b.read(x, {n, k, w})));
    expect_same(b.program, 5e-6);
  }
}

// mu, vr and y of a batch norm over the rows of x[m,c], or over its columns.
struct Statistics {
  ProgramBuilder b{"p"};
  int x, mu, vr, y;
  Statistics(int64_t rows, int64_t columns, bool strided) {
    x = b.input("x", strided ? std::vector<int64_t>{columns, rows} : std::vector<int64_t>{rows, columns});
    mu = b.output("mu", {rows}), vr = b.output("vr", {rows});
    y = b.output("y", strided ? std::vector<int64_t>{columns, rows} : std::vector<int64_t>{rows, columns});
    b.kernel("k", "rows");
    const auto at = [&](ExprRef r, ExprRef c) { return strided ? b.read(x, {c, r}) : b.read(x, {r, c}); };
    auto r = b.index("r", rows), c = b.bound("c", columns);
    b.define(mu, {r}, make_reduce(Reducer::kMean, {c->id}, at(r, c)));
    r = b.index("r", rows), c = b.bound("c", columns);
    b.define(vr, {r}, make_reduce(Reducer::kVar, {c->id}, at(r, c)));
    if (strided) {
      c = b.index("c", columns), r = b.index("r", rows);
      b.define(y, {c, r}, (at(r, c) - b.read(mu, {r})) * op(Op::kRsqrt, {b.read(vr, {r}) + num(1e-5)}));
    } else {
      r = b.index("r", rows), c = b.index("c", columns);
      b.define(y, {r, c}, (at(r, c) - b.read(mu, {r})) * op(Op::kRsqrt, {b.read(vr, {r}) + num(1e-5)}));
    }
  }
};

// Rounded sums of equal values drift one way; PyTorch's mean of them is the value itself, so that what is normalised is
// zero, not the drift times 1/sqrt(eps).
TEST(Rows, TheMeanOfEqualValuesIsTheValue) {
  for (const bool strided : {false, true}) {
    const Statistics s(3, 20000, strided);
    Tensors values = random_inputs(s.b.program, 3);
    const float value = 0.7310586f;
    values[s.x].assign(values[s.x].size(), value);
    const auto got = run_kernel(s.b.program, values);
    ASSERT_TRUE(got.ok()) << got.error().text();
    for (const double v : got->at(s.mu)) EXPECT_EQ(v, value);
    for (const double v : got->at(s.vr)) EXPECT_LT(v, 1e-14);
    for (const double v : got->at(s.y)) EXPECT_EQ(v, 0.0);
  }
}

// ... whichever kernel takes it: the variance may be another's.
TEST(Rows, AMeanOnItsOwnIsExact) {
  ProgramBuilder b("p");
  const int x = b.input("x", {20000, 3}), mu = b.output("mu", {3});
  b.kernel("k", "rows");
  const auto m = b.bound("m", 20000), n = b.index("n", 3);
  b.define(mu, {n}, make_reduce(Reducer::kMean, {m->id}, b.read(x, {m, n})));
  Tensors values;
  values[x].assign(60000, -0.0173913f);
  const auto got = run_kernel(b.program, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  for (const double v : got->at(mu)) EXPECT_EQ(v, -0.0173913f);
}

TEST(Rows, MeansOfDoublesStayDoubles) {
  ProgramBuilder b("p");
  const int x = b.input("x", {2, 300}, DType::kF64), mu = b.output("mu", {2}, DType::kF64);
  b.kernel("k", "rows");
  const auto m = b.index("m", 2), n = b.bound("n", 300);
  b.define(mu, {m}, make_reduce(Reducer::kMean, {n->id}, b.read(x, {m, n})));
  expect_same(b.program, 1e-14);
}

TEST(Rows, AVarianceFarFromZeroKeepsItsDigits) {
  for (const bool strided : {false, true}) {
    const Statistics s(3, 20000, strided);
    Tensors values = random_inputs(s.b.program, 5);
    for (double& v : values[s.x]) v = static_cast<float>(1000 + v);
    expect_same(s.b.program, 1e-4, 4, values);  // a mean of 1000 is known to 3e-5 in fp32
  }
}

TEST(Rows, AnInfiniteMeanStaysInfinite) {
  const Statistics s(2, 100, false);
  Tensors values = random_inputs(s.b.program, 5);
  values[s.x][7] = std::numeric_limits<double>::infinity();
  const auto got = run_kernel(s.b.program, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->at(s.mu)[0], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(got->at(s.vr)[0]));
}

// A plain chain of so many additions of one value is off by hundreds of ulp.
TEST(Rows, LongSumsAreTakenInRuns) {
  ProgramBuilder b("p");
  const int x = b.input("x", {2, 1 << 19}), y = b.output("y", {2});
  b.kernel("k", "rows");
  b.program.kernels[0].knobs.set("threads", KnobValue::of_int(64));
  b.program.kernels[0].knobs.set("cluster", KnobValue::of_int(1));
  const auto r = b.index("r", 2), c = b.bound("c", 1 << 19);
  b.define(y, {r}, make_reduce(Reducer::kSum, {c->id}, b.read(x, {r, c})));
  Tensors values;
  values[x].assign(2 << 19, 0.7310586f);
  const auto got = run_kernel(b.program, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  const double wanted = (1 << 19) * static_cast<double>(0.7310586f);
  for (const double v : got->at(y)) EXPECT_LT(std::abs(v - wanted) / wanted, 1e-6);
}

// A row is never loaded ahead of its use as a whole where a thread's share of it does not fit registers.
TEST(Rows, AWholeTensorIsNotLoadedAhead) {
  ProgramBuilder b("p");
  const int x = b.input("x", {1 << 15, 1 << 15}), y = b.output("y", {});
  b.kernel("k", "rows");
  const auto i = b.bound("i", 1 << 15), j = b.bound("j", 1 << 15);
  b.define(y, {}, make_reduce(Reducer::kSum, {i->id, j->id}, b.read(x, {i, j})));
  const machine::Machine machine = small_machine();
  const auto emission = find_family("rows")->generate({b.program, machine}, b.program.kernels[0]);
  ASSERT_TRUE(emission.ok()) << emission.error().text();
  EXPECT_EQ(emission->sources[0].code.find("x0["), std::string::npos) << emission->sources[0].code;
  b.program.kernels[0].knobs.set("residency", KnobValue::of_name("registers"));
  const auto forced = find_family("rows")->generate({b.program, machine}, b.program.kernels[0]);
  ASSERT_FALSE(forced.ok());
  EXPECT_NE(forced.error().message.find("residency=registers"), std::string::npos);
}

// Few long rows: blocks take parts of them, a second kernel folds.
TEST(Rows, PartsOfLongRowsAreFolded) {
  for (const int64_t columns : {70000, 65536}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {2, columns}), t = b.input("t", {2, columns}), z = b.input("z", {2});
    const int y = b.output("y", {2}), top = b.output("top", {2}), at = b.output("at", {2}, DType::kI64);
    b.kernel("k", "rows");
    b.program.kernels[0].knobs.set("parts", KnobValue::of_int(8));
    auto r = b.index("r", 2), c = b.bound("c", columns);
    const auto distance = b.read(x, {r, c}) - b.read(t, {r, c});
    b.define(y, {r}, make_reduce(Reducer::kMean, {c->id}, distance * distance) * b.read(z, {r}));
    r = b.index("r", 2), c = b.bound("c", columns);
    b.define(top, {r}, make_reduce(Reducer::kMax, {c->id}, b.read(x, {r, c})));
    r = b.index("r", 2), c = b.bound("c", columns);
    b.define(at, {r}, make_reduce(Reducer::kArgMax, {c->id}, b.read(x, {r, c})));
    expect_same(b.program, 5e-6);
  }
}

TEST(Rows, AWholeTensorFillsTheMachine) {
  ProgramBuilder b("p");
  const int x = b.input("x", {1 << 10, 1 << 12}), y = b.output("y", {});
  b.kernel("k", "rows");
  const auto i = b.bound("i", 1 << 10), j = b.bound("j", 1 << 12);
  b.define(y, {}, make_reduce(Reducer::kMean, {i->id, j->id}, b.read(x, {i, j}) * b.read(x, {i, j})));
  const machine::Machine machine = small_machine();
  const auto emission = find_family("rows")->generate({b.program, machine}, b.program.kernels[0]);
  ASSERT_TRUE(emission.ok()) << emission.error().text();
  ASSERT_EQ(emission->steps.size(), 2u);
  EXPECT_EQ(emission->steps[0].grid[0], 4 * machine.sm_count);
  expect_same(b.program, 5e-6);
}

// 2^34 elements are 2^32 vectors: their numbers do not fit an int.
TEST(Rows, AVeryLongRowIsCountedIn64Bits) {
  ProgramBuilder b("p");
  const int64_t columns = int64_t{1} << 34;
  const int x = b.input("x", {columns}), y = b.output("y", {});
  b.kernel("k", "rows");
  const auto n = b.bound("n", columns);
  b.define(y, {}, make_reduce(Reducer::kSum, {n->id}, b.read(x, {n})));
  const machine::Machine machine = small_machine();
  const auto emission = find_family("rows")->generate({b.program, machine}, b.program.kernels[0]);
  ASSERT_TRUE(emission.ok()) << emission.error().text();
  const std::string& code = emission->sources[0].code;
  EXPECT_NE(code.find("const long long c = static_cast<long long>(k) * "), std::string::npos) << code;
  EXPECT_EQ(code.find("const int c"), std::string::npos) << code;
}

TEST(Rows, ATeamTakesNoVectorsThatRowsAreNotAlignedTo) {
  Softmax s(2, 1390);
  s.knob("team", 2).knob("vector", 4);
  Diagnostics diagnostics;
  find_family("rows")->check({s.b.program, small_machine()}, s.b.program.kernels[0], diagnostics);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].code, "E201");
  EXPECT_NE(diagnostics.all()[0].message.find("vector=4"), std::string::npos) << diagnostics.all()[0].message;
}

// Wide values among narrow ones, and a thousand threads that exchange two reductions: all of it is counted beforehand.
TEST(Rows, KeptValuesFitIntoSharedMemory) {
  Diagnostics diagnostics;
  const auto program = load_program(R"(program p
input x : bf16[101, 513]
input v : f32[513, 102]
input w : f64[513]
output y : f64[101, 513]
kernel k by rows() {
  s[m] = logsumexp[j<513](erf(x[m,j] * (max(x[m,j], v[j,m+1]) + (x[m,j] - w[j]))))
  t[m] = sum[j<513](clamp(x[m,j] - (s[m] + v[j,m+1]), -63, 63))
  y[m,n] = min(v[n,m+1], t[m])
}
)",
                                    "p.ucut", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  const auto machine = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml").value();
  const auto limit = static_cast<int64_t>(machine.shared_per_block.value);
  for (const char* residency : {"auto", "shared"}) {
    Program asked = *program;
    asked.kernels[0].knobs.set("residency", KnobValue::of_name(residency));
    const auto emission = find_family("rows")->generate({asked, machine}, asked.kernels[0]);
    if (emission.ok())
      EXPECT_LE(emission->steps[0].shared_bytes, limit) << residency;
    else
      EXPECT_EQ(emission.error().code, Code::illegal_knobs) << emission.error().text();
  }
}

TEST(Rows, RowsThatAreStoredAreNotTakenInParts) {
  Softmax s(2, 4096);
  s.knob("parts", 4);
  const machine::Machine machine = small_machine();
  EXPECT_TRUE(find_family("rows")->match(s.b.program, s.b.program.kernels[0]).ok);  // the equations are the family's
  Diagnostics diagnostics;
  find_family("rows")->check({s.b.program, machine}, s.b.program.kernels[0], diagnostics);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].code, "E201");
  EXPECT_NE(diagnostics.all()[0].message.find("parts=4"), std::string::npos) << diagnostics.all()[0].message;
}

TEST(Rows, ArgmaxTakesTheFirst) {
  ProgramBuilder b("p");
  const int x = b.input("x", {7, 300}, DType::kI32), f = b.input("f", {7, 300}), y = b.output("y", {7}, DType::kI64),
            z = b.output("z", {7}, DType::kI64);
  b.kernel("k", "rows");
  auto m = b.index("m", 7), n = b.bound("n", 300);
  b.define(y, {m}, make_reduce(Reducer::kArgMax, {n->id}, b.read(x, {m, n})));
  m = b.index("m", 7), n = b.bound("n", 300);
  b.define(z, {m}, make_reduce(Reducer::kArgMin, {n->id}, b.read(f, {m, n})));
  expect_same(b.program);
}

TEST(Rows, WhereAnyAndGather) {
  ProgramBuilder b("p");
  const int x = b.input("x", {9, 70}), t = b.input("t", {9}, DType::kI64), y = b.output("y", {9}),
            z = b.output("z", {9}, DType::kBool);
  b.kernel("k", "rows");
  auto m = b.index("m", 9), n = b.bound("n", 70), j = b.bound("j", 70);
  b.define(y, {m},
           make_reduce(Reducer::kLogSumExp, {n->id}, b.read(x, {m, n})) - b.read(x, {m, b.read(t, {m})}) +
               make_reduce(Reducer::kMean, {j->id}, b.read(x, {m, j}), op(Op::kLt, {j, whole(10)})));
  m = b.index("m", 9), n = b.bound("n", 70);
  b.define(z, {m}, make_reduce(Reducer::kAny, {n->id}, op(Op::kGt, {b.read(x, {m, n}), num(2.4)})));
  expect_same(b.program, 5e-6, 70);
}

TEST(Rows, SaysWhyNot) {
  ProgramBuilder b("p");
  const int x = b.input("x", {4, 8}), y = b.output("y", {4, 8});
  b.kernel("k", "rows");
  const auto m = b.index("m", 4), n = b.index("n", 8), j = b.bound("j", 8);
  b.define(y, {m, n}, make_reduce(Reducer::kSum, {j->id}, b.read(x, {m, j}), op(Op::kLe, {j, n})));
  const Match match = find_family("rows")->match(b.program, b.program.kernels[0]);
  EXPECT_FALSE(match.ok);
  EXPECT_NE(match.reason.find("`y`"), std::string::npos) << match.reason;
}

// The largest element of each row of a product whose extents are all equal: the sum's index is no other name of the
// maximum's.
TEST(Rows, AReductionOfASquareProductIsNotOneOfItsOperand) {
  ProgramBuilder b("p");
  const int x = b.input("x", {8, 8}), w = b.input("w", {8, 8}), y = b.output("y", {8}), h = b.local("h", {8, 8});
  b.kernel("k", "rows");
  auto m = b.index("m", 8), n = b.index("n", 8);
  const auto k = b.bound("k", 8);
  b.define(h, {m, n}, make_reduce(Reducer::kSum, {k->id}, b.read(x, {m, k}) * b.read(w, {n, k})));
  m = b.index("m", 8);
  n = b.bound("n", 8);
  b.define(y, {m}, make_reduce(Reducer::kMax, {n->id}, b.read(h, {m, n})));
  for (const char* family : {"rows", "reduce"}) {
    const Match match = find_family(family)->match(b.program, b.program.kernels[0]);
    EXPECT_FALSE(match.ok) << family;
    EXPECT_NE(match.reason.find("what another reduction depends on"), std::string::npos) << match.reason;
  }
}

// The shift by the maximum stands inside the sum; it is one pass more, not one for each element.
TEST(Rows, ALogsumexpCostsItsTraffic) {
  ProgramBuilder b("p");
  const int x = b.input("x", {4096, 4096}), y = b.output("y", {4096});
  b.kernel("k", "rows");
  const auto m = b.index("m", 4096), n = b.bound("n", 4096);
  b.define(y, {m}, make_reduce(Reducer::kLogSumExp, {n->id}, b.read(x, {m, n})));
  const machine::Machine machine = small_machine();
  const auto cost = find_family("rows")->cost({b.program, machine}, b.program.kernels[0]);
  ASSERT_TRUE(cost.ok());
  EXPECT_LT(cost->work.value, 40.0 * 4096 * 4096);
}

TEST(Rows, OneReadOneWrite) {
  const Softmax s(64, 1024);
  const machine::Machine machine = small_machine();
  const auto cost = find_family("rows")->cost({s.b.program, machine}, s.b.program.kernels[0]);
  ASSERT_TRUE(cost.ok());
  EXPECT_DOUBLE_EQ(cost->traffic.value, 8.0 * 64 * 1024);
}

}  // namespace
}  // namespace solstice::families
