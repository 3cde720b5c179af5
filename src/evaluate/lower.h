// From a scheduled program to a launch plan: asks each kernel's family for sources and steps and lays out the buffers.
// No compiler runs here; the plan's modules get their cubins afterwards (evaluate/build.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/stop.h"
#include "families/family.h"
#include "ir/program.h"
#include "record/plan.h"

namespace solstice::evaluate {

struct Lowered {
  Plan plan;  // modules are named, their cubins still empty; kernels alike share one (like_sources.h)
  std::vector<families::Source> sources;  // one a module, in the same order
};

// Elements of memory from a tensor's first to its last, gaps between them included.
int64_t spanned_elements(const ir::Tensor& tensor);

// The knobs of a kernel, with names and values checked, as further rules take them (families::check_knobs); nothing
// where there is no such family. What can be said of a schedule whose equations have errors.
std::optional<ir::Knobs> check_settings(const ir::Kernel& kernel, const families::KnobPlaces& places,
                                        Diagnostics& diagnostics);

// Of one kernel, whose knobs may be others than those that it has in the program.
void check_kernel(const families::Context& context, const ir::Kernel& written, const families::KnobPlaces& places,
                  Diagnostics& diagnostics);

// Every rule that needs no compiler: families exist, knob names and values, the families' own legality.
void check_schedule(const families::Context& context, const families::KnobPlaces& places, Diagnostics& diagnostics);

// Parts of the language that the program uses and no kernel can be made of yet, families aside.
std::vector<ir::NotYet> not_built(const ir::Program& program);

// Errors: not_yet (a declared family without a generator; `random`, `opaque`, `same` on intermediates, frozen kernels
// without --weights frozen), illegal_knobs, deadline (`stop`, which is asked for each kernel), and what families
// report.
Result<Lowered> lower(const families::Context& context, const StopTest& stop = {});

}  // namespace solstice::evaluate
