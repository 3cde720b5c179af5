// Pairs of programs for tests of the normal form, and interfaces that they share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/equivalence/prove.h"

namespace solstice::ir {

struct Pair {
  const char* name;
  const char* head;  // interface
  const char* first;
  const char* second;
};

inline void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

inline Result<Program> load_half(const Pair& pair, const char* equations) {
  Diagnostics diagnostics;
  auto program = load_program("program p\n" + std::string(pair.head) + "\n" + equations, pair.name, diagnostics);
  EXPECT_TRUE(program.ok()) << pair.name << "\n" << (program.ok() ? "" : program.error().text());
  return program;
}

inline bool pair_is_proved(const Pair& pair) {
  const auto a = load_half(pair, pair.first), b = load_half(pair, pair.second);
  if (!a.ok() || !b.ok()) return false;
  const auto left = obligations(*a, *b);
  return left && left->empty();
}

// Both finite and near, or neither finite.
inline bool pair_is_near(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return !std::isfinite(x) && !std::isfinite(y);
  return std::abs(x - y) <= 1e-7 * (1 + std::abs(x));
}

// The claim of the normal form, held against the interpreter.
inline void expect_same_values(const Pair& pair, int family) {
  const auto a = load_half(pair, pair.first), b = load_half(pair, pair.second);
  ASSERT_TRUE(a.ok() && b.ok());
  const TensorValues inputs = random_inputs(*a, family, 7);
  const auto x = interpret(*a, inputs), y = interpret(*b, inputs);
  ASSERT_EQ(x.ok(), y.ok()) << (x.ok() ? y.error().text() : x.error().text());
  if (!x.ok()) return;  // both stop
  for (const auto& [name, value] : *x) {
    const std::vector<double>& other = y->at(name).values;
    ASSERT_EQ(value.values.size(), other.size());
    for (size_t i = 0; i < other.size(); ++i) {
      ASSERT_TRUE(pair_is_near(value.values[i], other[i]))
          << name << " element " << i << ": " << value.values[i] << " and " << other[i]
          << ", inputs: " << input_family_name(family);
    }
  }
}

const char* const kPairMatrix =
    "dim M = 64, N = 96, K = 128\ninput x : f32[M, K]\nparam w : f32[N, K]\nparam b : f32[N]\noutput y : f32[M, N]";
const char* const kPairRow = "dim M = 32, N = 100\ninput x : f32[M, N]\ninput z : f32[M, N]\noutput y : f32[M, N]";
const char* const kPairReduced = "dim M = 32, N = 100\ninput x : f32[M, N]\ninput z : f32[M, N]\noutput y : f32[M]";
const char* const kPairConv =
    "dim B = 2, C = 8, K = 6, H = 20\ninput x : f32[B, C, H]\nparam w : f32[K, C, 3]\noutput y : f32[B, K, H]";
const char* const kPairTransposed =
    "dim B = 2, C = 8, K = 6, H = 20\ninput x : f32[B, C, H]\nparam w : f32[C, K, 3]\noutput y : f32[B, K, 2*H]";
const char* const kPairShape =
    "dim G = 4, D = 6, C = G*D, H = 5\ninput x : f32[C, H]\nparam w : f32[C]\noutput y : f32[C, H]";
const char* const kPairScores =
    "dim T = 16, D = 8\ninput q : f32[T, D]\ninput k : f32[T, D]\ninput v : f32[T, D]\noutput o : f32[T, D]";

const char* const kPairGather =
    "dim J = 8, R = 8\ninput x : f32[R]\ninput z : f32[J, R]\ninput i : i64[J]\ninput m : bool[J]\noutput y : f32[J]";

const char* const kPairFormats =
    "dim N = 8, K = 16\ninput x : bf16[N, K]\ninput w : bf16[N, K]\ninput h : f16[N, K]\ninput s : f32[N, K]\ninput e "
    ": e4m3[N, K]\n"
    "input i : i8[N, K]\noutput y : f32[N]";

}  // namespace solstice::ir
