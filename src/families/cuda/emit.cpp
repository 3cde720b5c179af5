#include "families/cuda/emit.h"

#include <algorithm>

#include "families/cuda/descriptor.h"
#include "families/emission.h"

namespace solstice::families::cuda {
namespace {

std::array<int64_t, 3> three(const Extents& extents) {
  std::array<int64_t, 3> out = {1, 1, 1};
  std::copy(extents.values.begin(), extents.values.end(), out.begin());
  return out;
}

Result<Argument> argument_of(const CudaLaunch& launch, const ir::KnobValue& arg) {
  Argument out;
  if (arg.tensor < 0) {
    out.kind = ArgumentKind::kI64;
    out.integer = arg.integer;
    return out;
  }
  const auto same = [&](const ir::KnobValue& entry) { return entry.text == arg.text; };
  const auto entry = std::find_if(launch.tma.begin(), launch.tma.end(), same);
  if (entry != launch.tma.end()) {
    out.kind = ArgumentKind::kTensorMap;
    SOLSTICE_TRY(out.map, descriptor_of(launch.context->program, *entry));
    return out;
  }
  const ir::Tensor& tensor = launch.context->program.tensor(arg.tensor);
  return pointer_to(tensor.name, arg.offset * size_of(*tensor.dtype));
}

}  // namespace

Result<Emission> emit(const ir::Kernel& kernel, const CudaLaunch& launch) {
  if (const Rule<CudaLaunch>* const broken = first_broken(launch_rules(), launch)) {
    return fail(Code::illegal_knobs, broken->reason(launch));
  }
  const ir::Source* const source = launch.context->program.find_source(launch.source);
  if (!source || !launch.has_entry) return fail(Code::illegal_knobs, "`by cuda` needs a source and an entry");
  Emission out;
  out.sources.push_back({kernel.name, source->text, {}, source->name});
  Step step;
  step.name = step.module = kernel.name;
  step.entry = launch.entry;
  step.grid = three(launch.grid);
  step.block = three(launch.block);
  step.cluster = three(launch.cluster);
  step.shared_bytes = launch.shared;
  for (const ir::KnobValue& arg : launch.args) {
    SOLSTICE_TRY(Argument argument, argument_of(launch, arg));
    step.arguments.push_back(std::move(argument));
  }
  out.steps.push_back(std::move(step));
  return out;
}

}  // namespace solstice::families::cuda
