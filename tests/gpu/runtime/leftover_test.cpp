// What a launch leaves behind must not serve a later one, wherever a kernel that walks off from its pointers may look
// for it. The kernels here answer wrongly where they find their own input, to be noticed.
#include "fixture.h"
#include "rt/arena.h"

namespace solstice::run {
namespace {

class LeftoverTest : public RuntimeTest {
 protected:
  static Argument number(int64_t value) {
    Argument out;
    out.kind = ArgumentKind::kI32;
    out.integer = value;
    return out;
  }
  // With where its x lies in two slots.
  static Plan plan_with_layout(const std::string& entry) {
    Plan plan = plan_of(entry);
    const rt::ArenaLayout layout = rt::lay_out_arena(plan, 2, judge_->options().red_zone);
    const int64_t first = layout.slots[0][0].offset, second = layout.slots[1][0].offset;
    plan.steps[0].arguments.push_back(number(first));
    plan.steps[0].arguments.push_back(number((second - first) / 4));
    return plan;
  }
  void expect_nothing_found(const Plan& plan, const std::vector<JudgeCase>& cases) {
    const auto verdict = judge_->verify(save(plan), cases, 2);
    ASSERT_TRUE(verdict.ok()) << verdict.error().text();
    ASSERT_EQ(verdict->outcome, Outcome::kPassed) << verdict->message;
    const auto block = judge_->time_block(cases, 11);
    ASSERT_TRUE(block.ok()) << block.error().text();
    EXPECT_EQ(block->verdict.outcome, Outcome::kPassed) << block->verdict.message;
    EXPECT_EQ(block->seconds.size(), 11u);
  }
};

TEST_F(LeftoverTest, NoSlotHoldsWhatAnotherIsToCompute) {
  expect_nothing_found(plan_with_layout("looks_next_door"), cases_);
  expect_nothing_found(plan_with_layout("looks_next_door"), {cases_[0]});
}

TEST_F(LeftoverTest, NothingCanBeHiddenInASlotThatIsNotUsed) {
  expect_nothing_found(plan_with_layout("hides_next_door"), {cases_[0]});
}

TEST_F(LeftoverTest, WhatPrepareFilledIsFilledAnew) {
  Plan plan = plan_of("keeps");
  plan.buffers.push_back(buffer("kept", BufferKind::kWorkspace));
  plan.buffers.back().persistent = true;
  plan.steps[0].arguments.push_back(pointer("kept"));
  Step fill = step("fills", {pointer("w"), pointer("kept"), count()});
  fill.phase = Phase::kPrepare;
  plan.steps.insert(plan.steps.begin(), fill);
  expect_nothing_found(plan, cases_);
  expect_nothing_found(plan, {cases_[0]});
}

// Of given code alone: what is generated reads nothing that it has not written.
TEST_F(LeftoverTest, SharedAndLocalMemoryAreCleared) {
  for (const char* entry : {"keeps_in_shared_memory", "keeps_in_reserved_memory", "keeps_in_local_memory"}) {
    Plan plan = plan_of(entry);
    if (entry != std::string("keeps_in_local_memory")) plan.steps[0].shared_bytes = 128 << 10;  // one block an SM
    const Verdict without = verify(plan);
    std::printf("%s, nothing cleared: %s\n", entry, without.passed() ? "finds nothing" : without.message.c_str());
    plan.modules[0].given = true;
    expect_nothing_found(plan, cases_);
  }
}

}  // namespace
}  // namespace solstice::run
