// Generated scan kernels, compiled for the host and run with all their threads, against direct evaluation.
#include <cmath>
#include <limits>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/interpret.h"
#include "unit/families/expect.h"
#include "unit/families/h200.h"

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
    const auto at = [&](const ExprRef& along) {
      return first_axis ? std::vector<ExprRef>{along, m} : std::vector<ExprRef>{m, along};
    };
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
// Tiles that are copied ahead into shared memory, along rows and columns.
TEST(Scan, TilesAhead) {
  for (const int64_t stages : {2, 3}) {
    const auto staged = [&](Cumulative c, double tolerance = 1e-4) {
      expect_same(c.knob("threads", 128).knob("items", 4).knob("stages", stages).b.program, tolerance);
    };
    staged(Cumulative(2, 2603));
    staged(Cumulative(3, 1501, Reducer::kSum, Op::kGt, false, DType::kBF16), 2e-2);
    staged(Cumulative(72, 300, Reducer::kSum, Op::kGe, true));
    staged(Cumulative(5, 9));
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
TEST(Scan, HalfPrecisionIsSummedInFloat) {
  expect_same(Cumulative(3, 600, Reducer::kSum, Op::kLe, false, DType::kBF16).b.program, 2e-2);
}

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
  b.define(y, {a, m, n},
           make_reduce(Reducer::kSum, {j->id}, b.read(x, {a, m, j}) * num(0.5),
                       op(Op::kAnd, {op(Op::kLt, {j, n}), b.read(keep, {a, m, j})})) *
                   b.read(g, {n}) +
               b.read(x, {a, m, n}));
  a = b.index("a", 3), m = b.index("m", 4), n = b.index("n", 130), j = b.bound("j", 130);
  b.define(z, {a, m, n},
           op(Op::kTanh, {make_reduce(Reducer::kMax, {j->id}, b.read(x, {a, m, j}), op(Op::kGe, {n, j}))}));
  expect_same(b.program, 1e-5, 2);
}

// flip(cumsum(flip(x))) as views leave it: the binder runs against the index.
TEST(Scan, OverAFlippedTensor) {
  ProgramBuilder b("p");
  const int x = b.input("x", {5, 77}), y = b.output("y", {5, 77});
  b.kernel("k", "scan");
  const auto m = b.index("m", 5), n = b.index("n", 77), j = b.bound("j", 77);
  b.define(y, {m, n},
           make_reduce(Reducer::kSum, {j->id}, b.read(x, {m, whole(76) - j}), op(Op::kLe, {j, whole(76) - n})));
  expect_same(b.program, 1e-5);
}

machine::Machine one_sm() {
  machine::Machine out = small_machine();
  out.sm_count = 1;
  return out;
}

// Eight blocks take tiles of 128 x 4 elements in turn: rows of several rounds, and several rows in a round.
TEST(Scan, RowsSharedByTheGrid) {
  const auto shared = [](Cumulative c) {
    c.b.program.kernels[0].knobs.set("sharing", KnobValue::of_name("grid"));
    expect_same(c.knob("threads", 128).knob("items", 4).b.program, 1e-4, 4, {}, one_sm());
  };
  shared(Cumulative(1, 9001));
  shared(Cumulative(5, 1203, Reducer::kProd, Op::kGt));
  shared(Cumulative(2, 2504, Reducer::kMax, Op::kGe, false, DType::kBF16));
  shared(Cumulative(33, 200, Reducer::kSum, Op::kGt, true));
}

// All blocks of a grid must run at once: what they hold of shared memory fits their SM.
TEST(Scan, AGridIsNoLargerThanItsSMsHold) {
  constexpr int64_t kShared = 228 * 1024, kSystem = 1024;  // bytes, of an SM and of it for each block
  for (const int64_t threads : {128, 256, 512, 1024}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {2, 70000}, DType::kF64);
    std::vector<int> outputs;
    for (const char* name : {"u", "v", "w"}) outputs.push_back(b.output(name, {2, 70000}));
    b.kernel("k", "scan");
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto m = b.index("m", 2), n = b.index("n", 70000), j = b.bound("j", 70000);
      const Reducer reducer = i == 0 ? Reducer::kSum : i == 1 ? Reducer::kMax : Reducer::kMin;
      b.define(outputs[i], {m, n}, make_reduce(reducer, {j->id}, b.read(x, {m, j}), op(Op::kLe, {j, n})));
    }
    b.program.kernels[0].knobs.set("sharing", KnobValue::of_name("grid"));
    b.program.kernels[0].knobs.set("threads", KnobValue::of_int(threads));
    const machine::Machine machine = one_sm();
    const auto emission = find_family("scan")->generate({b.program, machine}, b.program.kernels[0]);
    ASSERT_TRUE(emission.ok()) << emission.error().text();
    const Step& launch = emission->steps.back();
    EXPECT_TRUE(launch.cooperative);
    EXPECT_LE(launch.grid[0] * (launch.shared_bytes + kSystem), kShared) << threads;
  }
}

