// Grouped products without a GPU: what is recognised, what is refused and why, and what is emitted.
#include "families/gemm/grouped/grouped.h"

#include <gtest/gtest.h>

#include "families/gemm/problem.h"
#include "ir/bind.h"
#include "machine/machine.h"
#include "unit/families/h200.h"

namespace solstice::families {
namespace {

ir::Program grouped_program(const std::string& text) {
  Diagnostics diagnostics;
  auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? *std::move(program) : ir::Program{};
}

constexpr const char* kHead = R"(program grouped
dim R = 1000, N = 512, K = 256, E = 16, S = 2, T = 500
input x : bf16[R, K]
input t : bf16[T, K]
input d : bf16[R, N]
input f : f32[R, K]
input e : i32[R]
input p : i64[R]
input u : bf16[R, 12]
param w : bf16[E, N, K]
param v : bf16[E, K, N]
param q : f32[E, N, K]
param z : bf16[E, N, 12]
param c : f32[E, N]
output y : bf16[R, N]
)";
constexpr const char* kGradient = R"(program gradient
dim R = 1000, N = 512, K = 256, E = 16, S = 2, T = 500
input x : bf16[R, K]
input t : bf16[T, K]
input d : bf16[R, N]
input e : i32[R]
input p : i64[R]
output g : bf16[E, N, K]
)";

// `equation` in a kernel of the family with these knobs.
ir::Program forward(const std::string& equation, const std::string& knobs = "") {
  return grouped_program(std::string(kHead) + "kernel up by gemm(" + knobs + ") {\n" + equation + "\n}\n");
}
ir::Program gradient(const std::string& equation, const std::string& knobs = "") {
  return grouped_program(std::string(kGradient) + "kernel down by gemm(" + knobs + ") {\n" + equation + "\n}\n");
}

gemm::Problem problem_of(const ir::Program& program) {
  auto problem = gemm::make_problem(program, program.kernels.front());
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  return problem.ok() ? *std::move(problem) : gemm::Problem{};
}
std::string refusal_of(const ir::Program& program) {
  return find_family("gemm")->match(program, program.kernels.front()).reason;
}

std::string diagnostic_of(const ir::Program& program) {
  const Context context{program, h200()};
  Diagnostics diagnostics;
  find_family("gemm")->check(context, program.kernels.front(), diagnostics);
  if (diagnostics.all().empty()) return "";
  const Diagnostic& first = diagnostics.all().front();
  return first.code + ": " + first.message + " | " + first.hint;
}

Emission emitted_grouped(const ir::Program& program) {
  const Context context{program, h200()};
  auto emission = find_family("gemm")->generate(context, program.kernels.front());
  EXPECT_TRUE(emission.ok()) << emission.error().text();
  return emission.ok() ? *std::move(emission) : Emission{};
}

constexpr const char* kPlain = "y[m,n] = sum[k](x[m,k] * w[e[m],n,k])";

TEST(Grouped, RowsChooseTheirMatrix) {
  for (const char* text : {kPlain, "y[m,n] = sum[k](w[e[m],n,k] * x[m,k])"}) {
    const ir::Program program = forward(text);
    const gemm::Contraction c = problem_of(program).product;
    EXPECT_EQ(c.grouping.kind, gemm::Grouped::kRows);
    EXPECT_EQ(c.grouping.groups, 16);
    EXPECT_EQ(program.tensor(c.a.tensor).name, "x");
    EXPECT_EQ(program.tensor(c.b.tensor).name, "w");
    EXPECT_EQ(c.b.batch, 512 * 256);
    EXPECT_EQ(c.batches, 1);
    EXPECT_EQ(c.m, 1000);
    EXPECT_EQ(c.n, 512);
    EXPECT_EQ(c.k, 256);
    EXPECT_FALSE(c.grouping.a.at);
  }
}

