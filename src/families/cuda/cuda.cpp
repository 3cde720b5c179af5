// Family `cuda`: device code of a person or a model; its equations are the claim it is verified against.
#include "families/cuda/launch.h"
#include "families/declared.h"

namespace solstice::families {
namespace {

std::vector<KnobSpec> cuda_knobs() {
  return {
      {"", "string", {}, "path of the source", "", "the file with the kernel"},
      {"entry", "string", {}, "name of an extern \"C\" kernel", "", "the kernel to launch"},
      {"args", "tuple", {}, "the tensors that the equations read and write, and dims", "", "in the order of the parameters"},
      {"grid", "tuple", {}, "up to three sizes", "", "blocks"},
      {"block", "tuple", {}, "up to three sizes", "", "threads a block"},
      {"cluster", "tuple", {}, "up to three sizes", "1", "blocks a cluster"},
      {"smem", "int", {}, "0..the machine's limit", "0", "bytes of dynamic shared memory"},
      {"tma", "tuple", {}, "tensor(box=..., swizzle=...)", "none", "tensors that are passed as TMA descriptors"},
  };
}

void check_cuda(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  check_each(cuda::launch_rules(), cuda::launch_of(context, kernel), kernel.span, diagnostics);
}

std::vector<RuleText> cuda_rules() { return texts_of(cuda::launch_rules()); }

}  // namespace

extern const Family solstice_families_cuda;
const Family solstice_families_cuda =
    declared_family("cuda", "given CUDA device code; its equations say what it claims to compute", cuda_knobs, check_cuda, cuda_rules);

}  // namespace solstice::families
