// Family `rows` on programs as people write them: storage of values between passes, refusals, loads ahead.
#include <fmt/format.h>

#include "unit/families/rows/refusal.h"
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

// Values of 4 and of 8 bytes that are kept one after the other: none takes the place of one with another stride.
TEST(RowsPrograms, KeptInSharedMemoryWithDifferentTypes) {
  expect_text(R"(program mixed
dim M = 2, N = 2000
input  x : f64[M, N]
input  w : f32[M, N]
output y : f32[M, N]
kernel k by rows(residency=shared, threads=256) {
  mx[m] = max[n](x[m,n])
  s[m] = sum[n](exp(w[m,n]) * (x[m,n] - mx[m]))
  y[m,n] = exp(w[m,n]) / s[m]
})");
  expect_text(R"(program widened
dim M = 2, N = 2000
input  x : f32[M, N]
output y : f32[M, N]
kernel k by rows(residency=shared, threads=256) {
  s[m] = sum[n](f64(exp(x[m,n])))
  y[m,n] = f64(exp(x[m,n])) / s[m]
})");
}

// 64 f64 values a thread are 512 bytes of registers, as many f32 values half of them.
TEST(RowsPrograms, KeptDoublesTakeTheirRegisters) {
  const auto refused = [](const char* value) {
    return !rows_refusal(load_text(fmt::format(R"(program widened
dim M = 2, N = 20480
input  x : f32[M, N]
output y : f32[M, N]
kernel k by rows(residency=registers, threads=256) {{
  s[m] = sum[n]({0})
  y[m,n] = {0} / s[m]
}})",
                                               value)))
                .empty();
  };
  EXPECT_FALSE(refused("exp(x[m,n])"));
  EXPECT_TRUE(refused("exp(f64(x[m,n]))"));
}

TEST(RowsPrograms, RowsOfABlockAreNotDropped) {
  const auto of = [](const char* knobs, const char* extents) {
    return rows_refusal(
        load_text(fmt::format("program p\ndim {}\ninput x : f32[M, N]\noutput y : f32[M, N]\nkernel k by rows({}) "
                              "{{\ny[m,n] = x[m,n] / sum[n](x[m,n])\n}}\n",
                              extents, knobs)));
  };
  EXPECT_NE(of("rows_per_block=2, cluster=2", "M = 64, N = 4096").find("rows_per_block=2: cluster=2"),
            std::string::npos);
  EXPECT_NE(of("rows_per_block=64, threads=32", "M = 64, N = 4096").find("rows_per_block=64: a block of 32"),
            std::string::npos);
  EXPECT_EQ(of("rows_per_block=2, threads=1024, residency=l2", "M = 64, N = 40960"),
            "");  // an automatic cluster gives way
  const std::string strided =
      rows_refusal(load_text("program p\ndim M = 64, N = 64\ninput x : f32[M, N]\noutput y : f32[N]\nkernel k by "
                             "rows(rows_per_block=2) {\ny[n] = sum[m](x[m,n])\n}\n"));
  EXPECT_NE(strided.find("rows_per_block=2: this kernel assigns"), std::string::npos) << strided;
}

TEST(RowsPrograms, ReadsThatAreStartedAhead) {
  const ir::Program program = load_text(R"(program reads
dim M = 3, N = 64
input  x : f32[M, N]
input  t : i64[M]
input  b : f32[M]
input  f : f32[M]
output y : f32[M]
kernel k by rows() {
  s[m] = sum[n](x[m,n] * f[m])
  y[m] = s[m] + x[m,t[m] else 0] + b[m] + x[m,argmax[n](x[m,n])] + x[m,t[m]+1 else s[m]]
})");
  const auto shape = reduction::shape_of(program, program.kernels.front());
  ASSERT_TRUE(shape.ok()) << shape.error().text();
  const reduction::EarlyReads early = reduction::early_reads_of(*shape);
  const auto names = [&](const std::vector<ir::ExprRef>& reads) {
    std::string out;
    for (const ir::ExprRef& e : reads) out += program.tensor(e->id).name;
    return out;
  };
  EXPECT_EQ(names(early.direct), "ftb");
  EXPECT_EQ(names(early.gathers), "x");
}

}  // namespace
}  // namespace solstice::families