TEST(Grouped, OneRowMayLieAnywhere) {
  const ir::Program program = grouped_program(R"(program one
input x : bf16[192, 64]
input e : i32[1]
input p : i32[1]
param w : bf16[8, 128, 64]
output y : f32[1, 128]
kernel up by gemm() {
  y[m,n] = sum[k](x[p[m],k] * w[e[m],n,k])
}
)");
  EXPECT_TRUE(problem_of(program).product.grouping.a.at);
  EXPECT_EQ(refusal_of(forward("y[m,n] = sum[k](x[p[0],k] * w[e[m],n,k])")),
            "`x` is read at `p[0]`, which is not linear");
}

TEST(Grouped, IsASortAndAProduct) {
  const Emission emission =
      emitted_grouped(forward("y[m,n] = silu(sum[k](x[m,k] * w[e[m],n,k]) + c[e[m],n])", "tile=128x256"));
  ASSERT_EQ(emission.steps.size(), 2u);
  const Step &sort = emission.steps[0], &product = emission.steps[1];
  EXPECT_EQ(sort.name, "up-sort");
  EXPECT_EQ(sort.grid[0], 1);
  EXPECT_EQ(product.name, "up");
  EXPECT_TRUE(product.pdl);
  ASSERT_EQ(emission.workspace.size(), 2u);
  EXPECT_EQ(emission.workspace[0].bytes, 4 * (16 + 4 + 2 * 132 + 1000));
  EXPECT_EQ(emission.workspace[1].bytes, 4 * 132 * 128 * 256);
  EXPECT_EQ(product.arguments[2].map.box, (std::vector<int64_t>{64, 16, 1}));
  EXPECT_EQ(product.arguments[1].map.extents, (std::vector<int64_t>{256, 512, 16}));
  EXPECT_LE(product.shared_bytes, static_cast<int64_t>(h200().shared_per_block.value));
  EXPECT_NE(emission.sources[1].code.find("gemm::Ragged::kRows, mma::Major::kK, 256, 4, "), std::string::npos)
      << emission.sources[1].code;
}

TEST(Grouped, MatricesMayLieEitherWay) {
  const Emission emission = emitted_grouped(forward("y[m,n] = sum[k](x[m,k] * v[e[m],k,n])"));
  EXPECT_NE(emission.sources[1].code.find("gemm::Ragged::kRows, mma::Major::kMN"), std::string::npos)
      << emission.sources[1].code;
  EXPECT_EQ(emission.steps[1].arguments[1].map.extents, (std::vector<int64_t>{512, 256, 16}));
}

TEST(Grouped, RowsOfAnOperandMayBeGathered) {
  const ir::Program program = forward("y[j,n] = sum[k](t[p[j]//S,k] * w[e[p[j]],n,k])");
  const gemm::Contraction c = problem_of(program).product;
  ASSERT_TRUE(c.grouping.a.at);
  EXPECT_EQ(c.grouping.a.rows, 500);
  EXPECT_EQ(c.a.line, 256);
  const Emission emission = emitted_grouped(program);
  EXPECT_EQ(emission.workspace[0].bytes, 4 * (16 + 4 + 2 * 132 + 2 * 1000));
  EXPECT_EQ(emission.steps[0].arguments.size(), 3u);  // p, e, the table
  EXPECT_NE(emission.sources[0].code.find("kSources = 1"), std::string::npos) << emission.sources[0].code;
  EXPECT_EQ(emission.steps[1].arguments[0].map.extents[1], 500);
}

