#include "record/kernel_trace.h"

#include <gtest/gtest.h>

#include "record/trial.h"

namespace solstice {
namespace {

KernelTrace two_kernels() {
  return {{{"k1", microseconds(12.3), microseconds(10.1), {}},
           {"k2", microseconds(30.2), microseconds(9), {{"k2-split", microseconds(3)}, {"k2", microseconds(27.2)}}},
           {"update.s", microseconds(1.5), std::nullopt, {}}},
          ""};
}

TEST(KernelTrace, InWords) {
  EXPECT_EQ(text_of(two_kernels()),
            "kernel `k1` 12.3 us (predicted 10.1 us), `k2` 30.2 us (predicted 9 us; `k2-split` 3 us, `k2` 27.2 us), "
            "`update.s` 1.5 us: "
            "`k2` is 3.4x beyond its model");
  EXPECT_EQ(text_of(KernelTrace{{{"k", microseconds(5), microseconds(6), {}}}, ""}),
            "kernel `k` 5 us (predicted 6 us)");
  EXPECT_EQ(text_of(KernelTrace{{{"k", microseconds(5), Seconds(0), {}}}, ""}), "kernel `k` 5 us (predicted 0 us)");
  EXPECT_EQ(text_of(KernelTrace{{}, "no CUPTI"}), "");
}

TEST(KernelTrace, ReadsBackFromATrial) {
  TrialRecord trial;
  trial.trace = to_json(two_kernels());
  const auto back = from_json<TrialRecord>(*parse_json(to_json(trial).dump()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  const auto trace = from_json<KernelTrace>(back->trace);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(to_json(*trace).dump(), to_json(two_kernels()).dump());
  EXPECT_FALSE(trace->kernels[2].predicted);
}

TEST(KernelTrace, TrialsFromBeforeHaveNone) {
  Json old = Json::object().set("schema", TrialRecord::kSchema).set("run", "r").set("number", 1).set("program", "p");
  const auto trial = from_json<TrialRecord>(old.set("state", "verified"));
  ASSERT_TRUE(trial.ok()) << trial.error().text();
  EXPECT_TRUE(trial->trace.is_null());
}

}  // namespace
}  // namespace solstice
