// Sums of products and the roles of their indices.
#include "ir/analysis/contraction.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/bind.h"

namespace solstice::ir {
namespace {

Program with(const std::string& equation) {
  Diagnostics diagnostics;
  Result<Program> program = load_program(
      "program test\ndim M = 8, N = 16, K = 32, G = 4\ninput x : f32[M,K]\ninput w : f32[G,N,K]\ninput e : i64[M]\n"
      "output y : f32[M,N]\n" +
          equation,
      "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  return program.ok() ? std::move(program).value() : Program{};
}

TEST(Contraction, RolesFollowFromTheOperands) {
  EXPECT_EQ(role_of(true, true, true), Role::kK);
  EXPECT_EQ(role_of(true, true, false), Role::kReduced);
  EXPECT_EQ(role_of(false, true, true), Role::kBatch);
  EXPECT_EQ(role_of(false, true, false), Role::kM);
  EXPECT_EQ(role_of(false, false, true), Role::kN);
  EXPECT_EQ(role_of(false, false, false), Role::kAbsent);
}

TEST(Contraction, SharedSumsAreOne) {
  const Program program = with("y[m,n] = gelu(sum[k](x[m,k] * w[0,n,k]))\n");
  ASSERT_EQ(product_sums(program.equations[0]).size(), 1U);
  EXPECT_TRUE(product_sums(program.equations[0])[0].is_of_reads());
  EXPECT_TRUE(has_contraction(program.equations[0]));
}

TEST(Contraction, NormsAreNone) {
  const Program program = with("y[m,n] = sum[k](x[m,k] * x[m,k]) + 0 * n\n");
  EXPECT_EQ(product_sums(program.equations[0]).size(), 1U);
  EXPECT_FALSE(has_contraction(program.equations[0]));
}

// The expert of a row chooses a matrix: N and K address w, the row does through e alone.
TEST(Contraction, GathersAreNoAddress) {
  const Program program = with("y[m,n] = sum[k](x[m,k] * w[e[m],n,k])\n");
  const auto sums = product_sums(program.equations[0]);
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(indices_of(sums[0].b()).size(), 3U);
  EXPECT_EQ(direct_indices(sums[0].b()).size(), 2U);
  EXPECT_TRUE(is_contraction({indices_of(sums[0].a()), direct_indices(sums[0].a())},
                             {indices_of(sums[0].b()), direct_indices(sums[0].b())}));
  const Access access(*sums[0].b());
  ASSERT_EQ(access.at.size(), 3U);
  EXPECT_FALSE(access.at[0]);
  EXPECT_TRUE(access.at[1]);
}

}  // namespace
}  // namespace solstice::ir
