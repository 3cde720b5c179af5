// An array of a thread that is indexed by what the compiler does not know lies in local memory.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_local_arrays(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const int64_t stack = step->stack_bytes.value_or(0);
    const bool spills = step->spill_stores.value_or(0) + step->spill_loads.value_or(0) > 0;
    if (stack < static_cast<int64_t>(tool.threshold("bytes")) || spills) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` keeps {} bytes a thread in local memory, which no spill explains: an array that is indexed "
                    "by a value known at run time alone",
                    step->entry, stack),
        view.gain_to_bound(*step, "if the array were in registers"));
    finding.place.step = step->step;
    if (step->sass) name_place(*step, &step->sass->mix, accesses_of("local"), finding);
    finding.evidence.push_back(evidence("stack", static_cast<double>(stack), "B/thread", "ptxas"));
    finding.actions.push_back(advice("unroll the loops over the array, so that every index is a constant"));
    finding.confidence = confidence_of_guess(*step);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_local_array;
const Tool solstice_tools_local_array{
    .name = "local array",
    .question = "Does a thread keep an array in local memory?",
    .sources = {"ptxas"},
    .classes = {},
    .thresholds = {{"bytes", 1, "bytes a thread", "any stack that is not spilled registers"}},
    .of_kernel = find_local_arrays,
    .shows_as = stalls_of_narrow_accesses(),
    .explains = {"reads again", "partial writes", "L2 thrashing"},
};

}  // namespace solstice::diagnose
