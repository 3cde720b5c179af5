#include "import/proof/unfolded.h"

#include <gtest/gtest.h>

#include "ir/bind.h"

namespace solstice::importer {
namespace {

ir::Program bound(const std::string& text) {
  Diagnostics diagnostics;
  auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test.ucut");
  return program.ok() ? *program : ir::Program{};
}

std::map<std::string, FoldedPlace> same_names(const ir::Program& flat) {
  std::map<std::string, FoldedPlace> out;
  for (const ir::Tensor& tensor : flat.tensors) out[tensor.name] = {tensor.name, "", -1};
  return out;
}

constexpr const char* kFlatSteps = R"(
program p
input  x : f32[4, 8]
output y : f32[8]
h0[i] = 0.5 * x[0,i]
h1[i] = 0.5 * h0[i] + x[1,i]
h2[i] = 0.5 * h1[i] + x[2,i]
y[i] = 0.5 * h2[i] + x[3,i]
)";

std::string rolled(const std::string& step) {
  return "program p\ninput x : f32[4, 8]\noutput y : f32[8]\nh0[i] = 0.5 * x[0,i]\n" + step + "y[i] = h[2,i]\n";
}

std::string difference_of_steps(const std::string& step) {
  const ir::Program flat = bound(kFlatSteps);
  std::map<std::string, FoldedPlace> places = same_names(flat);
  places["h1"] = {"", "h", 0};
  places["h2"] = {"", "h", 1};
  places["y"] = {"y", "h", 2};
  return difference(flat, bound(rolled(step)), places);
}

TEST(Unfolded, ALoopIsItsSteps) {
  EXPECT_EQ(difference_of_steps("h[t,i] = 0.5 * h[t-1,i else h0[i]] + x[t+1,i] for t<3\n"), "");
}

TEST(Unfolded, ALoopWithAnotherStepIsNot) {
  for (const char* step : {
           "h[t,i] = 0.25 * h[t-1,i else h0[i]] + x[t+1,i] for t<3\n",  // a number
           "h[t,i] = 0.5 * h[t-1,i else h0[i]] + x[t,i] for t<3\n",     // an offset
           "h[t,i] = 0.5 * h[t-1,i else x[0,i]] + x[t+1,i] for t<3\n",  // what the first step reads
       }) {
    EXPECT_NE(difference_of_steps(step), "") << step;
  }
}

// A row of a and b, and one of the same row and c, which takes the beginning from the first.
TEST(Unfolded, APieceMayComeFromACopy) {
  constexpr const char* kInputs = "program p\ninput a : f32[4]\ninput b : f32[4]\ninput c : f32[4]\n";
  constexpr const char* kOutputs = "output y : f32[8]\noutput z : f32[12]\ny[i] = a[i]\ny[4+i] = b[i]\n";
  const std::string begin = std::string(kInputs) + kOutputs, end = "z[8+i] = c[i]\n";
  const ir::Program flat = bound(begin + "z[i] = a[i]\nz[4+i] = b[i]\n" + end);
  EXPECT_EQ(difference(flat, bound(begin + "z[i] = y[i] for i<8\n" + end), same_names(flat)), "");
  EXPECT_NE(difference(flat, bound(begin + "z[i] = y[7-i] for i<8\n" + end), same_names(flat)), "");
}

// What zeros a row is filled up with is part of the meaning.
TEST(Unfolded, AnExtentIsPartOfTheMeaning) {
  const auto padded = [](const char* extent) {
    return bound(std::string("program p\ninput x : f32[2]\noutput y : f32[1]\n") + "e[j] = exp(x[j else 0]) for j<" +
                 extent + "\ny[i] = sum[j](e[j]) for i<1\n");
  };
  const ir::Program flat = padded("7");
  EXPECT_EQ(difference(flat, padded("7"), same_names(flat)), "");
  EXPECT_NE(difference(flat, padded("5"), same_names(flat)), "");
}

}  // namespace
}  // namespace solstice::importer
