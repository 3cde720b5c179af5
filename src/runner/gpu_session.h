// The GPU side of a runner: one plan, its arena, one stream. All waiting has a deadline.
//
// Errors: deadline (the work may still be running: the process must end) and cuda_error after a failed launch (the
// context is lost: the process must end); others leave the session usable.
#pragma once

#include <memory>
#include <optional>

#include "record/runner_messages.h"
#include "rt/arena.h"
#include "rt/executor.h"
#include "runner/scrub.h"

namespace solstice::runner {

class GpuSession {
 public:
  static Result<std::unique_ptr<GpuSession>> open(const rt::Driver& driver, int device);
  ~GpuSession();
  GpuSession(const GpuSession&) = delete;

  const rt::DeviceContext& context() const { return context_; }
  Result<RunnerLoaded> load(const RunnerLoad& request);
  Result<RunnerDone> prepare(const RunnerWork& request);
  Result<RunnerDone> run(const RunnerWork& request);
  Result<RunnerTimes> time(const RunnerTime& request);

 private:
  GpuSession(const rt::Driver& driver, rt::DeviceContext context) : driver_(driver), context_(std::move(context)) {}
  Result<size_t> free_memory() const;
  Status bind_slots();
  Status check_slot(int slot) const;
  Status launch(int slot);
  Status wait(Seconds deadline);
  Status ensure_flush(int64_t bytes);
  Status ensure_events(size_t count);
  Status flush_l2(int64_t bytes);
  Status clear_behind_flush(int64_t bytes);
  Status poison_workspace(int value);
  int flushes_for(int64_t bytes) const;
  Result<RunnerTimes> time_events(const RunnerTime& request);
  Result<RunnerTimes> time_cupti(const RunnerTime& request);

  const rt::Driver& driver_;
  rt::DeviceContext context_;
  cu::Stream stream_ = nullptr;
  std::unique_ptr<rt::Executor> executor_;
  rt::ArenaLayout layout_;
  cu::DevicePtr arena_ = 0;
  std::vector<std::vector<void*>> tensors_;  // [slot][interface buffer]
  void* workspace_ = nullptr;
  std::vector<rt::ArenaRange> scratch_;  // workspace that prepare does not fill
  Seconds launch_;                       // host time of the last launch call
  cu::DevicePtr flush_ = 0;
  int64_t flush_bytes_ = 0, flush_reach_ = 0;
  std::vector<cu::Event> events_;
  std::unique_ptr<Scrub> scrub_;
};

}  // namespace solstice::runner
