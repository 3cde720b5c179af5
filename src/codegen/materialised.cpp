#include "codegen/materialised.h"

#include <algorithm>
#include <set>

#include "ir/walk_distinct.h"

namespace solstice::codegen {
namespace {

void mark_reads(const ir::ExprRef& root, std::vector<char>& tensors) {
  ir::walk_distinct(root, [&](const ir::Expr& e) {
    if (e.op == ir::Op::kRead) tensors[static_cast<size_t>(e.id)] = 1;
  });
}

// By tensor, of those between kernels that this one writes: another kernel or an opaque operation reads it. Readers
// mostly follow soon, so the search begins behind the kernel and ends with the last tensor's first reader: each kernel
// of a long program looks at few equations.
std::vector<char> read_elsewhere(const ir::Program& program, const ir::Kernel& kernel) {
  std::vector<char> read(program.tensors.size(), 0), own(program.equations.size(), 0);
  std::set<int> open;  // tensors without a reader so far
  for (const int id : kernel.equations) {
    own[static_cast<size_t>(id)] = 1;
    const ir::Tensor& target = program.target_of(program.equation(id));
    if (target.kind == ir::TensorKind::kTensor && target.into < 0) open.insert(program.equation(id).target);
  }
  const auto look = [&](const ir::ExprRef& e) {
    mark_reads(e, read);
    std::erase_if(open, [&](int tensor) { return read[static_cast<size_t>(tensor)] != 0; });
  };
  for (const ir::Opaque& opaque : program.opaques) {
    for (const auto& [name, value] : opaque.arguments) look(value);
  }
  const size_t count = own.size(), behind = kernel.equations.empty() ? 0 : static_cast<size_t>(kernel.equations.back());
  for (size_t i = 1; i <= count && !open.empty(); ++i) {
    const size_t id = (behind + i) % count;
    if (!own[id]) look(program.equations[id].rhs);
  }
  return read;
}

}  // namespace

std::vector<int> materialised(const ir::Program& program, const ir::Kernel& kernel) {
  const std::vector<char> read = read_elsewhere(program, kernel);
  std::vector<int> out;
  for (const int id : kernel.equations) {
    const int target = program.equation(id).target;
    const ir::Tensor& tensor = program.tensor(target);
    const bool wanted = tensor.kind == ir::TensorKind::kOutput || tensor.into >= 0 || read[static_cast<size_t>(target)];
    const bool storable = tensor.kind == ir::TensorKind::kOutput || tensor.kind == ir::TensorKind::kTensor;
    if (wanted && storable && std::find(out.begin(), out.end(), target) == out.end()) out.push_back(target);
  }
  return out;
}

}  // namespace solstice::codegen