TEST(Scan, FewLongRowsAreSharedUnlessAsked) {
  Cumulative c(3, 300'000);
  const auto blocks = [&] {
    machine::Machine machine = small_machine();
    machine.sm_count = 100;
    return find_family("scan")->generate({c.b.program, machine}, c.b.program.kernels[0])->steps.size();
  };
  EXPECT_EQ(blocks(), 2u);  // offers are cleared ahead
  c.b.program.kernels[0].knobs.set("sharing", KnobValue::of_name("block"));
  EXPECT_EQ(blocks(), 1u);
}

// Vectors of rows that begin anywhere, beside a tensor that does not.
TEST(Scan, RowsThatAreNotAligned) {
  for (const auto& [rows, columns] : {std::pair{9, 67}, {5, 333}, {3, 2049}}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {rows, columns}), keep = b.input("keep", {rows, columns}, DType::kBool),
              g = b.input("g", {columns});
    const int y = b.output("y", {rows, columns}, DType::kBF16), z = b.output("z", {rows, columns});
    b.kernel("k", "scan");
    auto m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", columns);
    const auto sum = [&] {
      return make_reduce(Reducer::kSum, {j->id}, b.read(x, {m, j}),
                         op(Op::kAnd, {op(Op::kLe, {j, n}), b.read(keep, {m, j})}));
    };
    b.define(y, {m, n}, sum());
    m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", columns);
    b.define(z, {m, n}, sum() * b.read(g, {n}) + b.read(x, {m, n}));
    expect_same(b.program, 2e-2);
  }
}

