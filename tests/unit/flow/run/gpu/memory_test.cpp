#include "flow/run/gpu/memory.h"

#include <gtest/gtest.h>

#include "ir/bind.h"

namespace solstice::flow {
namespace {

MemoryNeed need_of(const std::string& text) {
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(text, "test", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? memory_need(*program) : MemoryNeed{};
}

TEST(Memory, CountsWhatBothSidesHold) {
  const MemoryNeed need = need_of(
      "program p\ndim M = 1024, N = 256\nparam w : f32[N]\ninput x : f32[M, N]\noutput y : f16[M, N]\n"
      "y[m,n] = x[m,n] * w[n]\n");
  EXPECT_DOUBLE_EQ(need.given.value, 4.0 * 256 * 1025);
  EXPECT_DOUBLE_EQ(need.results.value, 2.0 * 1024 * 256);
  EXPECT_DOUBLE_EQ(need.oracle.value, 8.0 * 256 * 1025);
  EXPECT_TRUE(fits(need, Bytes(1e9)).ok());
  EXPECT_DOUBLE_EQ(need.another_case().value, (4.0 + 2.0 + 8.0) * 1024 * 256);  // w is shared
  EXPECT_TRUE(fits_another_case(need, Bytes(1e9)));
  EXPECT_FALSE(fits_another_case(need, need.another_case() * 3));
}

TEST(Memory, AShapeThatNoGpuHoldsIsRefusedBeforeAnythingIsAllocated) {
  const MemoryNeed need = need_of(
      "program p\ndim M = 262144, N = 262144\ninput x : f32[M, N]\noutput y : f32[M, N]\ny[m,n] = x[m,n] + 1\n");
  const Status refused = fits(need, Bytes(150e9));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::too_large);
  EXPECT_NE(refused.error().message.find("1536.00 GiB of GPU memory and 139.70 GiB are free"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().hint.find("use smaller sizes"), std::string::npos);
}

TEST(Memory, TheModelDeviceRefusesWhatItsMachineCannotHold) {
  const char* text =
      "program p\ndim M = 262144, N = 262144\ninput x : f32[M, N]\noutput y : f32[M, N]\ny[m,n] = x[m,n] + 1\n";
  const machine::Machine h200 = std::move(machine::load_machine("h200")).value();
  const Status refused = fits(need_of(text), h200);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::too_large);
  EXPECT_NE(refused.error().message.find("1536.00 GiB of GPU memory and h200 has"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().sentence().find("--machine"), std::string::npos);
  EXPECT_EQ(refused.error().sentence().find("--device model"), std::string::npos);
}

}  // namespace
}  // namespace solstice::flow
