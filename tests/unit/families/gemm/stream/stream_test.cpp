// Products that stream an operand: what is emitted, and what fits.
#include "families/gemm/stream/stream.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/families/gemm/gemm_programs.h"

namespace solstice::families::of_gemm {
namespace {

using namespace ir;

TEST(GemmStream, FewRowsStreamTheWeight) {
  Linear linear(16, 4096, 4096);
  const Emission emission = emission_of(linear.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-finish"}));
  const Step& product = emission.steps[1];
  EXPECT_TRUE(product.pdl);
  EXPECT_EQ(product.arguments[0].map.buffer, "up-planes_a");
  EXPECT_EQ(product.arguments[1].buffer, "w");
  EXPECT_LE(product.shared_bytes, static_cast<int64_t>(h200().shared_per_block.value));
  EXPECT_NE(emission.sources[1].code.find(
                "gemm::StreamConfig<mainloop::Bf16x6Lifted, gemm::StreamsB, mma::Major::kK, 4, mma::Major::kK"),
            std::string::npos)
      << emission.sources[1].code;
  EXPECT_NE(emission.sources[2].code.find("gemm::run_finish<"), std::string::npos) << emission.sources[2].code;
  for (const PlanBuffer& buffer : emission.workspace) EXPECT_NE(buffer.name, "up-planes_b");
}

TEST(GemmStream, FewRowsOf16BitsTakeOneLaunch) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const bool transposed : {false, true}) {
      Linear linear(9, 4096, 4096, transposed, dtype);
      const Emission emission = emission_of(linear.b.program);
      ASSERT_EQ(steps_of(emission), (Names{"up"}));
      EXPECT_EQ(emission.steps[0].grid[0] / emission.steps[0].cluster[0], 4096 / (transposed ? 64 : 32));
      EXPECT_EQ(emission.steps[0].block[0], 512);
      const std::string config = std::string("gemm::GemvMmaConfig<gemm::StreamsB, ") +
                                 (dtype == DType::kF16 ? "Half" : "BFloat") + ", mma::Major::";
      EXPECT_NE(emission.sources[0].code.find(config + (transposed ? "kMN, 8, 9, " : "kK, 8, 9, ")), std::string::npos)
          << emission.sources[0].code;
    }
  }
}

// 4100 elements are not whole vectors of 16 bytes.
TEST(GemmStream, What16BitsNeedToBeStreamed) {
  const auto complaint = [](int64_t rows, int64_t k) {
    Linear linear(rows, 4096, k, false, DType::kBF16);
    linear.kernel().knobs.set("math", KnobValue::of_name("bf16"));
    linear.kernel().knobs.set("stream", KnobValue::of_name("columns"));
    return first_diagnostic(linear.b.program);
  };
  EXPECT_EQ(complaint(16, 4096), "");
  EXPECT_NE(complaint(16, 4100).find("E114: `stream=columns` with `math=bf16`: `w` is not aligned to 16 bytes"),
            std::string::npos)
      << complaint(16, 4100);
  EXPECT_NE(complaint(17, 4096).find(
                "E117: `math=bf16, stream=columns` holds at most 16 lines of the other operand, which has 17"),
            std::string::npos)
      << complaint(17, 4096);
}

TEST(GemmStream, Tf32StreamsWithoutScalesAndGuard) {
  Linear linear(128, 2048, 2044);
  linear.kernel().knobs.set("math", KnobValue::of_name("tf32"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("columns"));
  linear.kernel().knobs.set("tile", KnobValue::of_size({128, 192}));
  const Emission emission = emission_of(linear.b.program, false, "high");
  ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-finish"}));
  EXPECT_EQ(emission.steps[1].arguments.size(), 3u);               // planes, weight, partial sums
  EXPECT_EQ(emission.steps[1].arguments[0].map.extents[0], 2048);  // whole groups of eight k
  EXPECT_NE(emission.sources[1].code.find("gemm::StreamConfig<mainloop::Tf32"), std::string::npos)
      << emission.sources[1].code;
  EXPECT_EQ(emission.sources[2].code.find("guard"), std::string::npos) << emission.sources[2].code;
  for (const PlanBuffer& buffer : emission.workspace)
    EXPECT_EQ(buffer.name.find("guard"), std::string::npos) << buffer.name;
}

// Sums that are not finite send a product without scales to the fallback: the streamed operand alone has guard words.
TEST(GemmStream, Bf16StreamsWithAGuardOfItsSums) {
  for (const char* stream : {"columns", "rows"}) {
    const bool columns = std::string_view(stream) == "columns";
    Linear linear(columns ? 72 : 2048, columns ? 2048 : 72, 2044);
    linear.kernel().knobs.set("math", KnobValue::of_name("bf16x6"));
    linear.kernel().knobs.set("stream", KnobValue::of_name(stream));
    const Emission emission = emission_of(linear.b.program);
    ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-finish"}));
    EXPECT_EQ(emission.steps[1].arguments[0].map.extents[2], 3) << "planes";
    EXPECT_EQ(emission.steps[1].arguments[0].map.box[1] * emission.steps[1].cluster[0], 80) << "lines of a tile";
    EXPECT_EQ(emission.steps[1].arguments.size(), 4u);  // planes, weight, partial sums, guard words
    const std::string config = std::string("gemm::StreamConfig<mainloop::Bf16x6Lifted, gemm::Streams") +
                               (columns ? "B" : "A") + ", mma::Major::kK, 4, mma::Major::kK";
    EXPECT_NE(emission.sources[1].code.find(config), std::string::npos) << emission.sources[1].code;
    EXPECT_NE(emission.sources[2].code.find(columns ? "guard{nullptr, guard_b, 0, " : "guard{guard_a, nullptr, "),
              std::string::npos)
        << emission.sources[2].code;
    for (const PlanBuffer& buffer : emission.workspace) {
      EXPECT_EQ(buffer.name.find("scales"), std::string::npos) << buffer.name;
      EXPECT_NE(buffer.name, columns ? "up-guard_a" : "up-guard_b");
    }
  }
}

// Of 512 held lines five tiles of 112 read 560 scales a chunk.
TEST(GemmStream, ScalesCoverEveryHeldLineOfAStream) {
  Linear linear(512, 16384, 4096);
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("columns"));
  linear.kernel().knobs.set("tile", KnobValue::of_size({112, 128}));
  const Emission emission = emission_of(linear.b.program);
  const auto scales = std::find_if(emission.workspace.begin(), emission.workspace.end(),
                                   [](const auto& b) { return b.name == "up-scales_a"; });
  ASSERT_NE(scales, emission.workspace.end());
  EXPECT_EQ(scales->bytes, 4096 / 64 * 560 * 4);
}

