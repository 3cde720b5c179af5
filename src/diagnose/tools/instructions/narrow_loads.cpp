// Global loads of few bytes a thread: each instruction moves a part of what it could.
#include "diagnose/access_width.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_narrow_loads(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  find_narrow_accesses(tool, view, false, out);
}

}  // namespace

extern const Tool solstice_tools_narrow_loads;
const Tool solstice_tools_narrow_loads{
    .name = "narrow loads",
    .question = "Do loads of global memory move few bytes each?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"bits", 32, "bits a thread",
                    "a quarter of the widest access: the same bytes take four times the instructions"},
                   {"gain", 1.05, "x", "a finding of medium severity"}},
    .paper = "KernelPro: vectorisation",
    .of_kernel = find_narrow_loads,
    .shows_as = stalls_of_narrow_accesses(),
};

}  // namespace solstice::diagnose
