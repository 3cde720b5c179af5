#include "ir/equivalence/cone.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/analysis/ancestors.h"

namespace solstice::ir {

Program cone(const Program& program, const std::string& wanted, const std::set<std::string>& given) {
  Program out = program;
  for (Tensor& tensor : out.tensors) {
    const bool defined =
        tensor.kind == TensorKind::kOutput || tensor.kind == TensorKind::kTensor || tensor.kind == TensorKind::kLocal;
    if (!defined) continue;
    tensor.kind = tensor.name == wanted      ? TensorKind::kOutput
                  : given.count(tensor.name) ? TensorKind::kInput
                                             : TensorKind::kLocal;
    tensor.into = tensor.same = -1;
    // Storage rounds nothing (docs/language.md, section 8): what is given here need not be of the format.
    if (tensor.kind == TensorKind::kInput && tensor.value == ValueKind::kReal) tensor.dtype.reset();
  }
  std::erase_if(out.equations, [&](const Equation& e) { return out.target_of(e).kind == TensorKind::kInput; });
  const std::vector<char> needed = ancestors_of(out, out.find_tensor(wanted));
  std::erase_if(out.equations, [&](const Equation& e) { return !needed[static_cast<size_t>(e.target)]; });
  out.kernels.clear();
  out.items.clear();
  for (int e = 0; std::cmp_less(e, out.equations.size()); ++e) out.items.push_back({e, -1, -1});
  return out;
}

}  // namespace solstice::ir
