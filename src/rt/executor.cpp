#include "rt/executor.h"

#include <fmt/format.h>

#include <cstdlib>

#include "rt/bound_plan.h"

namespace solstice::rt {
namespace {

// "sm_90a": code for exactly 9.0; "sm_80": for 8.0 and later minors of 8.
Status check_target(const Driver& driver, const std::string& target) {
  if (!target.starts_with("sm_"))
    return fail(Code::bad_record, fmt::format("the plan's target `{}` is no sm_NN", target));
  cu::Device device = 0;
  int major = 0, minor = 0;
  SOLSTICE_CHECK(driver.check(driver.cuCtxGetDevice(&device), "find the current GPU"));
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGetAttribute(&major, cu::kComputeMajor, device), "read a GPU attribute"));
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGetAttribute(&minor, cu::kComputeMinor, device), "read a GPU attribute"));
  const int wanted = std::atoi(target.c_str() + 3);
  const bool exact = target.back() == 'a';
  if (wanted / 10 == major && (exact ? wanted % 10 == minor : wanted % 10 <= minor)) return success();
  return fail(Code::bad_argument, fmt::format("the plan is for {}, and this GPU is sm_{}{}", target, major, minor),
              "make it again for this GPU");
}

}  // namespace

Executor::Executor(const Driver& driver, LoadedPlan loaded, int64_t gap, const Nvtx* profiler)
    : driver_(driver), loaded_(std::move(loaded)), layout_(lay_out_workspace(loaded_.plan, gap)), profiler_(profiler) {}

Executor::~Executor() {
  const OutsideCaptures outside(driver_);
  bound_.clear();
  for (cu::Library library : libraries_) driver_.cuLibraryUnload(library);
}

Result<std::unique_ptr<Executor>> Executor::create(const Driver& driver, LoadedPlan loaded, int64_t workspace_gap,
                                                   const Nvtx* profiler) {
  return std::unique_ptr<Executor>(new Executor(driver, std::move(loaded), workspace_gap, profiler));
}

Status Executor::load_libraries() {
  for (size_t i = libraries_.size(); i < loaded_.cubins.size(); ++i) {
    cu::Library library = nullptr;
    SOLSTICE_CHECK(driver_.check(
        driver_.cuLibraryLoadData(&library, loaded_.cubins[i].data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        fmt::format("load {}", loaded_.plan.modules[i].cubin)));
    libraries_.push_back(library);
  }
  return success();
}

Result<BoundPlan*> Executor::bound_here(bool create) {
  cu::Context context = nullptr;
  SOLSTICE_CHECK(driver_.check(driver_.cuCtxGetCurrent(&context), "find the current CUDA context"));
  if (context && context == last_context_) return last_bound_;
  if (!context) return fail(Code::bad_argument, "this thread has no current CUDA context");
  std::unique_ptr<BoundPlan>& slot = bound_[context];
  if (!slot) {
    if (!create) return fail(Code::bad_argument, "the plan was not prepared in this CUDA context");
    SOLSTICE_CHECK(check_target(driver_, loaded_.plan.target));
    SOLSTICE_CHECK(load_libraries());
    SOLSTICE_TRY(slot, BoundPlan::create(driver_, loaded_, layout_, libraries_, profiler_));
  }
  last_context_ = context;
  last_bound_ = slot.get();
  return last_bound_;
}

Status Executor::prepare(std::span<void* const> tensors, void* workspace, cu::Stream stream) {
  const std::lock_guard lock(mutex_);
  const OutsideCaptures outside(driver_);
  SOLSTICE_TRY(BoundPlan* const bound, bound_here(true));
  return bound->prepare(tensors, workspace, stream);
}

Status Executor::launch(std::span<void* const> tensors, void* workspace, cu::Stream stream) {
  const std::lock_guard lock(mutex_);
  SOLSTICE_TRY(BoundPlan* const bound, bound_here(false));
  return bound->launch(tensors, workspace, stream);
}

}  // namespace solstice::rt
