// Executor: runs a plan on the current CUDA context.
//
// prepare() may allocate and synchronise: it loads the cubins, sets function attributes, fills constants, encodes TMA
// descriptors and runs the prepare phase to its end. launch() neither allocates nor synchronises and can be captured
// in a graph; it encodes descriptors again only for buffers that moved. `tensors` are the device addresses of the
// interface buffers in plan order, `workspace` a 256-byte aligned allocation of workspace_bytes().
//
// One Executor serves several contexts, each prepared on its own. Calls may come from several threads; two launches
// that overlap in time need different workspaces, which the caller sees to.
// Errors: bad_argument (wrong count, null or misaligned tensor, not prepared, moved since prepare), cuda_error.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "base/result.h"
#include "rt/cuda_driver.h"
#include "rt/load.h"
#include "rt/nvtx.h"
#include "rt/workspace.h"

namespace solstice::rt {

class BoundPlan;

class Executor {
 public:
  // `driver` and `profiler` outlive the executor. `workspace_gap`: red zones around the workspace's buffers. A profiler
  // sees a range for each call and each step.
  static Result<std::unique_ptr<Executor>> create(const Driver& driver, LoadedPlan loaded, int64_t workspace_gap = 0,
                                                  const Nvtx* profiler = nullptr);
  ~Executor();

  const Plan& plan() const { return loaded_.plan; }
  const LoadedPlan& loaded() const { return loaded_; }
  size_t tensor_count() const { return loaded_.interface.size(); }
  const PlanBuffer& tensor(size_t i) const { return loaded_.plan.buffers[loaded_.interface[i]]; }
  int64_t workspace_bytes() const { return layout_.bytes; }
  const WorkspaceLayout& workspace() const { return layout_; }

  Status prepare(std::span<void* const> tensors, void* workspace, cu::Stream stream);
  Status launch(std::span<void* const> tensors, void* workspace, cu::Stream stream);

 private:
  Executor(const Driver& driver, LoadedPlan loaded, int64_t gap, const Nvtx* profiler);
  Status load_libraries();
  Result<BoundPlan*> bound_here(bool create);

  const Driver& driver_;
  LoadedPlan loaded_;
  WorkspaceLayout layout_;
  const Nvtx* profiler_;
  std::mutex mutex_;
  std::vector<cu::Library> libraries_;  // context-independent
  std::map<cu::Context, std::unique_ptr<BoundPlan>> bound_;
  cu::Context last_context_ = nullptr;
  BoundPlan* last_bound_ = nullptr;
};

}  // namespace solstice::rt
