// Family `cuda`: device code of a person or a model; its equations are the claim it is verified against.
#include "families/cuda/emit.h"
#include "families/cuda/launch.h"

namespace solstice::families {
namespace {

const std::vector<KnobSpec>& cuda_knobs() {
  static const std::vector<KnobSpec> specs = {
      {"", "string", {}, "name of a source", "", "a `source` item of the program, else a file beside it"},
      {"entry", "string", {}, "name of an extern \"C\" kernel", "", "the kernel to launch"},
      {"args",
       "tuple",
       {},
       "the tensors that the equations read and write, and dims",
       "",
       "arguments, in the order of the parameters: pointers, `long long`s"},
      {"grid", "tuple", {}, "up to three sizes", "", "blocks"},
      {"block", "tuple", {}, "up to three sizes", "", "threads a block"},
      {"cluster", "tuple", {}, "up to three sizes", "1", "blocks a cluster"},
      {"smem", "int", {}, "0..the machine's limit", "0", "bytes of dynamic shared memory"},
      {"tma",
       "tuple",
       {},
       "tensor(box=..., swizzle=...)",
       "none",
       "tensors that are passed as TMA descriptors in their place"},
  };
  return specs;
}

void check_cuda(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  check_each(cuda::launch_rules(), cuda::launch_of(context, kernel), kernel.span, diagnostics);
}

std::vector<RuleText> cuda_rules() { return texts_of(cuda::launch_rules()); }

Match match_cuda(const ir::Program&, const ir::Kernel&) { return {true, "", true}; }

Result<Emission> generate_cuda(const Context& context, const ir::Kernel& kernel) {
  return cuda::emit(kernel, cuda::launch_of(context, kernel));
}

}  // namespace

extern const Family solstice_families_cuda;
const Family solstice_families_cuda = {
    .name = "cuda",
    .help = "CUDA device code of the program; the equations are its specification",
    .available = true,
    .knobs = cuda_knobs,
    .match = match_cuda,
    .check = check_cuda,
    .rules = cuda_rules,
    .cost = cuda::cost_of,
    .propose = nullptr,
    .generate = generate_cuda,
};

}  // namespace solstice::families
