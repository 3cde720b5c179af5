// Family `rows` on programs as people write them: where values are kept, what is refused, rows that are looked at once.
#include <fmt/format.h>

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
    const ir::Program program = load_text(fmt::format(R"(program widened
dim M = 2, N = 20480
input  x : f32[M, N]
output y : f32[M, N]
kernel k by rows(residency=registers, threads=256) {{
  s[m] = sum[n]({0})
  y[m,n] = {0} / s[m]
}})",
                                                      value));
    return !find_family("rows")->generate({program, small_machine()}, program.kernels.front()).ok();
  };
  EXPECT_FALSE(refused("exp(x[m,n])"));
  EXPECT_TRUE(refused("exp(f64(x[m,n]))"));
}

}  // namespace
}  // namespace solstice::families
