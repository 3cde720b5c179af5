// CUTLASS's legality as data: what its builders would compile and run wrongly is an error, every rule can fire, and
// what is proposed instead is legal.
#include "families/conv/cutlass.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/diagnostic.h"
#include "families/family.h"
#include "families/gemm/cutlass/rules.h"
#include "families/tensor_core/collective_rules.h"
#include "ir/bind.h"

namespace solstice::families {
namespace {

using gemm::CutlassEpilogue;
using gemm::CutlassGemm;
using gemm::CutlassSchedule;
using gemm::CutlassScheduler;
using gemm::Major;
using tensor_core::fitting_stages;

CutlassGemm halves() {
  CutlassGemm c;
  c.a = c.b = c.result = DType::kBF16;
  return c;
}

std::string broken(const CutlassGemm& c) {
  const auto* rule = first_broken(gemm::cutlass_rules(), c);
  return rule ? std::string(rule->id) : "";
}

TEST(Cutlass, KnownKernelsAreLegal) {
  CutlassGemm c = halves();
  EXPECT_EQ(broken(c), "");
  EXPECT_EQ(fitting_stages(c), 6);
  c.tile_n = 256;
  c.cluster_m = 2;
  EXPECT_EQ(broken(c), "");
  EXPECT_EQ(fitting_stages(c), 4);
  c.tile_m = 256, c.tile_n = 128;
  EXPECT_EQ(broken(c), "");
  c.tile_m = 64, c.schedule = CutlassSchedule::kPingpong, c.epilogue = CutlassEpilogue::kTma;
  EXPECT_EQ(broken(c), "");
  CutlassGemm tf32;
  tf32.tile_k = 32;
  EXPECT_EQ(broken(tf32), "");
}

// "Compiles" never means "gives right results": each of these compiles.
TEST(Cutlass, WhatCompilesAndIsWrongIsAnError) {
  CutlassGemm c = halves();
  c.schedule = CutlassSchedule::kPingpong;
  EXPECT_EQ(broken(c), "schedule.epilogue");
  c = halves();
  c.cluster_k = 2;
  EXPECT_EQ(broken(c), "cluster.depth");
  c = halves();
  c.tile_m = c.tile_n = 256;
  EXPECT_EQ(broken(c), "tile.registers");
  c = halves();
  c.stages = 7;
  EXPECT_EQ(broken(c), "stages.fit");
  CutlassGemm swapped;
  swapped.tile_k = 32;
  swapped.major_b = Major::kMN;
  EXPECT_EQ(broken(swapped), "schedule.swapped");
  CutlassGemm fp8;
  fp8.a = fp8.b = DType::kE4M3, fp8.result = DType::kBF16;
  fp8.major_b = Major::kMN;
  EXPECT_EQ(broken(fp8), "layout.8bit");
  fp8.major_b = Major::kK;
  fp8.tile_k = 128;
  fp8.tile_n = 256;
  EXPECT_EQ(broken(fp8), "tile.registers") << "a second accumulator";
  fp8.fast_accumulation = true;
  EXPECT_EQ(broken(fp8), "");
  c = halves();
  c.schedule = CutlassSchedule::kPingpong, c.epilogue = CutlassEpilogue::kTma, c.scheduler = CutlassScheduler::kStreamK;
  EXPECT_EQ(broken(c), "schedule.stream_k");
}

TEST(Cutlass, TheNearestIsNamed) {
  CutlassGemm c = halves();
  c.tile_m = 192, c.cluster_m = 3;
  const auto legal = nearest_legal(gemm::cutlass_rules(), c);
  ASSERT_TRUE(legal);
  EXPECT_EQ(knobs_changed(c, *legal), "`tile=128x128x64, cluster=2x1`");
  c = halves();
  c.tile_n = 4, c.epilogue = CutlassEpilogue::kNoSmem;
  EXPECT_EQ(knobs_changed(c, *nearest_legal(gemm::cutlass_rules(), c)), "`tile=128x8x64`");
}

template <class T>
T one_of(std::mt19937_64& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

CutlassGemm drawn(std::mt19937_64& random) {
  CutlassGemm c;
  const auto type = [&] {
    return one_of(random, {DType::kBF16, DType::kBF16, DType::kF16, DType::kF16, DType::kF32, DType::kF32, DType::kE4M3,
                           DType::kE5M2, DType::kI8, DType::kF64});
  };
  c.a = type();
  c.b = random() % 8 ? c.a : type();
  c.result = one_of(random, {DType::kF32, DType::kBF16, DType::kE4M3});
  c.accumulator = one_of(random, {DType::kF32, DType::kF32, DType::kF16, DType::kI32});
  c.major_a = one_of(random, {Major::kK, Major::kK, Major::kMN, Major::kNone}),
  c.major_b = one_of(random, {Major::kK, Major::kK, Major::kMN});
  c.m = one_of<int64_t>(random, {0, 64, 4096}), c.n = one_of<int64_t>(random, {0, 64, 4096});
  c.align_a = one_of<int64_t>(random, {16, 16, 16, 8, 4, 2}), c.align_b = one_of<int64_t>(random, {16, 16, 4});
  c.align_result = one_of<int64_t>(random, {16, 16, 4});
  c.residuals = static_cast<int>(random() % 6), c.fused = random() % 4 == 0, c.grouped = random() % 8 == 0;
  c.tile_m = one_of(random, {64, 128, 192, 256, 100, 512}), c.tile_n = one_of(random, {8, 24, 12, 64, 128, 160, 256}),
  c.tile_k = one_of(random, {8, 16, 32, 64, 128, 256, 20});
  c.cluster_m = one_of(random, {1, 1, 2, 3, 4, 16}), c.cluster_n = one_of(random, {1, 1, 2, 8}),
  c.cluster_k = one_of(random, {1, 1, 1, 2});
  c.stages = static_cast<int>(random() % 10);
  c.schedule = static_cast<CutlassSchedule>(random() % 7), c.epilogue = static_cast<CutlassEpilogue>(random() % 3);
  c.scheduler = static_cast<CutlassScheduler>(random() % 3), c.split = one_of(random, {1, 1, 4});
  c.fast_accumulation = random() % 2 == 0;
  return c;
}

TEST(Cutlass, EveryRuleCanFireAndWhatIsProposedIsLegal) {
  std::mt19937_64 random(3);
  std::set<std::string_view> fired, ids;
  int mended = 0;
  for (int i = 0; i < 200'000; ++i) {
    const CutlassGemm c = drawn(random);
    if (const auto* rule = first_broken(gemm::cutlass_rules(), c)) {
      fired.insert(rule->id);
      EXPECT_FALSE(rule->reason(c).empty());
    }
    if (i % 100) continue;
    const auto legal = nearest_legal(gemm::cutlass_rules(), c);
    mended += legal.has_value();
    if (!legal) continue;
    ASSERT_EQ(broken(*legal), "");
    for (const auto& rule : gemm::cutlass_rules()) {
      if (rule.severity == Severity::kWarning && rule.broken(*legal)) fired.insert(rule.id);
    }
  }
  for (const auto& rule : gemm::cutlass_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " twice";
    EXPECT_TRUE(fired.count(rule.id)) << rule.id << " never fired";
  }
  EXPECT_GT(mended, 250);
}

// Where some tile, cluster, schedule and epilogue is legal for a problem, one is found: all of them are tried here.
bool some_are_legal(CutlassGemm c) {
  c.cluster_m = c.cluster_n = c.cluster_k = 1, c.stages = 0, c.split = 1, c.scheduler = CutlassScheduler::kPersistent;
  for (const int m : {64, 128}) {
    for (const int n : {8, 16, 32, 64, 128}) {
      for (const int k : {8, 16, 24, 32, 64, 128}) {
        for (int schedule = 0; schedule < 7; ++schedule) {
          for (int epilogue = 0; epilogue < 3; ++epilogue) {
            c.tile_m = m, c.tile_n = n, c.tile_k = k;
            c.schedule = static_cast<CutlassSchedule>(schedule), c.epilogue = static_cast<CutlassEpilogue>(epilogue);
            if (broken(c).empty()) return true;
          }
        }
      }
    }
  }
  return false;
}

TEST(Cutlass, TheNearestIsFoundWhereverThereIsOne) {
  std::mt19937_64 random(5);
  int problems = 0;
  for (int i = 0; i < 400; ++i) {
    const CutlassGemm c = drawn(random);
    if (!some_are_legal(c)) continue;
    ++problems;
    ASSERT_TRUE(nearest_legal(gemm::cutlass_rules(), c)) << broken(c) << " " << c.knobs()[0].second;
  }
  EXPECT_GT(problems, 50);
}

TEST(Cutlass, Convolutions) {
  std::mt19937_64 random(7);
  std::set<std::string_view> fired;
  for (int i = 0; i < 20'000; ++i) {
    conv::CutlassConv c;
    c.direction = static_cast<conv::Direction>(random() % 3),
    c.generation = static_cast<conv::Generation>(random() % 2);
    c.dtype = one_of(random, {DType::kF16, DType::kF16, DType::kF32, DType::kI8, DType::kE4M3});
    c.rank = one_of(random, {1, 2, 3});
    c.groups = one_of<int64_t>(random, {1, 1, 1, 8}), c.channels = one_of<int64_t>(random, {64, 64, 3});
    c.stride = one_of<int64_t>(random, {1, 2}), c.dilation = one_of<int64_t>(random, {1, 2}),
    c.pad = one_of<int64_t>(random, {0, 20, 300});
    c.largest_bytes = one_of<int64_t>(random, {0, int64_t{1} << 32});
    c.tile_m = one_of(random, {64, 128, 100, 256}), c.tile_n = one_of(random, {64, 128, 256, 20}),
    c.cluster_m = one_of(random, {1, 2, 3});
    c.tile_k = one_of(random, {16, 64, 256, 8}), c.stages = one_of(random, {0, 0, 1, 2, 12});
    c.cluster_n = one_of(random, {1, 1, 16}), c.cluster_k = one_of(random, {1, 1, 2});
    if (const auto* rule = first_broken(conv::cutlass_rules(), c)) fired.insert(rule->id);
    if (i % 20) continue;
    const auto legal = nearest_legal(conv::cutlass_rules(), c);
    if (legal) {
      ASSERT_EQ(first_broken(conv::cutlass_rules(), *legal), nullptr);
      for (const auto& rule : conv::cutlass_rules()) {
        if (rule.severity == Severity::kWarning && rule.broken(*legal)) fired.insert(rule.id);
      }
    }
  }
  EXPECT_EQ(fired.size(), conv::cutlass_rules().size());
}

// What `check` says of a program with one kernel.
std::string said(const std::string& declarations, const std::string& kernel) {
  const std::string text = "program p\n" + declarations + "\n" + kernel + "\n";
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "p.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "p.ucut");
  if (!program.ok()) return "";
  const machine::Machine machine;
  const ir::Kernel& k = program->kernels.front();
  find_family(k.family)->check({*program, machine}, k, diagnostics);
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += d.message + "; " + d.hint + "\n";
  return out;
}

TEST(Cutlass, ProblemsAreReadOffTheEquations) {
  const auto product = [](const char* type, const char* knobs, const char* result) {
    return said(fmt::format("dim M = 1024, N = 1024, K = 1024\ninput x : {0}[M,K]\ninput w : {0}[N,K]\ninput r : "
                            "f32[M,N]\noutput y : f32[M,N]",
                            type),
                fmt::format("kernel k by gemm(backend=cutlass, {}) {{ y[m,n] = {} }}", knobs, result));
  };
  const char* plain = "sum[k](x[m,k]*w[n,k])";
  EXPECT_EQ(product("bf16", "tile=128x128x64", plain), "");
  EXPECT_NE(product("e4m3", "tile=100x128x128", plain).find("100 rows"), std::string::npos);
  EXPECT_EQ(product("e4m3", "tile=128x128x128", plain), "");
  EXPECT_EQ(product("bf16", "tile=128x128x64, stages=5", plain), "");
  EXPECT_NE(product("bf16", "tile=128x128x64, stages=6", "sum[k](x[m,k]*w[n,k]) + r[m,n]").find("`stages=6`"),
            std::string::npos)
      << "C takes shared memory";
  EXPECT_EQ(product("bf16", "epilogue=no_smem", "2 * sum[k](x[m,k]*w[n,k]) + r[m,n]"), "") << "alpha and beta";
  EXPECT_NE(product("bf16", "epilogue=no_smem", "relu(sum[k](x[m,k]*w[n,k]))").find("beyond alpha"), std::string::npos);
  EXPECT_NE(product("bf16", "schedule=tma, epilogue=tma, tile=64x128x64", plain).find("not a legal pair"),
            std::string::npos);
  EXPECT_NE(product("bf16", "split=0", plain).find("`split=0"), std::string::npos);
  EXPECT_NE(said("dim M = 1024\ninput x : bf16[M,M]\ninput w : bf16[M,M]\noutput y : bf16[M,M] strides(1028, 1)",
                 "kernel k by gemm(backend=cutlass) { y[m,n] = sum[k](x[m,k]*w[n,k]) }")
                .find("aligned to 8 bytes"),
            std::string::npos);
}

TEST(Cutlass, ConvolutionsAreReadOffTheEquations) {
  const std::string declared = "dim B = 8, H = 32\ninput x : bf16[B,64,H,H]\nparam w : bf16[64,64,3,3] \"w\"\n";
  const auto of = [&](const char* result, const char* sum) {
    return said(declared + result, fmt::format("kernel k by conv(backend=cutlass, tile=128x128x64) {{ {} }}", sum));
  };
  EXPECT_EQ(of("output y : bf16[B,64,H,H]", "y[n,k,p,q] = sum[c,r,s](x[n,c,p+r-1,q+s-1 else 0] * w[k,c,r,s])"), "");
  EXPECT_NE(
      of("output y : bf16[B,64,2*H,2*H]",
         "y[n,k,u,v] = sum[c,i,j,r,s where u == 2*i+r-1 and v == 2*j+s-1](x[n,c,i,j] * w[c,k,r,s]) for u<2*H, v<2*H")
          .find("stride 2"),
      std::string::npos);
  const std::string forward = "y[n,k,p,q] = sum[c,r,s](x[n,c,p+r-1,q+s-1 else 0] * w[k,c,r,s])";
  const auto staged = [&](int stages, const std::string& what) {
    return said(declared + "input z : bf16[B,64,H,H]\noutput y : bf16[B,64,H,H]",
                fmt::format("kernel k by conv(backend=cutlass, tile=128x128x64, stages={}) {{ {} }}", stages, what));
  };
  EXPECT_EQ(staged(6, forward), "");
  EXPECT_NE(staged(7, forward).find("closest: `stages=6`"), std::string::npos) << "compiles and fails at launch";
  EXPECT_NE(staged(1, forward).find("`tile=128x128x64, stages=1`"), std::string::npos);
  EXPECT_NE(staged(-3, forward).find("stages=-3"), std::string::npos);
  const std::string fused =
      "t[n,k,p,q] = sum[c,r,s](x[n,c,p+r-1,q+s-1 else 0] * w[k,c,r,s]) for p<H, q<H y[n,k,p,q] = relu(t[n,k,p,q] + "
      "z[n,k,p,q])";
  EXPECT_NE(staged(7, fused).find("more than"), std::string::npos);
  const auto lean = [&](const char* knobs) {
    return said(declared + "output y : bf16[B,64,H,H]", fmt::format("kernel k by conv({}) {{ {} }}", knobs, forward));
  };
  EXPECT_NE(lean("stages=99").find("closest: `stages=8`"), std::string::npos);
  EXPECT_NE(lean("cluster=4x1").find("closest: `cluster=2x1`"), std::string::npos);
  EXPECT_EQ(lean("backend=cutlass, cluster=4x1"), "") << "CUTLASS's have up to 8 blocks";
  const std::string depthwise =
      said("dim B = 8, H = 32\ninput x : bf16[B,64,H,H]\nparam w : bf16[64,1,3,3] \"w\"\noutput y : bf16[B,64,H,H]",
           "kernel k by conv(backend=cutlass) { y[n,c,p,q] = sum[r,s](x[n,c,p+r-1,q+s-1 else 0] * w[c,0,r,s]) }");
  EXPECT_NE(depthwise.find("64 groups"), std::string::npos) << depthwise;
}

}  // namespace
}  // namespace solstice::families
