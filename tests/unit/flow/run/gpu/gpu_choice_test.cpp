#include "flow/run/gpu/gpu_choice.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

const std::vector<GpuKind> kHost = {{"NVIDIA H200", 132}, {"NVIDIA H200", 132}, {"NVIDIA H100", 132}};

std::string parsed(const char* text) {
  const Result<GpuChoice> choice = parse_gpu_choice(text);
  return choice.ok() ? choice->text() : choice.error().sentence();
}

std::string chosen(const char* text, int first = 0) {
  const GpuChoice choice = std::string_view(text).empty() ? GpuChoice() : *parse_gpu_choice(text);
  const Result<std::vector<int>> gpus = further_gpus(choice, first, kHost);
  if (!gpus.ok()) return gpus.error().sentence();
  std::string out;
  for (const int gpu : *gpus) out += std::to_string(gpu) + " ";
  return out;
}

TEST(GpuChoice, ReadsListsAndSaysWhatIsWrong) {
  EXPECT_EQ(parsed("0,3,1"), "0,3,1");
  EXPECT_EQ(parsed("all"), "all");
  EXPECT_EQ(
      parsed("0,0"),
      "--devices `0,0`: GPU 0 is named twice; legal are GPU numbers separated by commas, for example 0,1, and `all`");
  EXPECT_EQ(parsed(""),
            "--devices ``: it is empty; legal are GPU numbers separated by commas, for example 0,1, and `all`");
  for (const char* text : {"0,", ",", "0;1", "-1", "0,1x", "ALL", "0, 1", "99999999999"}) {
    EXPECT_NE(parsed(text).find("is not a GPU number"), std::string::npos) << text;
  }
}

TEST(GpuChoice, TheModulesGpuComesFirstAndAllAreOfOneKind) {
  EXPECT_EQ(chosen(""), "");
  EXPECT_EQ(chosen("0"), "");
  EXPECT_EQ(chosen("1,0"), "1 ");
  EXPECT_EQ(chosen("1,0", 1), "0 ");
  EXPECT_EQ(chosen("0,7"), "--devices names GPU 7, and GPUs 0 to 2 are visible");
  EXPECT_EQ(chosen("1"),
            "--devices has to include GPU 0, which holds the module: add it, or set CUDA_VISIBLE_DEVICES to choose the "
            "visible GPUs");
  EXPECT_EQ(chosen("all"),
            "GPU 2 is NVIDIA H100 with 132 multiprocessors, GPU 0 is NVIDIA H200 with 132 multiprocessors: times are "
            "compared, so all of "
            "--devices must be of one model");
}

}  // namespace
}  // namespace solstice::flow
