#include "propose/cut/dataflow.h"

#include <algorithm>
#include <set>

#include "propose/cut/storage.h"

namespace solstice::propose {

Dataflow::Dataflow(const ir::Program& program)
    : formats(storage_formats(program)),
      reads(program.equations.size()),
      readers(program.tensors.size()),
      writers(program.tensors.size()) {
  for (const ir::Tensor& tensor : program.tensors) declared.push_back(tensor.dtype);
  for (size_t e = 0; e < program.equations.size(); ++e) {
    const ir::Equation& equation = program.equations[e];
    std::set<int> read;
    ir::walk(equation.rhs, [&](const ir::Expr& x) {
      if (x.op == ir::Op::kRead) read.insert(x.id);
    });
    reads[e].assign(read.begin(), read.end());
    for (int tensor : read) readers[static_cast<size_t>(tensor)].push_back(static_cast<int>(e));
    writers[static_cast<size_t>(equation.target)].push_back(static_cast<int>(e));
  }
}

bool is_intermediate(const ir::Tensor& tensor) {
  return tensor.kind == ir::TensorKind::kLocal || tensor.kind == ir::TensorKind::kTensor;
}

void place_tensors(ir::Program& program, const Dataflow& flow, const std::vector<int>& group, int kernel) {
  const std::set<int> members(group.begin(), group.end());
  const auto inside = [&](const std::vector<int>& list) {
    return std::all_of(list.begin(), list.end(), [&](int e) { return members.contains(e); });
  };
  std::set<int> placed;  // of a tensor in pieces, all readers and writers are looked at once
  for (int id : group) {
    const int target = program.equation(id).target;
    if (!placed.insert(target).second) continue;
    ir::Tensor& tensor = program.tensors[static_cast<size_t>(target)];
    tensor.kernel = kernel;
    if (!is_intermediate(tensor) || tensor.into >= 0 || tensor.same >= 0) continue;
    const size_t t = static_cast<size_t>(target);
    if (inside(flow.readers[t]) && inside(flow.writers[t])) {
      tensor.kind = ir::TensorKind::kLocal;
      tensor.dtype = flow.declared[t];  // a format that nobody wrote is no permission to round
    } else {
      tensor.kind = ir::TensorKind::kTensor;
      tensor.dtype = flow.formats[t];
    }
  }
}

}  // namespace solstice::propose
