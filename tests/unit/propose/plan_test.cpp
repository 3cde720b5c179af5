#include "propose/plan.h"

#include <gtest/gtest.h>

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
  const auto first = made->expert->propose(search::Tree());
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_NE((*first)->program.find("kernel rows1 by rows("), std::string::npos) << (*first)->program;
  EXPECT_EQ((*first)->predicted, made->cost);
}

}  // namespace
}  // namespace solstice::propose
