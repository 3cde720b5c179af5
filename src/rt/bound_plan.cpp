#include "rt/bound_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"

namespace solstice::rt {
namespace {

int64_t volume(const std::array<int64_t, 3>& v) { return v[0] * v[1] * v[2]; }

// A kernel has one limit of dynamic shared memory, however many steps launch it.
int64_t largest_shared(const Plan& plan, const Step& wanted) {
  int64_t bytes = 0;
  for (const Step& step : plan.steps) {
    if (step.module == wanted.module && step.entry == wanted.entry) bytes = std::max(bytes, step.shared_bytes);
  }
  return bytes;
}

cu::DevicePtr address_of(void* pointer) { return reinterpret_cast<cu::DevicePtr>(pointer); }

}  // namespace

Status BoundPlan::bind_tensor(size_t index, void* pointer, bool preparing) {
  const PlanBuffer& buffer = loaded_.plan.buffers[index];
  const cu::DevicePtr address = address_of(pointer);
  if (bases_[index] == address && prepared_) return success();
  if (address == 0 && buffer.bytes > 0)
    return fail(Code::bad_argument, fmt::format("tensor `{}` is null", buffer.name));
  if (address % static_cast<uint64_t>(buffer.alignment) != 0) {
    return fail(Code::bad_argument,
                fmt::format("tensor `{}` lies at {:#x}, and the kernels rely on {}-byte alignment", buffer.name,
                            address, buffer.alignment),
                "pass a copy of it, in memory of its own");
  }
  if (!preparing && frozen_[index]) {
    return fail(Code::bad_argument, fmt::format("tensor `{}` has moved since prepare, which used it", buffer.name),
                "prepare again");
  }
  bases_[index] = address;
  moved_[index] = any_moved_ = true;
  return success();
}

Status BoundPlan::bind_workspace(void* workspace, bool preparing) {
  const cu::DevicePtr address = address_of(workspace);
  if (address == workspace_ && prepared_) return success();
  if (layout_.bytes > 0 && (address == 0 || address % kWorkspaceAlignment != 0)) {
    return fail(Code::bad_argument, fmt::format("the workspace lies at {:#x}", address),
                fmt::format("pass {} bytes, {}-byte aligned", layout_.bytes, kWorkspaceAlignment));
  }
  if (!preparing && workspace_frozen_) {
    return fail(Code::bad_argument, "the workspace has moved since prepare, which filled it", "prepare again");
  }
  workspace_ = address;
  for (size_t i = 0; i < bases_.size(); ++i) {
    if (layout_.offsets[i] < 0) continue;
    bases_[i] = address + static_cast<uint64_t>(layout_.offsets[i]);
    moved_[i] = any_moved_ = true;
  }
  return success();
}

Status BoundPlan::bind(std::span<void* const> tensors, void* workspace, bool preparing) {
  if (tensors.size() != loaded_.interface.size()) {
    return fail(Code::bad_argument,
                fmt::format("{} tensors were given, the plan has {}", tensors.size(), loaded_.interface.size()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) SOLSTICE_CHECK(bind_tensor(loaded_.interface[i], tensors[i], preparing));
  SOLSTICE_CHECK(bind_workspace(workspace, preparing));
  if (!any_moved_) return success();
  for (BoundPhase* phase : {&prepare_, &launch_}) {
    for (BoundStep& step : phase->steps) SOLSTICE_CHECK(step.arguments.bind(driver_, bases_, moved_));
  }
  std::fill(moved_.begin(), moved_.end(), char{0});
  any_moved_ = false;
  return success();
}

Status BoundPlan::prepare(std::span<void* const> tensors, void* workspace, cu::Stream stream) {
  prepared_ = false;
  SOLSTICE_CHECK(bind(tensors, workspace, true));
  SOLSTICE_CHECK(run(prepare_, stream));
  SOLSTICE_CHECK(driver_.check(driver_.cuStreamSynchronize(stream), "run the plan's prepare phase"));
  prepared_ = true;
  return success();
}

Status BoundPlan::launch(std::span<void* const> tensors, void* workspace, cu::Stream stream) {
  if (!prepared_) return fail(Code::bad_argument, "the plan was not prepared in this CUDA context");
  SOLSTICE_CHECK(bind(tensors, workspace, false));
  return run(launch_, stream);
}

Status BoundPlan::run(BoundPhase& phase, cu::Stream stream) {
  const Range range(profiler_, phase.name);
  const Schedule& schedule = phase.schedule;
  if (schedule.begin_event >= 0) {
    SOLSTICE_CHECK(driver_.check(driver_.cuEventRecord(phase.events[static_cast<size_t>(schedule.begin_event)], stream),
                                 "record an event"));
  }
  for (BoundStep& step : phase.steps) SOLSTICE_CHECK(run_step(phase, step, stream));
  for (const int event : schedule.join) {
    SOLSTICE_CHECK(
        driver_.check(driver_.cuStreamWaitEvent(stream, phase.events[static_cast<size_t>(event)], 0), "join a stream"));
  }
  return success();
}

Status BoundPlan::run_step(BoundPhase& phase, BoundStep& bound, cu::Stream caller) {
  const Step& step = *bound.step;
  const Range range(profiler_, step.name);
  const cu::Stream stream = stream_of(*bound.order, caller);
  for (const int event : bound.order->waits) {
    SOLSTICE_CHECK(driver_.check(driver_.cuStreamWaitEvent(stream, phase.events[static_cast<size_t>(event)], 0),
                                 "wait for an event"));
  }
  cu::Result result = cu::kSuccess;
  if (step.kind == StepKind::kLaunch) {
    bound.config.stream = stream;
    result = driver_.cuLaunchKernelEx(&bound.config, bound.function, bound.arguments.parameters(), nullptr);
  } else {
    const cu::DevicePtr to = bases_[bound.to] + static_cast<uint64_t>(step.offset);
    const size_t bytes = static_cast<size_t>(step.bytes);
    const unsigned pattern = static_cast<unsigned>(step.pattern);
    if (step.kind == StepKind::kCopy) {
      result =
          driver_.cuMemcpyDtoDAsync(to, bases_[bound.from] + static_cast<uint64_t>(step.from_offset), bytes, stream);
    } else if (step.pattern_bytes == 4) {
      result = driver_.cuMemsetD32Async(to, pattern, bytes / 4, stream);
    } else if (step.pattern_bytes == 2) {
      result = driver_.cuMemsetD16Async(to, static_cast<unsigned short>(pattern), bytes / 2, stream);
    } else {
      result = driver_.cuMemsetD8Async(to, static_cast<unsigned char>(pattern), bytes, stream);
    }
  }
  if (result != cu::kSuccess) return driver_.check(result, fmt::format("plan step `{}`", step.name));
  if (bound.order->record < 0) return success();
  return driver_.check(driver_.cuEventRecord(phase.events[static_cast<size_t>(bound.order->record)], stream),
                       "record an event");
}

Status BoundPlan::build_launch(BoundStep& bound, std::span<const cu::Library> libraries) {
  const Step& step = *bound.step;
  size_t module = 0;
  while (loaded_.plan.modules[module].name != step.module) ++module;
  cu::Kernel kernel = nullptr;
  const cu::Result found = driver_.cuLibraryGetKernel(&kernel, libraries[module], step.entry.c_str());
  if (found == cu::kNotFound)
    return fail(Code::bad_record, fmt::format("module `{}` has no kernel `{}`", step.module, step.entry));
  SOLSTICE_CHECK(driver_.check(found, fmt::format("find kernel `{}` in module `{}`", step.entry, step.module)));
  cu::Device device = 0;
  SOLSTICE_CHECK(driver_.check(driver_.cuCtxGetDevice(&device), "find the current GPU"));
  if (const int64_t shared = largest_shared(loaded_.plan, step); shared > 0) {
    SOLSTICE_CHECK(driver_.check(
        driver_.cuKernelSetAttribute(cu::kMaxDynamicSharedBytes, static_cast<int>(shared), kernel, device),
        fmt::format("give `{}` {} bytes of shared memory", step.entry, shared)));
  }
  if (volume(step.cluster) > 8) {
    SOLSTICE_CHECK(driver_.check(driver_.cuKernelSetAttribute(cu::kNonPortableClusterAllowed, 1, kernel, device),
                                 fmt::format("allow `{}` clusters of {}", step.entry, volume(step.cluster))));
  }
  SOLSTICE_CHECK(
      driver_.check(driver_.cuKernelGetFunction(&bound.function, kernel), fmt::format("load kernel `{}`", step.entry)));
  auto& config = bound.config;
  for (size_t i = 0; i < 3; ++i) {
    config.grid[i] = static_cast<unsigned>(step.grid[i]);
    config.block[i] = static_cast<unsigned>(step.block[i]);
  }
  config.shared_bytes = static_cast<unsigned>(step.shared_bytes);
  const auto attribute = [&](cu::LaunchAttributeId id) -> cu::LaunchAttributeValue& {
    cu::LaunchAttribute& next = bound.attributes[config.attribute_count++];
    next.id = id;
    return next.value;
  };
  if (step.cooperative) attribute(cu::kAttributeCooperative).cooperative = 1;
  if (step.pdl) attribute(cu::kAttributeProgrammaticStreamSerialization).programmatic_stream_serialization = 1;
  if (volume(step.cluster) > 1) {
    attribute(cu::kAttributeClusterDimension).cluster = {static_cast<unsigned>(step.cluster[0]),
                                                         static_cast<unsigned>(step.cluster[1]),
                                                         static_cast<unsigned>(step.cluster[2])};
  }
  return success();
}

Result<BoundPlan::BoundStep> BoundPlan::build_step(const ScheduledStep& order, std::span<const cu::Library> libraries) {
  BoundStep bound;
  bound.step = &loaded_.plan.steps[order.step];
  bound.order = &order;
  if (bound.step->kind == StepKind::kLaunch) {
    SOLSTICE_CHECK(build_launch(bound, libraries));
    SOLSTICE_TRY(bound.arguments, PackedArguments::pack(bound.step->arguments, loaded_.buffer_index));
    return bound;
  }
  bound.to = loaded_.buffer_index.at(bound.step->buffer);
  if (bound.step->kind == StepKind::kCopy) bound.from = loaded_.buffer_index.at(bound.step->from);
  return bound;
}

Status BoundPlan::build_phase(Phase phase, std::span<const cu::Library> libraries, BoundPhase& out) {
  out.name = loaded_.plan.program + (phase == Phase::kPrepare ? " prepare" : "");
  out.schedule = make_schedule(loaded_.plan, phase);
  for (const ScheduledStep& order : out.schedule.steps) {
    SOLSTICE_TRY(BoundStep step, build_step(order, libraries));
    out.steps.push_back(std::move(step));
  }
  // Only now do the steps stay where they are.
  for (BoundStep& step : out.steps) step.config.attributes = step.attributes;
  out.events.resize(static_cast<size_t>(out.schedule.events));
  for (cu::Event& event : out.events) {
    SOLSTICE_CHECK(driver_.check(driver_.cuEventCreate(&event, cu::kEventDisableTiming), "create an event"));
  }
  return success();
}

Status BoundPlan::fill_constants() {
  Plan only_constants;  // the same layout rule, with constants in the place of workspace
  for (PlanBuffer buffer : loaded_.plan.buffers) {
    buffer.kind = buffer.kind == BufferKind::kConstant ? BufferKind::kWorkspace : BufferKind::kConstant;
    only_constants.buffers.push_back(std::move(buffer));
  }
  const WorkspaceLayout layout = lay_out_workspace(only_constants);
  if (layout.bytes == 0) return success();
  SOLSTICE_CHECK(driver_.check(driver_.cuMemAlloc(&constants_, static_cast<size_t>(layout.bytes)),
                               "allocate the plan's constants"));
  for (size_t i = 0; i < bases_.size(); ++i) {
    if (layout.offsets[i] < 0) continue;
    SOLSTICE_TRY(const std::string data, base64_decode(loaded_.plan.buffers[i].data));
    bases_[i] = constants_ + static_cast<uint64_t>(layout.offsets[i]);
    moved_[i] = any_moved_ = true;
    if (data.empty()) continue;
    SOLSTICE_CHECK(driver_.check(driver_.cuMemcpyHtoD(bases_[i], data.data(), data.size()), "fill a constant"));
  }
  return success();
}

void BoundPlan::mark_frozen() {
  for (const Step& step : loaded_.plan.steps) {
    if (step.phase != Phase::kPrepare) continue;
    const auto mark = [&](const std::string& name) {
      const auto found = loaded_.buffer_index.find(name);
      if (found != loaded_.buffer_index.end()) frozen_[found->second] = 1;
    };
    mark(step.buffer);
    mark(step.from);
    for (const Argument& argument : step.arguments) {
      mark(argument.kind == ArgumentKind::kTensorMap ? argument.map.buffer : argument.buffer);
    }
  }
  for (size_t i = 0; i < frozen_.size(); ++i) {
    const PlanBuffer& buffer = loaded_.plan.buffers[i];
    if (buffer.kind == BufferKind::kWorkspace && buffer.persistent) workspace_frozen_ = true;
  }
}

Result<std::unique_ptr<BoundPlan>> BoundPlan::create(const Driver& driver, const LoadedPlan& loaded,
                                                     const WorkspaceLayout& layout,
                                                     std::span<const cu::Library> libraries, const Nvtx* profiler) {
  std::unique_ptr<BoundPlan> out(new BoundPlan(driver, loaded, layout, profiler));
  out->bases_.assign(loaded.plan.buffers.size(), 0);
  out->moved_.assign(loaded.plan.buffers.size(), 0);
  out->frozen_.assign(loaded.plan.buffers.size(), 0);
  out->streams_.resize(static_cast<size_t>(loaded.plan.streams) - 1);
  for (cu::Stream& stream : out->streams_) {
    SOLSTICE_CHECK(driver.check(driver.cuStreamCreate(&stream, cu::kStreamNonBlocking), "create a stream"));
  }
  SOLSTICE_CHECK(out->build_phase(Phase::kPrepare, libraries, out->prepare_));
  SOLSTICE_CHECK(out->build_phase(Phase::kLaunch, libraries, out->launch_));
  SOLSTICE_CHECK(out->fill_constants());
  out->mark_frozen();
  return out;
}

BoundPlan::~BoundPlan() {
  for (const BoundPhase* phase : {&prepare_, &launch_}) {
    for (cu::Event event : phase->events) {
      if (event) driver_.cuEventDestroy(event);
    }
  }
  for (cu::Stream stream : streams_) {
    if (stream) driver_.cuStreamDestroy(stream);
  }
  if (constants_) driver_.cuMemFree(constants_);
}

}  // namespace solstice::rt
