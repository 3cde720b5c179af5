// libsolstice_rt.so from outside: its symbols and its manners where nothing can work.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "base/paths.h"
#include "rt/cuda_driver.h"
#include "rt/solstice_rt.h"

namespace solstice::rt {
namespace {

class AbiTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = companion("libsolstice_rt.so");
    if (!path.ok()) GTEST_SKIP() << path.error().message;
    library_ = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }
  template <typename T>
  T find(const char* name) {
    return reinterpret_cast<T>(::dlsym(library_, name));
  }
  void* library_ = nullptr;
};

TEST_F(AbiTest, LoadingFailsWithAMessageThatFitsItsBuffer) {
  const auto abi = find<int (*)()>("solstice_rt_abi");
  const auto load = find<int (*)(const char*, solstice_rt_plan**, char*, size_t)>("solstice_rt_load");
  ASSERT_TRUE(abi && load);
  EXPECT_EQ(abi(), SOLSTICE_RT_ABI);
  char small[8];
  auto* plan = reinterpret_cast<solstice_rt_plan*>(1);
  const int failed = load("/no/such/plan.json", &plan, small, sizeof small);
  EXPECT_EQ(failed, cuda_driver().ok() ? 1 : 2);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(std::string(small).size(), 7u);
  EXPECT_NE(load("/no/such/plan.json", &plan, nullptr, 0), 0);
}

TEST_F(AbiTest, TvmFfiEntryLoadsWithoutTvmFfiAndRefusesNonsense) {
  const auto launch = find<int (*)(void*, const void*, int32_t, void*)>("__tvm_ffi_solstice_rt_launch");
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(launch(nullptr, nullptr, 0, nullptr), -1);
}

TEST_F(AbiTest, NothingElseIsExported) {
  EXPECT_EQ(::dlsym(library_, "_ZN8solstice2rt11cuda_driverEv"), nullptr);
  EXPECT_EQ(::dlsym(library_, "XXH3_128bits"), nullptr);
}

}  // namespace
}  // namespace solstice::rt
