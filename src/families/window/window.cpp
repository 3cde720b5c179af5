// Family `window`: reductions of one read over small windows of the output index (pooling).
#include "families/declared.h"

namespace solstice::families {
namespace {

const std::vector<KnobSpec>& window_knobs() {
  static const std::vector<KnobSpec> specs = {
      {"tile", "size", {}, "one to three numbers, one a window axis", "auto", "outputs a block computes", 1, 3},
      {"threads", "int", {"128", "256", "512"}, "", "auto", "threads a block"},
      {"staging", "name", {"shared", "none"}, "", "auto", "whether the inputs of a tile are staged in shared memory"},
  };
  return specs;
}

}  // namespace

extern const Family solstice_families_window;
const Family solstice_families_window =
    declared_family("window", "reductions over sliding windows: max and average pooling", window_knobs);

}  // namespace solstice::families
