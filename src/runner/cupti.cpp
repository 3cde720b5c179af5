#include "runner/cupti.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace solstice::runner {
namespace {

using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

struct Cupti {
  int (*register_callbacks)(BufferRequested, BufferCompleted) = nullptr;
  int (*enable)(int kind) = nullptr;
  int (*disable)(int kind) = nullptr;
  int (*flush)(uint32_t flags) = nullptr;
  int (*next_record)(uint8_t* buffer, size_t valid, void** record) = nullptr;
  int (*dropped)(void* context, uint32_t stream, size_t* count) = nullptr;
};

struct State {
  Cupti api;
  bool open = false;
  std::mutex mutex;
  std::vector<Activity> records;
  size_t dropped = 0;
};

State& state() {
  static State instance;
  return instance;
}

// CUpti_ActivityKind and the fixed places in its records.
constexpr int kMemcpyKind = 1, kMemsetKind = 2, kConcurrentKernelKind = 10;
constexpr int kTraced[] = {kMemcpyKind, kMemsetKind, kConcurrentKernelKind};
constexpr size_t kBytesAt = 8, kStartAt = 16, kEndAt = 24, kNameAt = 104;
constexpr size_t kBufferBytes = size_t{4} << 20;

template <typename T>
T read_at(const void* record, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return value;
}

void keep(const void* record) {
  const int kind = read_at<int>(record, 0);
  if (std::find(std::begin(kTraced), std::end(kTraced), kind) == std::end(kTraced)) return;
  Activity out;
  out.start = read_at<uint64_t>(record, kStartAt);
  out.end = read_at<uint64_t>(record, kEndAt);
  if (kind == kConcurrentKernelKind) {
    const char* name = read_at<const char*>(record, kNameAt);
    out.name = name ? name : "?";
  } else {
    out.kind = kind == kMemcpyKind ? ActivityKind::kMemcpy : ActivityKind::kMemset;
    out.name = kind == kMemcpyKind ? "memcpy" : "memset";
    out.bytes = read_at<uint64_t>(record, kBytesAt);
  }
  state().records.push_back(std::move(out));
}

void on_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *max_records = 0;
}

void on_completed(void* context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  void* record = nullptr;
  while (s.api.next_record(buffer, valid, &record) == 0) keep(record);
  size_t dropped = 0;
  if (s.api.dropped(context, stream, &dropped) == 0) s.dropped += dropped;
  std::free(buffer);
}

template <typename T>
bool find(void* library, const char* name, T& out) {
  out = reinterpret_cast<T>(::dlsym(library, name));
  return out != nullptr;
}

bool load_from(const std::string& name, std::string& why) {
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* said = ::dlerror();
    why += fmt::format("{}{}", why.empty() ? "" : "; ", said ? said : name);
    return false;
  }
  Cupti& api = state().api;
  const bool whole = find(library, "cuptiActivityRegisterCallbacks", api.register_callbacks) &&
                     find(library, "cuptiActivityEnable", api.enable) &&
                     find(library, "cuptiActivityDisable", api.disable) &&
                     find(library, "cuptiActivityFlushAll", api.flush) &&
                     find(library, "cuptiActivityGetNextRecord", api.next_record) &&
                     find(library, "cuptiActivityGetNumDroppedRecords", api.dropped);
  if (whole && api.register_callbacks(on_requested, on_completed) == 0) return true;
  why += fmt::format("{}{} cannot be used", why.empty() ? "" : "; ", name);
  return false;
}

}  // namespace

Status open_cupti(const std::string& library) {
  if (state().open) return success();
  std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                                    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
  if (!library.empty()) names = {library};
  std::string why;
  for (const std::string& name : names) {
    if (load_from(name, why)) {
      state().open = true;
      return success();
    }
  }
  return fail(Code::no_driver, "CUPTI cannot be loaded: " + why);
}

bool cupti_is_open() { return state().open; }

Status start_tracing() {
  State& s = state();
  if (!s.open) return fail(Code::no_driver, "CUPTI is not loaded");
  {
    const std::lock_guard lock(s.mutex);
    s.records.clear();
    s.dropped = 0;
  }
  for (const int kind : kTraced) {
    if (const int error = s.api.enable(kind))
      return fail(Code::cuda_error, fmt::format("CUPTI cannot trace (error {})", error));
  }
  return success();
}

Result<std::vector<Activity>> stop_tracing() {
  State& s = state();
  constexpr uint32_t kForced = 1;
  const int flushed = s.api.flush(kForced);
  for (const int kind : kTraced) s.api.disable(kind);
  if (flushed != 0)
    return fail(Code::cuda_error, fmt::format("CUPTI cannot hand over its records (error {})", flushed));
  const std::lock_guard lock(s.mutex);
  if (s.dropped > 0) return fail(Code::cuda_error, fmt::format("CUPTI dropped {} records", s.dropped));
  std::vector<Activity> out = std::move(s.records);
  s.records.clear();
  std::sort(out.begin(), out.end(), [](const Activity& a, const Activity& b) { return a.start < b.start; });
  return out;
}

Result<std::vector<TracedRepetition>> split_trace(const std::vector<Activity>& trace, uint64_t flush_bytes,
                                                  size_t repetitions) {
  std::vector<TracedRepetition> out;
  uint64_t first = 0, last = 0;
  for (const Activity& activity : trace) {
    if (activity.kind == ActivityKind::kMemset && activity.bytes == flush_bytes) {
      out.emplace_back();
      first = last = 0;
    } else if (!out.empty()) {
      TracedRepetition& now = out.back();
      if (now.activities.empty()) first = activity.start;
      const uint64_t from = std::max(activity.start, last);
      last = std::max(last, activity.end);
      now.activities.push_back(activity.name);
      now.activity_seconds.push_back(static_cast<double>(last - std::min(from, last)) * 1e-9);
      now.activity_starts.push_back(static_cast<double>(activity.start - first) * 1e-9);
      now.activity_ends.push_back(static_cast<double>(activity.end - first) * 1e-9);
      now.seconds = static_cast<double>(last - first) * 1e-9;
    }
  }
  if (out.size() != repetitions) {
    return fail(Code::candidate_failed, fmt::format("the trace holds {} repetitions of {}", out.size(), repetitions));
  }
  for (const TracedRepetition& repetition : out) {
    if (repetition.activities.empty())
      return fail(Code::candidate_failed, "a traced repetition ran nothing on the GPU");
  }
  return out;
}

}  // namespace solstice::runner
