#include "diagnose/place.h"

#include <gtest/gtest.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

SassMix mix_of(int64_t instructions, std::vector<SassAccess> accesses) {
  SassMix out;
  out.instructions = instructions;
  out.accesses = std::move(accesses);
  return out;
}

// Two equations; the loop of the second has one in it, with wide stores.
StepFacts placed_step() {
  SassFacts sass;
  sass.places = {{"epilogue", 2, "y[m,n] = gelu(z[m,n])", "", 9}, {"main loop", 1, "z[m,n] = ..", "", 8}, {"load"}};
  SassLoop outer, inner;
  inner.parent = 0;
  sass.loops = {outer, inner};
  sass.spots = {{0, -1, mix_of(50, {{"global", true, 32, 4}})},
                {1, 0, mix_of(10, {{"global", true, 64, 1}, {"local", false, 32, 3}})},
                {1, 1, mix_of(20, {{"global", true, 128, 50}})},
                {2, 1, mix_of(5, {{"global", true, 16, 1}})},
                {99, 1, mix_of(5, {{"global", true, 16, 99}})}};
  sass.runs = {{0, 0}, {32, -1}, {64, 1}};
  StepFacts step;
  step.sass = sass;
  return step;
}

TEST(Place, IsWhereMostOfItStands) {
  const StepFacts step = placed_step();
  const SassFacts& sass = *step.sass;
  Finding finding;
  name_place(step, &sass.mix, narrow_accesses("global", true), finding);
  EXPECT_EQ(finding.place.equation, "y[m,n] = gelu(z[m,n])");
  EXPECT_EQ(finding.place.part, "epilogue");
  EXPECT_EQ(finding.place.line, 9);
  name_place(step, &sass.loops[0].mix, instructions(), finding);
  EXPECT_EQ(finding.place.part, "main loop") << "inner loops are of the outer one";
  name_place(step, &sass.loops[1].mix, narrow_accesses("global", true), finding);
  EXPECT_EQ(finding.place.part, "load");
  EXPECT_EQ(finding.place.equation, "z[m,n] = ..") << "a place without an equation says nothing against one";
}

TEST(Place, StaysWhereNothingIsKnown) {
  StepFacts step = placed_step();
  Finding finding;
  finding.place.part = "main loop";
  name_place(step, &step.sass->mix, of_kind("fp64"), finding);
  name_place(step, 40, finding);
  name_place(step, nullptr, instructions(), finding);
  step.sass->places.clear();
  name_place(step, &step.sass->mix, instructions(), finding);
  step.sass.reset();
  name_place(step, 0, finding);
  name_stalled_place(step, "barrier", finding);
  EXPECT_EQ(to_json(finding.place), to_json(FindingPlace{.part = "main loop"}));
}

TEST(Place, OfAnAddressAndOfAStall) {
  StepFacts step = placed_step();
  Finding finding;
  name_place(step, 16, finding);
  EXPECT_EQ(finding.place.part, "epilogue");
  step.counters.emplace();
  step.counters->hot = {{.address = 0, .line = 3, .file = "k.cu", .samples = {{"barrier", 1}, {"wait", 50}}},
                        {.address = 16, .line = 4, .file = "k.cu", .samples = {{"barrier", 9}}}};
  name_stalled_place(step, "barrier", finding);
  EXPECT_EQ(finding.place.line, 4);
  EXPECT_EQ(finding.place.file, "k.cu");
}

TEST(Place, OfWhatWasSampledIsThatOfItsAddress) {
  const StepFacts step = placed_step();
  CounterFacts counters;
  counters.hot = {{.address = 16, .samples = {{"wait", 1}}}, {.address = 48, .line = 5, .samples = {{"wait", 1}}}};
  name_hot_places(*step.sass, counters);
  EXPECT_EQ(counters.hot[0].equation, "y[m,n] = gelu(z[m,n])");
  EXPECT_EQ(counters.hot[0].part, "epilogue");
  EXPECT_EQ(counters.hot[0].line, 9);
  EXPECT_EQ(counters.hot[1].line, 5) << "what no place is known of stays as it was";
  name_hot_places(SassFacts(), counters);
  EXPECT_EQ(counters.hot[0].line, 9);
}

// A damaged chain of loops ends.
TEST(Place, LoopsInACircleEnd) {
  StepFacts step = placed_step();
  step.sass->loops[0].parent = 1;
  Finding finding;
  name_place(step, &step.sass->loops[1].mix, instructions(), finding);
  SUCCEED();
}

}  // namespace
}  // namespace solstice::diagnose
