// Programs as people write them: text, bound, generated, run on the host.
#pragma once

#include <string>

#include "ir/bind.h"
#include "unit/families/expect.h"

namespace solstice::families {

inline ir::Program load_text(const std::string& text) {
  Diagnostics diagnostics;
  auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? *std::move(program) : ir::Program{};
}

inline void expect_text(const std::string& text, double tolerance = 5e-6, int64_t integers = 4) {
  const ir::Program program = load_text(text);
  if (!program.kernels.empty()) expect_same(program, tolerance, integers);
}

}  // namespace solstice::families
