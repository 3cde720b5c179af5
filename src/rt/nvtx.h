// Ranges on a profiler's time line (NVTX 3). Nsight Systems and Nsight Compute name their library in
// NVTX_INJECTION64_PATH; without one a range costs a test of a pointer. The names are those of plans and their steps.
#pragma once

#include <string>

namespace solstice::rt {

// The profiler's functions.
struct Nvtx {
  int (*push)(const char* name) = nullptr;  // begins a range of this thread
  int (*pop)() = nullptr;                   // ends its innermost one
};

// The profiler of this process, attached on the first call; null where there is none, or where its library cannot be
// loaded: then it sees the kernels without the names.
const Nvtx* profiler();

// Attaches the profiler whose library this is. One without push and pop is none.
bool attach(const std::string& library, Nvtx& out);

class Range {
 public:
  Range(const Nvtx* nvtx, const std::string& name) : nvtx_(nvtx) {
    if (nvtx_) nvtx_->push(name.c_str());
  }
  ~Range() {
    if (nvtx_) nvtx_->pop();
  }
  Range(const Range&) = delete;

 private:
  const Nvtx* nvtx_;
};

}  // namespace solstice::rt
