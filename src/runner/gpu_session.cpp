#include "runner/gpu_session.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "rt/hex.h"

namespace solstice::runner {
namespace {

std::vector<rt::ArenaRange> scratch_of(const Plan& plan, const rt::ArenaLayout& layout) {
  std::vector<rt::ArenaRange> out;
  size_t workspace = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::kWorkspace) continue;
    const rt::ArenaRange& range = layout.workspace_buffers[workspace++];
    if (!buffer.persistent && range.bytes > 0) out.push_back(range);
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<GpuSession>> GpuSession::open(const rt::Driver& driver, int device) {
  SOLSTICE_TRY(rt::DeviceContext context, rt::DeviceContext::open(driver, device));
  std::unique_ptr<GpuSession> out(new GpuSession(driver, std::move(context)));
  SOLSTICE_CHECK(driver.check(driver.cuStreamCreate(&out->stream_, cu::kStreamNonBlocking), "create a stream"));
  return out;
}

GpuSession::~GpuSession() {
  executor_.reset();
  scrub_.reset();
  for (cu::Event event : events_) driver_.cuEventDestroy(event);
  if (arena_) driver_.cuMemFree(arena_);
  if (flush_) driver_.cuMemFree(flush_);
  if (stream_) driver_.cuStreamDestroy(stream_);
}

Result<size_t> GpuSession::free_memory() const {
  size_t free_bytes = 0, total = 0;
  SOLSTICE_CHECK(driver_.check(driver_.cuMemGetInfo(&free_bytes, &total), "read the free memory"));
  return free_bytes;
}

Result<RunnerLoaded> GpuSession::load(const RunnerLoad& request) {
  if (executor_) return fail(Code::bad_argument, "this runner has a plan already");
  if (request.slots < 1 || request.slots > 64 || request.red_zone < 0 || request.red_zone > (1 << 30)) {
    return fail(Code::bad_argument,
                fmt::format("{} slots with red zones of {} bytes", request.slots, request.red_zone));
  }
  SOLSTICE_TRY(rt::LoadedPlan loaded, rt::load_plan(request.plan));
  layout_ = rt::lay_out_arena(loaded.plan, request.slots, request.red_zone);
  scratch_ = scratch_of(loaded.plan, layout_);
  SOLSTICE_TRY(const size_t before, free_memory());
  SOLSTICE_TRY(executor_, rt::Executor::create(driver_, std::move(loaded), request.red_zone));
  const Status allocated =
      driver_.check(driver_.cuMemAlloc(&arena_, static_cast<size_t>(layout_.bytes)), "allocate the arena");
  if (!allocated.ok()) {
    executor_.reset();
    return fail(Code::too_large, fmt::format("{} slots need {} bytes of device memory, {} are free ({})", request.slots,
                                             layout_.bytes, before, allocated.error().message));
  }
  SOLSTICE_CHECK(bind_slots());
  scrub_ = std::make_unique<Scrub>(driver_);
  if (!request.scrub.empty()) SOLSTICE_CHECK(scrub_->load(request.scrub, context_));
  cu::IpcMemHandle handle{};
  SOLSTICE_CHECK(driver_.check(driver_.cuIpcGetMemHandle(&handle, arena_), "export the arena"));
  SOLSTICE_TRY(const size_t after, free_memory());
  return RunnerLoaded{rt::to_hex(handle), layout_.bytes,
                      Bytes(static_cast<double>(before) - static_cast<double>(after))};
}

Status GpuSession::bind_slots() {
  const auto at = [&](const rt::ArenaRange& range) {
    return reinterpret_cast<void*>(arena_ + static_cast<uint64_t>(range.offset));
  };
  for (const auto& slot : layout_.slots) {
    tensors_.emplace_back();
    for (const rt::ArenaRange& range : slot) tensors_.back().push_back(at(range));
  }
  workspace_ = at(layout_.workspace);
  return success();
}

Status GpuSession::check_slot(int slot) const {
  if (!executor_) return fail(Code::bad_argument, "no plan is loaded");
  if (slot >= 0 && static_cast<size_t>(slot) < tensors_.size()) return success();
  return fail(Code::bad_argument, fmt::format("slot {} of {}", slot, tensors_.size()));
}

Status GpuSession::launch(int slot) {
  const Seconds begin = monotonic_now();
  SOLSTICE_CHECK(executor_->launch(tensors_[static_cast<size_t>(slot)], workspace_, stream_));
  launch_ = monotonic_now() - begin;
  return success();
}

// Polls: a wait inside the driver could not be given up.
Status GpuSession::wait(Seconds limit) {
  const Deadline deadline(limit);
  const Seconds begin = monotonic_now();
  while (true) {
    const cu::Result result = driver_.cuStreamQuery(stream_);
    if (result == cu::kSuccess) return success();
    if (result != cu::kNotReady) return driver_.check(result, "run the plan");
    if (deadline.passed()) return fail(Code::deadline, fmt::format("the GPU did not finish within {} s", limit.value));
    if ((monotonic_now() - begin).value < 1e-3) continue;
    const timespec nap{0, 20000};
    ::nanosleep(&nap, nullptr);
  }
}

Result<RunnerDone> GpuSession::prepare(const RunnerWork& request) {
  SOLSTICE_CHECK(check_slot(request.slot));
  // Values that the last launch left must not get into persistent memory.
  SOLSTICE_CHECK(scrub_->launch(stream_));
  SOLSTICE_CHECK(wait(request.deadline));
  SOLSTICE_CHECK(scrub_->check());
  const Seconds begin = monotonic_now();
  SOLSTICE_CHECK(executor_->prepare(tensors_[static_cast<size_t>(request.slot)], workspace_, stream_));
  return RunnerDone{monotonic_now() - begin};
}

Result<RunnerDone> GpuSession::run(const RunnerWork& request) {
  SOLSTICE_CHECK(check_slot(request.slot));
  const Seconds begin = monotonic_now();
  SOLSTICE_CHECK(scrub_->launch(stream_));
  SOLSTICE_CHECK(launch(request.slot));
  SOLSTICE_CHECK(wait(request.deadline));
  SOLSTICE_CHECK(scrub_->check());
  return RunnerDone{monotonic_now() - begin};
}

}  // namespace solstice::runner
