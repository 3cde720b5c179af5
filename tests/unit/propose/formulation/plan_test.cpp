#include "propose/formulation/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "propose/expert.h"

namespace solstice::propose {
namespace {

constexpr const char* kSoftmax = R"(program softmax
dim M = 8192, N = 16384
input x : f32[M, N]
output y : f32[M, N]

e[m,n] = exp(x[m,n] - max[j](x[m,j]))
y[m,n] = e[m,n] / sum[j](e[m,j])
)";

TEST(Plan, CutsAProblemIntoKernelsAndProposesTheCostModelsChoiceFirst) {
  const auto machine = machine::load_machine("h200");
  ASSERT_TRUE(machine.ok());
  auto problem = ir::bound_text(kSoftmax, "softmax.ucut");
  ASSERT_TRUE(problem.ok());
  const Result<Plan> made = plan(std::make_shared<const ir::BoundText>(std::move(*problem)), {*machine});
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made->text(), "1 kernel: rows1");
  EXPECT_GT(made->cost, Seconds(0));
  const auto first = Expert({made->formulation}).propose(search::Tree(), 0);
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_NE((*first)->program.find("kernel rows1 by rows("), std::string::npos) << (*first)->program;
  EXPECT_EQ((*first)->predicted, made->cost);
}

// The cut is left as it is, each kernel has its family's own settings, and nothing is rewritten.
TEST(Plan, IsLeftAsItIsOnceItIsToStop) {
  const auto machine = machine::load_machine("h200");
  ASSERT_TRUE(machine.ok());
  auto problem = ir::bound_text(kSoftmax, "softmax.ucut");
  ASSERT_TRUE(problem.ok());
  PlanningContext context{*machine};
  context.stop = [] { return true; };
  const Result<Plan> made = plan(std::make_shared<const ir::BoundText>(std::move(*problem)), context);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made->formulation.axes.size(), 2u) << made->text();
  for (const Axis& axis : made->formulation.axes) EXPECT_EQ(axis.options.size(), 1u) << axis.kernel;
  const auto first = Expert({made->formulation}).propose(search::Tree(), 0);
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_FALSE(made->formulation.equations->context.stop) << "what a search looks for later is not stopped by it";
}

// Two columns of threads would read 256 MiB three times: two kernels that every SM takes part in are faster. Where rows
// are many, one kernel is.
TEST(Plan, StatisticsComeApartWhereThatIsFaster) {
  const auto planned = [](int64_t k, int64_t n) {
    const auto machine = machine::load_machine("h200");
    auto problem = ir::bound_text(
        fmt::format("program p\ndim K = {}, N = {}\ninput x : f32[K, N]\noutput v : f32[N]\n\nv[n] = var[k](x[k,n])\n",
                    k, n),
        "p.ucut");
    EXPECT_TRUE(problem.ok());
    const Result<Plan> made = plan(std::make_shared<const ir::BoundText>(std::move(*problem)), {*machine});
    EXPECT_TRUE(made.ok());
    return made.ok() ? made->text() : "";
  };
  EXPECT_EQ(planned(1048576, 64), "2 kernels: reduce1, reduce2, statistics apart");
  EXPECT_EQ(planned(64, 1048576), "1 kernel: rows1");
}

}  // namespace
}  // namespace solstice::propose
