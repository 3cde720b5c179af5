// Family `torch`: known equations that run as the original PyTorch subgraph.
#include "families/declared.h"

namespace solstice::families {
namespace {

const std::vector<KnobSpec>& torch_knobs() {
  static const std::vector<KnobSpec> specs;
  return specs;
}

}  // namespace

extern const Family solstice_families_torch;
const Family solstice_families_torch =
    declared_family("torch", "runs its equations as the original PyTorch operations", torch_knobs);

}  // namespace solstice::families
