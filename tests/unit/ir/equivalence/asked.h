// The verdict on a candidate's equations, both given as text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "lang/parse.h"

namespace solstice::ir {

inline Equivalence asked(const std::string& problem, const std::string& candidate,
                         const EquivalenceOptions& options = {}) {
  Diagnostics diagnostics;
  const lang::Program a = lang::parse("program p\n" + problem, diagnostics);
  const lang::Program b = lang::parse("program p\n" + candidate, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, candidate, "candidate");
  EXPECT_TRUE(bind(a, diagnostics).has_value()) << render_text(diagnostics, problem, "problem");
  EXPECT_TRUE(bind(b, diagnostics).has_value()) << render_text(diagnostics, candidate, "candidate");
  return same_meaning(a, b, options);
}

}  // namespace solstice::ir