TEST(Grouped, TheGradientSumsOverRowsOfAGroup) {
  for (const char* text :
       {"g[i,n,k] = sum[m where e[m] == i](d[m,n] * x[m,k])", "g[i,n,k] = sum[m where i == e[m]](x[m,k] * d[m,n])"}) {
    const ir::Program program = gradient(text);
    const gemm::Contraction c = problem_of(program).product;
    EXPECT_EQ(c.grouping.kind, gemm::Grouped::kK);
    EXPECT_EQ(program.tensor(c.a.tensor).name, "d");
    EXPECT_EQ(c.batches, 16);
    EXPECT_EQ(c.k, 1000);
    EXPECT_EQ(c.m, 512);
    EXPECT_EQ(c.n, 256);
    const Emission emission = emitted_grouped(program);
    EXPECT_NE(emission.sources[1].code.find("gemm::Ragged::kK, mma::Major::kMN"), std::string::npos)
        << emission.sources[1].code;
    EXPECT_EQ(emission.steps[1].arguments[0].map.box[1], 64);
    EXPECT_EQ(emission.workspace.size(), 1u);
  }
  const gemm::Contraction c =
      problem_of(gradient("g[i,n,k] = sum[j where e[p[j]] == i](d[j,n] * t[p[j]//S,k])")).product;
  EXPECT_FALSE(c.grouping.a.at);
  EXPECT_EQ(c.grouping.b.rows, 500);
}

TEST(Grouped, SaysWhatItDoesNotTake) {
  const auto refused = [](const std::string& equation, const std::string& knobs = "") {
    return refusal_of(forward(equation, knobs));
  };
  EXPECT_NE(refused("y[m,n] = sum[k](f[m,k] * q[e[m],n,k])").find("operands are f32 and f32"), std::string::npos);
  EXPECT_NE(refused("y[m,n] = sum[k](u[m,k] * z[e[m],n,k])").find("lines of operand `u` are not 16-byte aligned"),
            std::string::npos);
  EXPECT_NE(refused(kPlain, "grouped=false").find("`grouped=false`"), std::string::npos);
  EXPECT_NE(refused("y[m,n] = sum[k](x[m,k] * w[0,n,k])", "grouped=true").find("no row chooses a matrix"),
            std::string::npos);
  EXPECT_NE(refused("y[m,n] = sum[k](t[p[m],k] * w[0,n,k])").find("is read at `p[m]`, which is not linear"),
            std::string::npos);
}

TEST(Grouped, LegalityNamesTheNearestValue) {
  EXPECT_EQ(diagnostic_of(forward(kPlain, "grouped=true, math=bf16, tile=128x128x64")), "");
  EXPECT_NE(diagnostic_of(forward(kPlain, "tile=64x64"))
                .find("E111: no grouped kernel for `tile=64x64`; legal: 128x256, 128x128"),
            std::string::npos)
      << diagnostic_of(forward(kPlain, "tile=64x64"));
  EXPECT_NE(diagnostic_of(forward(kPlain, "math=simt")).find("E110: `math=simt`: grouped products multiply"),
            std::string::npos)
      << diagnostic_of(forward(kPlain, "math=simt"));
  EXPECT_NE(diagnostic_of(forward(kPlain, "stream=rows")).find("E117: `stream=rows` of a grouped product"),
            std::string::npos)
      << diagnostic_of(forward(kPlain, "stream=rows"));
  EXPECT_NE(diagnostic_of(forward(kPlain, "tile=128x256, stages=5")).find("E113: shared memory"), std::string::npos)
      << diagnostic_of(forward(kPlain, "tile=128x256, stages=5"));
}

TEST(Grouped, EveryProposalIsLegal) {
  for (ir::Program program : {forward(kPlain), gradient("g[i,n,k] = sum[m where e[m] == i](d[m,n] * x[m,k])")}) {
    const Context context{program, h200()};
    const auto proposals = find_family("gemm")->propose(context, program.kernels.front());
    ASSERT_TRUE(proposals.ok());
    EXPECT_GE(proposals->size(), 3u);
    for (const auto& [knobs, time] : *proposals) {
      program.kernels.front().knobs = knobs;
      EXPECT_EQ(diagnostic_of(program), "") << to_text(knobs);
    }
  }
}

}  // namespace
}  // namespace solstice::families
