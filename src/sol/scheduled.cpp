#include "sol/scheduled.h"

#include <algorithm>

#include "ir/count.h"
#include "sol/practical.h"

namespace solstice::sol {
namespace {

// The counted equations of a kernel.
FusedKernel counted_kernel(const ir::Kernel& kernel, const ir::Count& count) {
  FusedKernel out;  // a map: nothing is read twice
  for (size_t i = 0; i < count.equations.size(); ++i) {
    const auto& all = kernel.equations;
    if (std::find(all.begin(), all.end(), count.equations[i].equation) != all.end()) out.equations.push_back(i);
  }
  return out;
}

bool is_tensor_term(const SolTerm& term) { return term.resource.starts_with("tensor."); }

std::vector<ResourceNeed> summed_by_resource(const std::vector<SolTerm>& terms) {
  std::vector<ResourceNeed> out;
  for (const SolTerm& term : terms) {
    auto at =
        std::find_if(out.begin(), out.end(), [&](const ResourceNeed& need) { return need.resource == term.resource; });
    if (at == out.end())
      at = out.insert(out.end(), {term.resource, is_tensor_term(term) ? term.what : "", term.unit, 0, Seconds(0)});
    at->amount += term.amount;
    at->time += term.time;
  }
  return out;
}

}  // namespace

Result<std::vector<std::vector<ResourceNeed>>> needs_of_kernels(const ir::Program& program,
                                                                const machine::Machine& machine,
                                                                const SolOptions& options) {
  const ir::Count count = ir::count(program);
  std::vector<FusedKernel> kernels;
  for (const ir::Kernel& kernel : program.kernels) kernels.push_back(counted_kernel(kernel, count));
  SOLSTICE_TRY(const auto terms, terms_of_kernels(program, count, machine, options, kernels));
  std::vector<std::vector<ResourceNeed>> out(kernels.size());
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!program.kernels[k].once) out[k] = summed_by_resource(terms[k]);
  }
  return out;
}

}  // namespace solstice::sol
