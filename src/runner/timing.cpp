// Timing inside the runner: repetitions are queued one behind the other, each after a write of twice the L2's size, so
// that the host's launch work hides behind the flush and the GPU never waits for it. Where one flush is shorter than
// the launch call, there are several; python/solstice/oracle/timing.py does the same for PyTorch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/integer.h"
#include "runner/cupti.h"
#include "runner/gpu_session.h"

namespace solstice::runner {
namespace {

constexpr double kFastestWrite = 8e12;  // bytes a second: no flush takes less than its size over this
constexpr double kCover = 1.5;          // of the host time that must hide
constexpr int kMostFlushes = 64;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

Status GpuSession::ensure_flush(int64_t bytes) {
  if (bytes <= flush_bytes_) return success();
  if (flush_) driver_.cuMemFree(flush_);
  flush_ = 0;
  flush_bytes_ = 0;
  flush_reach_ = round_up(bytes, rt::kMappedPage);
  SOLSTICE_CHECK(
      driver_.check(driver_.cuMemAlloc(&flush_, static_cast<size_t>(flush_reach_)), "allocate what flushes the L2"));
  flush_bytes_ = bytes;
  return success();
}

Status GpuSession::ensure_events(size_t count) {
  while (events_.size() < count) {
    cu::Event event = nullptr;
    SOLSTICE_CHECK(driver_.check(driver_.cuEventCreate(&event, cu::kEventDefault), "create an event"));
    events_.push_back(event);
  }
  return success();
}

// Given code could keep something in the part of the flushed memory that a flush does not write.
Status GpuSession::clear_behind_flush(int64_t bytes) {
  if (!scrub_->loaded() || bytes == flush_reach_) return success();
  const auto rest = static_cast<size_t>(flush_reach_ - bytes);
  return driver_.check(driver_.cuMemsetD8Async(flush_ + static_cast<uint64_t>(bytes), 0, rest, stream_),
                       "clear what lies behind the flush");
}

Status GpuSession::flush_l2(int64_t bytes) {
  if (bytes == 0) return success();
  return driver_.check(driver_.cuMemsetD8Async(flush_, 0, static_cast<size_t>(bytes), stream_), "flush the L2");
}

// Values that a kernel left in its workspace must not serve the next launch.
Status GpuSession::poison_workspace(int value) {
  if (value < 0) return success();
  for (const rt::ArenaRange& range : scratch_) {
    const cu::DevicePtr at = arena_ + static_cast<uint64_t>(range.offset);
    SOLSTICE_CHECK(driver_.check(
        driver_.cuMemsetD8Async(at, static_cast<unsigned char>(value), static_cast<size_t>(range.bytes), stream_),
        "poison the workspace"));
  }
  return success();
}

int GpuSession::flushes_for(int64_t bytes) const {
  const double flush = static_cast<double>(bytes) / kFastestWrite;
  return flush > 0 ? std::clamp(static_cast<int>(std::ceil(kCover * launch_.value / flush)), 1, kMostFlushes) : 1;
}

Result<RunnerTimes> GpuSession::time(const RunnerTime& request) {
  for (const int slot : request.slots) SOLSTICE_CHECK(check_slot(slot));
  if (request.slots.empty() || request.slots.size() > 4096)
    return fail(Code::bad_argument, "between 1 and 4096 repetitions can be timed");
  SOLSTICE_CHECK(ensure_flush(request.flush_bytes));
  SOLSTICE_CHECK(driver_.check(driver_.cuCtxResetPersistingL2Cache(), "reset persisting L2 lines"));
  return request.cupti ? time_cupti(request) : time_events(request);
}

Result<RunnerTimes> GpuSession::time_events(const RunnerTime& request) {
  const size_t n = request.slots.size();
  SOLSTICE_CHECK(ensure_events(2 * n));
  RunnerTimes out;
  std::vector<double> launches;
  const int flushes = flushes_for(request.flush_bytes);
  for (size_t i = 0; i < n; ++i) {
    SOLSTICE_CHECK(scrub_->launch(stream_));
    SOLSTICE_CHECK(clear_behind_flush(request.flush_bytes));
    SOLSTICE_CHECK(poison_workspace(request.poison));
    for (int f = 0; f < flushes; ++f) SOLSTICE_CHECK(flush_l2(request.flush_bytes));
    SOLSTICE_CHECK(driver_.check(driver_.cuEventRecord(events_[2 * i], stream_), "record an event"));
    SOLSTICE_CHECK(launch(request.slots[i]));
    launches.push_back(launch_.value);
    SOLSTICE_CHECK(driver_.check(driver_.cuEventRecord(events_[2 * i + 1], stream_), "record an event"));
  }
  SOLSTICE_CHECK(wait(request.deadline));
  SOLSTICE_CHECK(scrub_->check());
  for (size_t i = 0; i < n; ++i) {
    float milliseconds = 0;
    SOLSTICE_CHECK(
        driver_.check(driver_.cuEventElapsedTime(&milliseconds, events_[2 * i], events_[2 * i + 1]), "read an event"));
    out.seconds.push_back(milliseconds * 1e-3);
  }
  out.launch = Seconds(median_of(std::move(launches)));
  return out;
}

Result<RunnerTimes> GpuSession::time_cupti(const RunnerTime& request) {
  if (request.flush_bytes == 0) return fail(Code::bad_argument, "a trace needs flushes to tell repetitions apart");
  SOLSTICE_CHECK(start_tracing());
  Status queued = success();
  for (size_t i = 0; i < request.slots.size() && queued.ok(); ++i) {
    queued = flush_l2(request.flush_bytes);
    if (queued.ok()) queued = launch(request.slots[i]);
  }
  if (queued.ok()) queued = wait(request.deadline);
  SOLSTICE_CHECK(queued);
  SOLSTICE_TRY(const std::vector<Activity> trace, stop_tracing());
  SOLSTICE_TRY(const auto repetitions,
               split_trace(trace, static_cast<uint64_t>(request.flush_bytes), request.slots.size()));
  RunnerTimes out;
  out.activities = repetitions[0].activities;
  for (const TracedRepetition& repetition : repetitions) {
    out.seconds.push_back(repetition.seconds);
    out.activity_seconds.push_back(repetition.activity_seconds);
    out.activity_starts.push_back(repetition.activity_starts);
    out.activity_ends.push_back(repetition.activity_ends);
    out.same_activities = out.same_activities && repetition.activities == out.activities;
  }
  return out;
}

}  // namespace solstice::runner
