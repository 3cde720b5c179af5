#include "rt/nvtx.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fake_driver.h"
#include "plans.h"
#include "rt/executor.h"

namespace solstice::rt {
namespace {

std::string said_by(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY);
  const auto said = handle ? reinterpret_cast<const char* (*)()>(dlsym(handle, "fake_nvtx_said")) : nullptr;
  return said ? said() : "";
}

TEST(Nvtx, AProfilerSeesThePlanAndItsStepsByName) {
  const char* library = SOLSTICE_FAKE_NVTX;
  Nvtx nvtx;
  ASSERT_TRUE(attach(library, nvtx));
  fake() = FakeLog{};
  Plan plan = two_step_plan();
  auto loaded = make_loaded_plan(plan, {fake_cubin()});
  auto executor = Executor::create(fake_driver(), std::move(loaded).value(), 0, &nvtx).value();
  const std::vector<void*> tensors = {reinterpret_cast<void*>(0x1000), reinterpret_cast<void*>(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, reinterpret_cast<void*>(0x3000), nullptr).ok());
  fake().arguments = 1;
  ASSERT_TRUE(executor->launch(tensors, reinterpret_cast<void*>(0x3000), nullptr).ok());
  EXPECT_EQ(said_by(library),
            fmt::format("({0} prepare )({0} ({1} )({2} ))", plan.program, plan.steps[0].name, plan.steps[1].name));
}

// In a process of its own: the profiler is looked for once.
TEST(Nvtx, TheEnvironmentNamesTheProfiler) {
  const auto looks = [](const char* library) {
    ::setenv("NVTX_INJECTION64_PATH", library, 1);
    std::_Exit(profiler() ? 0 : 1);
  };
  EXPECT_EXIT(looks(SOLSTICE_FAKE_NVTX), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(looks("/no/such/library.so"), testing::ExitedWithCode(1), "");
}

TEST(Nvtx, ALibraryThatIsNoProfilerIsNone) {
  Nvtx nvtx;
  EXPECT_FALSE(attach("/no/such/library.so", nvtx));
  EXPECT_FALSE(attach("libm.so.6", nvtx));
}

TEST(Nvtx, WithoutAProfilerThereAreNoRanges) {
  ASSERT_EQ(std::getenv("NVTX_INJECTION64_PATH"), nullptr);
  EXPECT_EQ(profiler(), nullptr);
}

}  // namespace
}  // namespace solstice::rt