Program program_of(const std::string& text) {
  Diagnostics diagnostics;
  auto program = load_program("program p\n" + text, "test", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test");
  return std::move(program).value();
}

// Runs kernel 0 on the host and compares with the interpreter.
void expect_interpreted(const std::string& text, double tolerance = 1e-5) {
  const Program program = program_of(text);
  const Match match = find_family("scan")->match(program, program.kernels.front());
  ASSERT_TRUE(match.ok) << match.reason;
  const TensorValues named = random_inputs(program, 0, 3);
  Tensors values;
  for (const auto& [name, tensor] : named) values[program.find_tensor(name)] = tensor.values;
  const auto got = run_kernel(program, values, one_sm());
  ASSERT_TRUE(got.ok()) << got.error().text();
  const auto wanted = interpret(program, named);
  ASSERT_TRUE(wanted.ok()) << wanted.error().text();
  for (const auto& [name, tensor] : *wanted) values[program.find_tensor(name)] = tensor.values;
  EXPECT_EQ(difference(program, *got, values, tolerance), "");
}

std::string recurrence(const std::string& sizes, const std::string& head, const std::string& knobs,
                       const std::string& body) {
  return "dim " + sizes + head + "kernel k by scan(" + knobs + ") {\n" + body + "\n}\n";
}

TEST(Recurrence, AlongRows) {
  const std::string tensors = "\ninput a : f32[M, T]\ninput b : f32[M, T]\noutput h : f32[M, T]\n";
  const std::string body = "h[m,t] = tanh(a[m,t])*h[m,t-1 else 0] + b[m,t]";
  for (const char* sizes : {"M = 5, T = 2", "M = 7, T = 96", "M = 3, T = 2051"})
    expect_interpreted(recurrence(sizes, tensors, "", body));
  expect_interpreted(recurrence("M = 3, T = 5000", tensors, "sharing=grid, threads=128, items=4", body));
}
TEST(Recurrence, BackwardsFromAnInitialState) {
  expect_interpreted(recurrence("M = 3, T = 700",
                                "\ninput a : f32[M, T]\ninput b : f32[M, T]\ninput h0 : f32[M]\noutput h : f32[M, T]\n",
                                "", "h[m,t] = (b[m,t] - h[m,t+1 else h0[m]]) / (2 + a[m,t]*a[m,t])"));
}
// Where neighbours are other rows; gates on the way, a map behind, an output beside the state.
TEST(Recurrence, AlongAnOuterAxis) {
  expect_interpreted(recurrence("B = 2, T = 300, C = 36",
                                "\ninput x : f32[B, T, C]\ninput g : f32[C]\ninput h0 : f32[B, C]\noutput h : f32[B, "
                                "T, C]\noutput y : bf16[B, T, C]\n",
                                "",
                                "k[t,b,c] = sigmoid(g[c]) * s[t-1,b,c else h0[b,c]] for t<T\n"
                                "s[t,b,c] = k[t,b,c] + (1 - sigmoid(g[c])) * x[b,t,c]\n"
                                "h[b,t,c] = s[t,b,c]\ny[b,t,c] = s[t,b,c] * x[b,t,c] + k[t,b,c]"),
                     1e-2);
}
// Neither memory nor traffic of the states before.
TEST(Recurrence, LastStateAlone) {
  const std::string step = "s[t,b,c] = a[b,t,c] * s[t-1,b,c else h0[b,c]] + x[b,t,c]\n";
  const std::string tensors =
      "\ninput a : f32[B, T, C]\ninput x : f32[B, T, C]\ninput h0 : f32[B, C]\noutput y : f32[B, C]\n";
  for (const char* sizes :
       {"B = 2, T = 300, C = 36", "B = 2, T = 40, C = 1026", "B = 3, T = 77, C = 5", "B = 1, T = 16, C = 1"})
    expect_interpreted(recurrence(sizes, tensors, "", step + "y[b,c] = tanh(s[T-1,b,c]) * x[b,0,c]"));
  expect_interpreted(recurrence("B = 1, T = 5000, C = 64", tensors, "sharing=grid, threads=128, items=4",
                                step + "y[b,c] = s[T-1,b,c]"));
  expect_interpreted(recurrence("B = 2, T = 50, C = 12", tensors + "output h : f32[T, B, C]\n", "",
                                step + "h[t,b,c] = s[t,b,c]\ny[b,c] = s[T-1,b,c]"));
}
TEST(Recurrence, LastStateOfRows) {
  const std::string head = "\ninput a : f32[M, T]\ninput b : f32[M, T]\noutput y : f32[M]\n";
  const std::string forwards = "h[m,t] = a[m,t]*h[m,t-1 else 0] + b[m,t]\ny[m] = h[m,T-1]";
  for (const char* sizes : {"M = 5, T = 64", "M = 7, T = 96", "M = 3, T = 2051", "M = 2, T = 17"})
    expect_interpreted(recurrence(sizes, head, "", forwards));
  expect_interpreted(recurrence("M = 3, T = 5000", head, "sharing=grid, threads=128, items=4", forwards));
  expect_interpreted(
      recurrence("M = 3, T = 700", head, "", "h[m,t] = a[m,t]*h[m,t+1 else 0] + b[m,t]\ny[m] = 2*h[m,0]"));
}
TEST(Recurrence, LastStatesTogether) {
  expect_interpreted(recurrence(
      "T = 90, C = 40", "\ninput a : f32[T, C]\ninput b : f32[T, C]\noutput y : f32[C]\noutput z : f32[C]\n", "",
      "g[t,c] = a[t,c]*g[t-1,c else 0] + b[t,c]\nh[t,c] = b[t,c]*h[t-1,c else 0] + a[t,c]\n"
      "y[c] = g[T-1,c]\nz[c] = h[T-1,c] - g[T-1,c]"));
}
TEST(Recurrence, LastStateIsItsOnlyTraffic) {
  const std::string head = "dim T = 1024, C = 16384\ninput a : f32[T, C]\ninput b : f32[T, C]\n";
  const std::string step = "h[t,c] = a[t,c]*h[t-1,c else 0] + b[t,c]\n";
  const Program last = program_of(head + "output y : f32[C]\nkernel k by scan() {\n" + step + "y[c] = h[T-1,c]\n}\n");
  const Program all = program_of(head + "output h : f32[T, C]\nkernel k by scan() {\n" + step + "}\n");
  const auto cost = [](const Program& program) {
    return find_family("scan")->cost(Context{program, h200()}, program.kernels.front());
  };
  ASSERT_TRUE(cost(last).ok()) << cost(last).error().text();
  EXPECT_EQ(cost(last)->traffic.value, (2.0 * 1024 * 16384 + 16384) * 4);
  EXPECT_LT(cost(last)->time.value, 0.8 * cost(all)->time.value);
}
// Each reader would take all steps.
TEST(Recurrence, LastStateOfSeveralReadersIsRefused) {
  const Program program =
      program_of(recurrence("T = 64, M = 8", "\ninput a : f32[T]\ninput w : f32[M]\noutput y : f32[M]\n", "",
                            "h[t] = a[t]*h[t-1 else 0] + 1\ny[m] = w[m] * h[T-1]"));
  EXPECT_NE(find_family("scan")->match(program, program.kernels.front()).reason.find("several elements of `y`"),
            std::string::npos);
}
// A factor's product over many steps overflows; the state is 0 and stays it until something is added.
TEST(Recurrence, ProductsThatOverflow) {
  expect_interpreted(recurrence("T = 600", "\ninput b : f32[T]\noutput h : f32[T]\n", "",
                                "h[t] = select(t < 300, 7, 0.5)*h[t-1 else 0] + select(t < 297, 0, b[t])"));
}
TEST(Recurrence, WhatIsNoLinearOneIsRefused) {
  const auto reason = [](const std::string& body) {
    const Program program = program_of(recurrence("T = 8", "\ninput b : f32[T]\noutput h : f32[T]\n", "", body));
    return find_family("scan")->match(program, program.kernels.front()).reason;
  };
  EXPECT_NE(reason("h[t] = tanh(h[t-1 else 0]) + b[t]").find("not a linear function of its previous step (`tanh`)"),
            std::string::npos);
  EXPECT_NE(reason("h[t] = h[t-2 else 0] + b[t]").find("read further back"), std::string::npos);
  EXPECT_NE(reason("h[t] = h[t-1 else 0] * h[t-1 else 0] + b[t]").find("(`mul`)"), std::string::npos);
}

std::string scan_refusal(const Program& program) {
  return find_family("scan")->match(program, program.kernels.front()).reason;
}

// Each of its elements would compute all steps before its own.
TEST(Recurrence, IsNotWrittenOutStepByStepInOtherFamilies) {
  const std::string body = "mul[t] = b[t] * s[t-1 else 0]\n  s[t] = mul[t] + b[t]\n  h[t] = tanh(s[t])";
  const Program program = program_of(recurrence("T = 8", "\ninput b : f32[T]\noutput h : f32[T]\n", "", body));
  EXPECT_TRUE(find_family("scan")->match(program, program.kernels.front()).ok);
  for (const char* other : {"map", "rows", "reduce"}) {
    const Match match = find_family(other)->match(program, program.kernels.front());
    EXPECT_FALSE(match.ok) << other;
  }
  const std::string reason = find_family("map")->match(program, program.kernels.front()).reason;
  EXPECT_NE(reason.find("is a recurrence: a linear one runs in `scan`"), std::string::npos) << reason;
}

TEST(Scan, RefusesAReductionOverItsResults) {
  const std::string program = "dim T = 16, N = 8\ninput a : f32[T, N]\noutput y : f32[T]\nkernel k by scan() {\n";
  for (const char* body : {"  h[t,n] = a[t,n] * h[t-1,n else 0] + a[t,n]\n  y[t] = sum[n](h[t,n])\n}\n",
                           "  c[t,n] = sum[s where s <= t](a[s,n]) for t<T\n  y[t] = max[n](c[t,n])\n}\n"}) {
    const std::string reason = scan_refusal(program_of(program + body));
    EXPECT_NE(reason.find("a reduction over the results of a scan"), std::string::npos) << body << reason;
  }
}

TEST(Scan, RefusesWhatIsNoPrefix) {
  ProgramBuilder b("p");
  const int x = b.input("x", {8, 8}), y = b.output("y", {8, 8});
  b.kernel("k", "scan");
  const auto m = b.index("m", 8), n = b.index("n", 8), j = b.bound("j", 8);
  b.define(y, {m, n}, make_reduce(Reducer::kSum, {j->id}, b.read(x, {m, j}) * b.read(x, {n, j}), op(Op::kLe, {j, n})));
  EXPECT_NE(scan_refusal(b.program).find("its terms depend on its end"), std::string::npos) << scan_refusal(b.program);

  ProgramBuilder w("p");
  const int u = w.input("x", {8}), v = w.output("y", {8});
  w.kernel("k", "scan");
  const auto o = w.index("n", 8), i = w.bound("j", 8);
  w.define(v, {o},
           make_reduce(Reducer::kSum, {i->id}, w.read(u, {i}),
                       op(Op::kAnd, {op(Op::kLe, {i, o}), op(Op::kGt, {i, o - whole(3)})})));
  EXPECT_NE(scan_refusal(w.program).find("two ends"), std::string::npos) << scan_refusal(w.program);
}

}  // namespace
}  // namespace solstice::families
