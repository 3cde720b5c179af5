// Cost models: what they must rank rightly, whatever their constants.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "families/family.h"
#include "families/memory_time.h"
#include "ir/bind.h"

namespace solstice::families {
namespace {

const machine::Machine& modelled() {
  static const machine::Machine machine = *machine::load_machine("h200");
  return machine;
}

Seconds time_of(const std::string& declarations, const std::string& by, const std::string& equations) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(
      fmt::format("program p\n{}\nkernel k by {} {{\n{}\n}}\n", declarations, by, equations), "p.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  if (!program.ok()) return Seconds(0);
  const ir::Kernel& kernel = program->kernels.front();
  const auto cost = find_family(kernel.family)->cost({*program, modelled()}, kernel);
  EXPECT_TRUE(cost.ok()) << cost.error().text();
  return cost.ok() ? cost->time : Seconds(0);
}

TEST(Cost, ReadsAndWritesShareTheMemory) {
  const Bytes gigabyte(1e9);
  const Seconds read = *dram_time(modelled(), {gigabyte, Bytes(0)}),
                copied = *dram_time(modelled(), {gigabyte, gigabyte});
  EXPECT_GT(copied, read * 1.9);
  EXPECT_NEAR((gigabyte * 2 / copied).value, modelled().copy_ceiling().per_second, 1e10);
  // What ran before leaves lines in L2 that reading alone must push out.
  EXPECT_LT((gigabyte / read).value, modelled().read_ceiling().per_second);
}

TEST(Cost, FewLoadsInFlightDrawLittle) {
  const Seconds alone = flow_time(modelled(), Bytes(1e6), 1, Bytes(16384), Seconds(1e-6));
  EXPECT_NEAR((flow_time(modelled(), Bytes(1e6), 4, Bytes(16384), Seconds(1e-6)) / alone), 0.25, 1e-9);
  EXPECT_LT((Bytes(1e6) / flow_time(modelled(), Bytes(1e6), 1, Bytes(1e9), Seconds(1e-6))).value,
            64 * 1.98e9);  // the port
}

TEST(Cost, AnUnalignedMapNeedsSeveralLoadsAThread) {
  const std::string rows = "dim M = 65536, N = 1023\nparam w : f32[N] \"w\"\ninput x : f32[M, N]\noutput y : f32[M, N]";
  const std::string equations = "y[m,n] = x[m,n] * w[n]";
  EXPECT_GT(time_of(rows, "map(threads=128, unroll=1)", equations),
            time_of(rows, "map(threads=256, unroll=4)", equations) * 1.5);
  EXPECT_LT(time_of(rows, "map()", equations), time_of(rows, "map(threads=256, unroll=1)", equations));
}

TEST(Cost, FewLongReductionsAreNotForMap) {
  const std::string rows = "dim M = 128, N = 1024\ninput x : f32[M, N]\noutput s : f32[M]";
  EXPECT_GT(time_of(rows, "map()", "s[m] = sum[n](x[m,n])"), time_of(rows, "rows()", "s[m] = sum[n](x[m,n])") * 10);
}

TEST(Cost, AWindowReadsWholeSectors) {
  const std::string image = "dim N = 64, H = 112\ninput x : f32[N, 2*H, 2*H]\noutput y : f32[N, H, H]";
  const Seconds dense = time_of(image, "map()", "y[n,p,q] = max[i<2,j<2](x[n,2*p+i,2*q+j])");
  const Seconds sparse = time_of(image, "map()", "y[n,p,q] = x[n,2*p,2*q]");
  EXPECT_LT(dense, sparse * 4);  // four times the elements, of the same sectors
}

// Where blocks of 128 rows fill the SMs, they multiply as fast as tiles do that leave no rows together.
TEST(Cost, WholeRowsInFp32TakeAsLongAsTheirTiles) {
  for (const int rows : {132 * 128, 264 * 128}) {
    const std::string shapes = fmt::format(
        "dim M = {}, N = 512, K = 512\ninput x : f32[M, K]\ninput w : f32[N, K]\noutput y : f32[M, N]", rows);
    const std::string product = "h[m,n] = sum[k](x[m,k] * w[n,k])\n", by = "gemm(math=simt, stream=none, tile=128x128)";
    const Seconds tiles = time_of(shapes, by, product + "y[m,n] = h[m,n] * 2");
    const Seconds lines = time_of(shapes, by, product + "y[m,n] = h[m,n] / sum[j](h[m,j])");
    EXPECT_GT(lines, tiles * 0.9) << rows;
    EXPECT_LT(lines, tiles * 1.5) << rows;
  }
}

}  // namespace
}  // namespace solstice::families
