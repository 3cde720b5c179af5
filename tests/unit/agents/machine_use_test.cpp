#include "agents/machine_use.h"

#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

// Of two kernels: one moves 3 MB in at least 0.6 us, the other computes; a third runs at load.
search::Measurement measured(bool traced) {
  search::Measurement out;
  out.state = TrialState::kVerified;
  out.time = Seconds(4e-6);
  const KernelFacts k1{
      "k1", "threads=256", {{"dram", "", "B", 2.7e6, Seconds(0.6e-6)}, {"simt.f32", "", "FLOP", 1e6, Seconds(0.1e-6)}}};
  const KernelFacts k2{
      "k2",
      "math=fp16x3, tile=128x128x64",
      {{"dram", "", "B", 2.7e6, Seconds(0.9e-6)}, {"tensor.f16", "fp16x3", "FLOP", 5.4e8, Seconds(1.35e-6)}}};
  const KernelFacts pack{"pack", "threads=256", {}};
  out.record = Json::object().set("facts", Json::array().push(to_json(k1)).push(to_json(k2)).push(to_json(pack)));
  if (traced) out.record.set("trace", to_json(testing::trace()));
  return out;
}

TEST(MachineUse, IsOfEachKernelWhereTheirTimesAreThere) {
  EXPECT_EQ(text_of_use(measured(true)),
            "used: `k1` 3 TB/s, 67 % of what memory gives; "
            "`k2` 200 TFLOP/s, 50 % of what tensor.f16 (fp16x3) gives, 1 TB/s, 33 % of what memory gives");
}

TEST(MachineUse, ElseOfTheWholeCall) {
  EXPECT_EQ(text_of_use(measured(false)),
            "used by the whole call: 1.35 TB/s, 38 % of what memory gives, 135 TFLOP/s, 34 % of what tensor.f16 "
            "(fp16x3) gives");
}

TEST(MachineUse, NothingIsSaidOfWhatWasNotMeasuredOrIsNotKnown) {
  search::Measurement predicted = measured(true);
  predicted.state = TrialState::kPredicted;
  EXPECT_EQ(text_of_use(predicted), "");
  search::Measurement old = measured(true);
  old.record = Json::object().set("trace", to_json(testing::trace()));
  EXPECT_EQ(text_of_use(old), "");
  EXPECT_EQ(text_of_choices(old), "");
}

TEST(MachineUse, ChoicesThatAreAlikeStandTogether) {
  EXPECT_EQ(text_of_choices(measured(false)),
            "left to the families: `k1`, `pack` threads=256; `k2` math=fp16x3, tile=128x128x64");
}

}  // namespace
}  // namespace solstice::agents
