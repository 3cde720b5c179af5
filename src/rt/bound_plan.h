// A plan in one CUDA context: its functions, streams, events, constants, and the addresses it was last bound to.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rt/arguments.h"
#include "rt/cuda_driver.h"
#include "rt/load.h"
#include "rt/nvtx.h"
#include "rt/schedule.h"
#include "rt/workspace.h"

namespace solstice::rt {

class BoundPlan {
 public:
  static Result<std::unique_ptr<BoundPlan>> create(const Driver& driver, const LoadedPlan& loaded,
                                                   const WorkspaceLayout& layout,
                                                   std::span<const cu::Library> libraries, const Nvtx* profiler);
  ~BoundPlan();
  BoundPlan(const BoundPlan&) = delete;

  Status prepare(std::span<void* const> tensors, void* workspace, cu::Stream stream);
  Status launch(std::span<void* const> tensors, void* workspace, cu::Stream stream);

 private:
  struct BoundStep {
    const Step* step = nullptr;
    const ScheduledStep* order = nullptr;
    cu::Function function = nullptr;
    cu::LaunchConfig config{};
    cu::LaunchAttribute attributes[3]{};
    PackedArguments arguments;
    size_t to = 0, from = 0;  // buffers of a memset or copy
  };
  struct BoundPhase {
    std::string name;
    Schedule schedule;
    std::vector<BoundStep> steps;
    std::vector<cu::Event> events;
  };

  BoundPlan(const Driver& driver, const LoadedPlan& loaded, const WorkspaceLayout& layout, const Nvtx* profiler)
      : driver_(driver), loaded_(loaded), layout_(layout), profiler_(profiler) {}
  Status build_phase(Phase phase, std::span<const cu::Library> libraries, BoundPhase& out);
  Result<BoundStep> build_step(const ScheduledStep& order, std::span<const cu::Library> libraries);
  Status build_launch(BoundStep& bound, std::span<const cu::Library> libraries);
  Status fill_constants();
  void mark_frozen();

  Status bind(std::span<void* const> tensors, void* workspace, bool preparing);
  Status bind_tensor(size_t index, void* address, bool preparing);
  Status bind_workspace(void* workspace, bool preparing);
  Status run(BoundPhase& phase, cu::Stream stream);
  Status run_step(BoundPhase& phase, BoundStep& bound, cu::Stream stream);
  cu::Stream stream_of(const ScheduledStep& order, cu::Stream caller) const {
    return order.stream == 0 ? caller : streams_[static_cast<size_t>(order.stream) - 1];
  }

  const Driver& driver_;
  const LoadedPlan& loaded_;
  const WorkspaceLayout& layout_;
  const Nvtx* profiler_;
  BoundPhase prepare_, launch_;
  std::vector<cu::Stream> streams_;
  cu::DevicePtr constants_ = 0;
  cu::DevicePtr workspace_ = 0;
  std::vector<cu::DevicePtr> bases_;
  std::vector<char> moved_;
  std::vector<char> frozen_;  // buffers that the prepare phase used: moving them needs another prepare
  bool workspace_frozen_ = false;
  bool any_moved_ = false;
  bool prepared_ = false;
};

}  // namespace solstice::rt
