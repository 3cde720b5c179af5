// From a scheduled program to a launch plan: asks each kernel's family for sources and steps and lays out the buffers.
// No compiler runs here; the plan's modules get their cubins afterwards (evaluate/build.h).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "families/family.h"
#include "ir/program.h"
#include "record/plan.h"

namespace solstice::evaluate {

struct Lowered {
  Plan plan;                              // modules are named, their cubins still empty
  std::vector<families::Source> sources;  // one a module, in the same order
};

// Elements of memory from a tensor's first to its last, gaps between them included.
int64_t spanned_elements(const ir::Tensor& tensor);

// Where knobs are written: by the begin of their kernel's span and by name. An error of one that is not in it underlines
// the kernel.
using KnobPlaces = std::map<std::pair<int, std::string>, Span>;

// The family of a kernel, with the names and values of its knobs checked; null where there is none. What can be said
// of a schedule whose equations have errors.
const families::Family* check_settings(const ir::Kernel& kernel, const KnobPlaces& places, Diagnostics& diagnostics);

// Every rule that needs no compiler: families exist, knob names and values, the families' own legality.
void check_schedule(const families::Context& context, const KnobPlaces& places, Diagnostics& diagnostics);

// What of the language the program uses that no kernel can be made of yet, families aside.
std::vector<ir::NotYet> not_built(const ir::Program& program);

// Errors: not_yet (a declared family without a generator; `random`, `opaque`, `same` on intermediates, frozen kernels
// without --weights frozen), illegal_knobs, and what families report.
Result<Lowered> lower(const families::Context& context);

}  // namespace solstice::evaluate