TEST(GemmStream, EveryBlockOfAStreamedTileHasItsPartialSumsAndGuardWord) {
  Linear linear(100, 300, 1000, true);
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("tile", KnobValue::of_size({64, 128}));
  linear.kernel().knobs.set("stream", KnobValue::of_name("columns"));
  linear.kernel().knobs.set("split", KnobValue::of_int(5));
  const Emission emission = emission_of(linear.b.program);
  ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-finish"}));
  EXPECT_EQ(emission.steps[1].grid[0], 2 * 3 * 5);
  for (const PlanBuffer& buffer : emission.workspace) {
    if (buffer.name == "up-partial") {
      EXPECT_EQ(buffer.bytes, 4 * 5 * 100 * 300);
    } else if (buffer.name == "up-guard_b") {
      EXPECT_EQ(buffer.bytes, 8 * 2 * 3 * 5);
    }
  }
}

TEST(GemmStream, BlocksOfManyHeldLinesShareTheirPlanes) {
  Linear linear(128, 64 * 35, 1000);
  linear.kernel().knobs.set("math", KnobValue::of_name("fp16x3"));
  linear.kernel().knobs.set("stream", KnobValue::of_name("columns"));
  linear.kernel().knobs.set("tile", KnobValue::of_size({128, 64}));
  const Emission shared = emission_of(linear.b.program);
  EXPECT_EQ(shared.steps[1].cluster[0], 2);
  EXPECT_EQ(shared.steps[1].grid[0] % 36, 0) << "whole clusters of 35 tiles";
  EXPECT_EQ(shared.steps[1].arguments[0].map.box[1], 64) << "half of the lines";
  linear.kernel().knobs.set("tile", KnobValue::of_size({32, 64}));
  EXPECT_EQ(emission_of(linear.b.program).steps[1].cluster[0], 1);
}

TEST(GemmStream, StreamedRingsFitTheirShareOfAnSm) {
  for (const bool transposed : {false, true}) {
    const Linear linear(100, 300, 1000, transposed);
    const Context context{linear.b.program, h200()};
    const auto problem = gemm::make_problem(linear.b.program, linear.b.program.kernels.front());
    ASSERT_TRUE(problem.ok());
    for (const auto math : {numerics::Math::kFP16x3, numerics::Math::kBF16x6}) {
      const auto settings = gemm::stream_settings(context, *problem, math);
      EXPECT_GE(settings.size(), 20u);
      for (const gemm::Settings& s : settings) {
        const gemm::StreamPlan plan = gemm::stream_plan(context, *problem, s);
        EXPECT_GE(plan.slots, 2);
        EXPECT_GE(plan.slots_held, 2);
        EXPECT_LE(plan.blocks_per_sm * (plan.shared_bytes + 1024), 228 * 1024) << plan.held_lines << ' ' << plan.groups;
      }
    }
  }
}

TEST(GemmStream, OneRowIsOneLaunchInFullPrecision) {
  for (const bool transposed : {false, true}) {
    Linear linear(1, 4096, 4096, transposed);
    const Emission emission = emission_of(linear.b.program);
    ASSERT_EQ(steps_of(emission), (Names{"up"})) << transposed;
    EXPECT_NE(emission.sources[0].code.find("gemm::GemvConfig<"), std::string::npos) << emission.sources[0].code;
  }
}

}  // namespace
}  // namespace solstice::families::of_gemm
