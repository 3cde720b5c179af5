// What tests of generated families share.
#pragma once

#include <gtest/gtest.h>

#include "host_kernels/build.h"
#include "host_kernels/host_kernel.h"

namespace solstice::families {

inline machine::Machine small_machine() {
  machine::Machine m;
  m.name = "test";
  m.sm_count = 4;
  m.max_clock = Hertz(1e9);
  m.dram_rate = BytesPerSecond(1e12);
  m.shared_per_block = Bytes(227 * 1024);
  return m;
}

// Generates kernel 0 and runs it on the host.
inline Result<testing::Tensors> run_kernel(const ir::Program& program, const testing::Tensors& values,
                                           const machine::Machine& machine = small_machine()) {
  const ir::Kernel& kernel = program.kernels.front();
  SOLSTICE_TRY(const Emission emission, find_family(kernel.family)->generate({program, machine}, kernel));
  return testing::run_on_host(program, emission, values);
}

// Generates kernel 0, runs it on the host on `values` (random inputs where none are given) and compares all outputs
// with direct evaluation.
inline void expect_same(const ir::Program& program, double tolerance = 2e-6, int64_t integers = 4,
                        testing::Tensors values = {}, const machine::Machine& machine = small_machine()) {
  const ir::Kernel& kernel = program.kernels.front();
  const Family* family = find_family(kernel.family);
  ASSERT_NE(family, nullptr);
  const Match match = family->match(program, kernel);
  ASSERT_TRUE(match.ok) << match.reason;
  const auto emission = family->generate({program, machine}, kernel);
  ASSERT_TRUE(emission.ok()) << emission.error().text();
  if (values.empty()) values = testing::random_inputs(program, 1, 1.0, integers);
  const auto got = testing::run_on_host(program, *emission, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  testing::evaluate(program, values);
  EXPECT_EQ(testing::difference(program, *got, values, tolerance), "") << emission->sources.front().code;
}

}  // namespace solstice::families
