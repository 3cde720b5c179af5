// The legality of `backend=lean` as data: every rule can fire, and what is proposed instead is legal.
#include "families/gemm/rules.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "families/gemm/choice.h"
#include "families/gemm/grouped/grouped.h"
#include "families/gemm/knobs.h"
#include "host_kernels/build.h"
#include "machine/machine.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;
using gemm::GemmConfig;
using gemm::Streamed;
using numerics::Math;

struct DrawnProduct {
  ProgramBuilder b{"p"};

  // `gaps`: x lies with a stride in both of its dimensions. `grouped`: each row chooses one of four matrices. `dual`: a
  // second sum reads x too. `sums`: of rows. `whole`: elements are divided by these. `triangle`: what lies above the
  // diagonal is left out. `made`: of what x + 1 is, not of x.
  DrawnProduct(int64_t m, int64_t n, int64_t k, bool transposed, bool gaps, bool grouped, bool dual, bool sums,
               bool whole, bool triangle, bool made, DType dtype) {
    const int x = b.input("x", gaps ? std::vector<int64_t>{m, k, 2} : std::vector<int64_t>{m, k}, dtype);
    std::vector<int64_t> shape = transposed ? std::vector<int64_t>{k, n} : std::vector<int64_t>{n, k};
    if (grouped) shape.insert(shape.begin(), 4);
    const int w = b.tensor("w", TensorKind::kParam, shape, dtype);
    const int e = b.input("e", {m}, DType::kI32);
    const int y = b.output("y", {m, n}, dtype);
    b.kernel("up", "gemm");
    const auto i = b.index("i", m), j = b.index("j", n), l = b.bound("l", k);
    auto left = gaps ? b.read(x, {i, l, make_int(0)}) : b.read(x, {i, l});
    if (made) left = left + num(1.0);
    std::vector<ExprRef> at = transposed ? std::vector<ExprRef>{l, j} : std::vector<ExprRef>{j, l};
    if (grouped) at.insert(at.begin(), b.read(e, {i}));
    auto sum = make_reduce(Reducer::kSum, {l->id}, left * b.read(w, at));
    if (dual)
      sum =
          sum + make_reduce(Reducer::kSum, {l->id}, left * b.read(b.tensor("v", TensorKind::kParam, shape, dtype), at));
    b.define(y, {i, j}, triangle ? op(Op::kSelect, {op(Op::kLe, {j, i}), sum, num(0.0)}) : sum);
    if (!sums) return;
    const int s = b.output("s", {m});
    const auto row = b.index("i", m), column = b.bound("j", n);
    b.define(s, {row}, make_reduce(Reducer::kSum, {column->id}, b.read(y, {row, column})));
    if (!whole) return;
    const int z = b.output("z", {m, n});
    const auto r = b.index("i", m), c = b.index("j", n);
    b.define(z, {r, c}, b.read(y, {r, c}) / b.read(s, {r}));
  }
};

template <class T>
T any_of(std::mt19937_64& random, std::initializer_list<T> values) {
  return *(values.begin() + random() % values.size());
}

GemmConfig drawn_settings(std::mt19937_64& random, GemmConfig c) {
  gemm::Settings& s = c.settings;
  s.math = any_of(random, {Math::kSimt, Math::kTF32, Math::kTF32x3, Math::kBF16, Math::kFP16, Math::kBF16x6,
                           Math::kFP16x3, Math::kFP16x3, Math::kFP8});
  s.tile_m = any_of(random, {32, 64, 128, 192, 8, 100}), s.tile_n = any_of(random, {32, 64, 128, 256, 16});
  s.tile_k = random() % 4 ? tensor_core::stage_k(s.math) : 16;
  s.cluster = any_of(random, {1, 1, 2, 0}), s.cluster_n = any_of(random, {1, 1, 2});
  s.stages = any_of(random, {0, 0, 2, 3, 6, 1, 12});
  s.stream = any_of(random, {Streamed::kNone, Streamed::kNone, Streamed::kRows, Streamed::kColumns});
  s.split = any_of(random, {1, 1, 2, 3, 200});
  // Few settings of grouped products come as far as their rings.
  if (gemm::is_grouped(*c.problem) && random() % 2 == 0)
    s.math = gemm::grouped_math(*c.problem), s.tile_k = tensor_core::stage_k(s.math), s.stream = Streamed::kNone,
    s.split = 1;
  s.prepack = random() % 2 == 0, s.scaled = gemm::is_scaled(s.math, *c.problem);
  if (random() % 8 == 0) c.schedule = "pingpong";
  return c;
}

TEST(GemmRules, EveryRuleCanFireAndWhatIsProposedIsLegal) {
  const machine::Machine h200 = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml").value();
  std::mt19937_64 random(11);
  std::set<std::string_view> fired, ids;
  for (int i = 0; i < 200; ++i) {
    const DType dtype =
        any_of(random, {DType::kF32, DType::kF32, DType::kF32, DType::kBF16, DType::kF16, DType::kE4M3});
    const bool gaps = random() % 8 == 0, grouped = size_of(dtype) == 2 && !gaps && random() % 2 == 0;
    const bool dual = !grouped && dtype != DType::kE4M3 && random() % 4 == 0;
    const DrawnProduct product(any_of<int64_t>(random, {4, 16, 1024}), any_of<int64_t>(random, {8, 512}),
                               any_of<int64_t>(random, {64, 4096, grouped ? 64 : 100}), random() % 2 == 0, gaps,
                               grouped, dual, !grouped && !dual && i % 4 == 0, i % 8 == 0, i % 8 == 1,
                               !grouped && !dual && i % 4 == 2, dtype);
    const Context context{product.b.program, h200, any_of<std::string>(random, {"reference", "high", "medium"}),
                          random() % 2 == 0};
    const auto problem = gemm::make_problem(product.b.program, product.b.program.kernels.front());
    ASSERT_TRUE(problem.ok()) << problem.error().text();
    const GemmConfig usual = gemm::config_of(context, product.b.program.kernels.front(), *problem);
    for (int j = 0; j < 30; ++j) {
      const GemmConfig c = drawn_settings(random, usual);
      const auto* rule = first_broken(gemm::gemm_rules(), c);
      if (rule) {
        fired.insert(rule->id);
        EXPECT_FALSE(rule->reason(c).empty());
      }
      const auto legal = nearest_legal(gemm::gemm_rules(), c);
      ASSERT_TRUE(legal) << rule->id;  // own kernels compute every product: math=simt at the least
      EXPECT_TRUE(gemm::is_legal(context, *problem, legal->settings));
    }
  }
  for (const auto& rule : gemm::gemm_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " twice";
    EXPECT_TRUE(fired.count(rule.id)) << rule.id << " never fired";
  }
}

TEST(GemmRules, UsualValuesAreThoseOfTheKnobTable) {
  EXPECT_EQ(gemm::usual_value("schedule"), "cooperative");
  EXPECT_EQ(gemm::usual_value("epilogue"), "auto");
  EXPECT_EQ(gemm::usual_value("scheduler"), "persistent");
}

}  // namespace
}  // namespace solstice::families
