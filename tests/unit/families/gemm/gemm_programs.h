// What tests of family gemm share: programs of a product, and what the family makes of them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "families/family.h"
#include "families/gemm/problem.h"
#include "host_kernels/build.h"
#include "ir/bind.h"
#include "unit/families/h200.h"

namespace solstice::families::of_gemm {

using Names = std::vector<std::string>;

// y = gelu(x w^T + b), w as [N,K] or [K,N].
struct Linear {
  testing::ProgramBuilder b{"p"};
  int x, w, bias, y;
  explicit Linear(int64_t M = 1024, int64_t N = 512, int64_t K = 256, bool transposed = false,
                  DType dtype = DType::kF32) {
    using namespace testing;
    x = b.input("x", {M, K}, dtype);
    w = b.tensor("w", ir::TensorKind::kParam, transposed ? std::vector<int64_t>{K, N} : std::vector<int64_t>{N, K},
                 dtype);
    bias = b.tensor("b", ir::TensorKind::kParam, {N}, dtype);
    y = b.output("y", {M, N}, dtype);
    b.kernel("up", "gemm");
    const auto m = b.index("m", M), n = b.index("n", N), k = b.bound("k", K);
    const auto weight = transposed ? b.read(w, {k, n}) : b.read(w, {n, k});
    const ir::ExprRef h = ir::make_reduce(ir::Reducer::kSum, {k->id}, b.read(x, {m, k}) * weight) + b.read(bias, {n});
    b.define(y, {m, n}, num(0.5) * h * (num(1.0) + op(ir::Op::kErf, {h * num(0.7071067811865476)})));
  }
  ir::Kernel& kernel() { return b.program.kernels.front(); }
};

struct Sides {
  int m = 1000, n = 700, k = 256;
};

// A kernel of these equations behind h[m,n] = `product` of x[m,k], w[n,k] and b[n].
inline ir::Program product_program(const std::string& product, const std::string& outputs, const std::string& equations,
                                   const std::string& knobs, Sides s) {
  Diagnostics diagnostics;
  const std::string text = fmt::format(
      "program p\ndim M = {}, N = {}, K = {}\ninput x : f32[M, K]\nparam w : f32[N, K]\nparam b : f32[N]\n{}\n"
      "kernel up by gemm({}) {{\nh[m,n] = {}\n{}\n}}\n",
      s.m, s.n, s.k, outputs, knobs, product, equations);
  auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? *std::move(program) : ir::Program{};
}

// With SOLSTICE_DUMP=DIR the sources are written there too, to be compiled by hand.
inline Emission emission_of(const ir::Program& program, bool frozen = false,
                            const std::string& numerics = "reference") {
  const Context context{program, h200(), numerics, frozen};
  auto emission = find_family("gemm")->generate(context, program.kernels.front());
  EXPECT_TRUE(emission.ok()) << emission.error().text();
  if (!emission.ok()) return {};
  if (const char* folder = std::getenv("SOLSTICE_DUMP")) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    for (const Source& source : emission->sources)
      std::ofstream(std::string(folder) + "/" + test->name() + "_" + source.name + ".cu") << source.code;
  }
  return *std::move(emission);
}

inline gemm::Problem problem_of(const ir::Program& program) {
  auto problem = gemm::make_problem(program, program.kernels.front());
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  return problem.ok() ? *std::move(problem) : gemm::Problem{};
}

inline Diagnostics diagnostics_of(const ir::Program& program, bool frozen = false,
                                  const std::string& numerics = "reference") {
  Diagnostics out;
  find_family("gemm")->check({program, h200(), numerics, frozen}, program.kernels.front(), out);
  return out;
}

inline std::string refusal_of(const ir::Program& program) {
  return find_family("gemm")->match(program, program.kernels.front()).reason;
}

inline Names steps_of(const Emission& emission) {
  Names out;
  for (const Step& step : emission.steps) out.push_back(step.name);
  return out;
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What is said first of the program's knobs; empty where they are legal.
inline std::string first_diagnostic(const ir::Program& program, bool frozen = false,
                                    const std::string& numerics = "reference") {
  const Diagnostics diagnostics = diagnostics_of(program, frozen, numerics);
  if (diagnostics.all().empty()) return "";
  const Diagnostic& d = diagnostics.all().front();
  return d.code + ": " + d.message + " | " + d.hint;
}

}  // namespace solstice::families::of_gemm
