#include "ir/count.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/analysis/reads.h"
#include "ir/count/work.h"

namespace solstice::ir {
namespace {

DType wider(DType a, DType b) {
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  return size_of(a) >= size_of(b) ? a : b;
}

// A part of a tensor that is read: how much of it, and the coordinates of each dim.
struct ReadPart {
  double elements = 0;
  std::vector<Marks> marks;
};

bool disjoint(const ReadPart& a, const ReadPart& b) {
  for (size_t d = 0; d < a.marks.size(); ++d) {
    const Marks& x = a.marks[d];
    const Marks& y = b.marks[d];
    bool meet = x.empty() || y.empty();
    for (size_t i = 0; !meet && i < x.size(); ++i) meet = x[i] && y[i];
    if (!meet) return true;
  }
  return false;
}

// At least this many elements are in the union: the largest part, and every other that meets none taken so far.
double united_elements(std::vector<ReadPart> parts) {
  std::sort(parts.begin(), parts.end(), [](const ReadPart& a, const ReadPart& b) { return a.elements > b.elements; });
  std::vector<const ReadPart*> taken;
  double sum = 0;
  for (const ReadPart& part : parts) {
    if (!std::all_of(taken.begin(), taken.end(), [&](const ReadPart* other) { return disjoint(part, *other); }))
      continue;
    taken.push_back(&part);
    sum += part.elements;
  }
  return sum;
}

double elements_read(const Tensor& tensor, const Expr& read, const Domain& domain) {
  std::vector<ExprRef> indices;
  std::vector<int64_t> shape;
  const std::vector<ExprRef> all = read_indices(read);
  for (size_t d = 0; d < all.size(); ++d) {
    const bool repeated = d < tensor.strides.size() && tensor.strides[d] == 0;
    if (repeated) continue;  // one element, many coordinates
    indices.push_back(all[d]);
    shape.push_back(tensor.shape[d]);
  }
  return domain.image(indices, shape);
}

IndexSet indices_of(const std::vector<ExprRef>& expressions) {
  IndexSet out;
  for (const ExprRef& expression : expressions) {
    walk(expression, [&](const Expr& node) {
      if (node.op == Op::kIndex) out.insert(node.id);
    });
  }
  return out;
}

// Of a gather: `least` counts one coordinate of every dim whose index is a value. Each lookup may touch another, as far
// as the dims have them; all together touch no more than there are points.
double most_elements_read(const Tensor& tensor, const Expr& read, const Domain& domain, double least) {
  std::vector<ExprRef> looked_up;
  double coordinates = 1;
  const std::vector<ExprRef> all = read_indices(read);
  for (size_t d = 0; d < all.size(); ++d) {
    if (!reads_values(all[d])) continue;
    looked_up.push_back(all[d]);
    coordinates *= static_cast<double>(tensor.shape[d]);
  }
  if (looked_up.empty()) return least;
  const double lookups = domain.points(indices_of(looked_up));
  const double most = least * std::min(coordinates, lookups);
  return std::max(least, std::min({most, domain.points(indices_of(all)), static_cast<double>(tensor.elements())}));
}

int storage_of(const Program& program, int tensor) {
  while (program.tensor(tensor).same >= 0) tensor = program.tensor(tensor).same;
  return tensor;
}

bool is_given(const Tensor& tensor) {
  return tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kParam || tensor.kind == TensorKind::kBuffer ||
         tensor.kind == TensorKind::kRandom;
}

double physical_elements(const Tensor& tensor) {
  double elements = 1;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (d >= tensor.strides.size() || tensor.strides[d] != 0) elements *= static_cast<double>(tensor.shape[d]);
  }
  return elements;
}

class ProgramCounter {
 public:
  ProgramCounter(const Program& program, const Needs& needs)
      : program_(program), needs_(needs), liveness_(program, needs), dtypes_(dtypes_of(program)) {}

  Count run() {
    Count out;
    for (size_t id = 0; id < program_.equations.size(); ++id) {
      if (liveness_.live(program_.equations[id])) out.equations.push_back(equation(static_cast<int>(id)));
    }
    out.inputs = certain_inputs();
    for (size_t id = 0; id < program_.tensors.size(); ++id) {
      const Tensor& tensor = program_.tensors[id];
      if (tensor.kind != TensorKind::kOutput && tensor.into < 0) continue;
      out.outputs.push_back({static_cast<int>(id), physical_elements(tensor)});
    }
    for (size_t id = 0; id < program_.opaques.size(); ++id) out.opaque.push_back(static_cast<int>(id));
    return out;
  }

 private:
  DType dtype(int tensor) const { return dtypes_[static_cast<size_t>(tensor)]; }

  // Parts of inputs, params, buffers and draws, by tensor, that no algorithm can leave out.
  std::map<int, std::vector<ReadPart>> certain_parts() const {
    std::map<int, std::vector<ReadPart>> out;
    const Liveness certain(program_, needs_, Reads::kCertain);
    for (const Equation& equation : program_.equations) {
      if (!certain.live(equation)) continue;
      each_certain_read(equation.rhs, certain.domain(equation), [&](const ExprRef& read, const Domain& around) {
        const Tensor& tensor = program_.tensor(read->id);
        if (!is_given(tensor)) return;
        out[read->id].push_back(
            {elements_read(tensor, *read, around), around.reach(read_indices(*read), tensor.shape)});
      });
    }
    return out;
  }

  std::vector<TensorCount> certain_inputs() const {
    std::map<int, TensorCount> by_storage;
    for (const auto& [tensor, parts] : certain_parts()) {
      const double elements = united_elements(parts);
      TensorCount& known = by_storage[storage_of(program_, tensor)];
      if (known.tensor < 0 || elements > known.elements) known = {tensor, elements};
    }
    std::vector<TensorCount> out;
    for (const auto& [storage, tensor] : by_storage) out.push_back(tensor);
    return out;
  }

  EquationCount equation(int id) {
    const Equation& equation = program_.equation(id);
    const Domain domain = liveness_.domain(equation);
    EquationCount out;
    out.equation = id;
    const EquationWork work = work_of(equation, domain, dtypes_);
    out.work = work.work;
    out.operands = work.operands;
    out.elements = domain.points({equation.free.begin(), equation.free.end()});
    out.steps = equation.step_index >= 0 ? domain.extent(equation.step_index) : 0;
    out.dtype = dtype(equation.target);
    std::map<int, ReadCount> reads;
    each_read(equation.rhs, domain, [&](const ExprRef& read, const Domain& around) {
      const Tensor& tensor = program_.tensor(read->id);
      const double elements = elements_read(tensor, *read, around);
      ReadCount& known = reads[read->id];
      known.tensor = read->id;
      known.elements = std::max(known.elements, elements);
      known.most = std::max(known.most, most_elements_read(tensor, *read, around, elements));
      out.dtype = wider(out.dtype, dtype(read->id));
    });
    for (const auto& [tensor, count] : reads) out.reads.push_back(count);
    walk(equation.rhs, [&](const Expr& node) { out.reduces = out.reduces || node.op == Op::kReduce; });
    out.exact = work.exact && domain.exact();
    return out;
  }

  const Program& program_;
  const Needs& needs_;
  Liveness liveness_;
  std::vector<DType> dtypes_;
};

}  // namespace

Work Count::total() const {
  Work sum;
  for (const EquationCount& each : equations) sum += each.work;
  return sum;
}

std::vector<DType> dtypes_of(const Program& program) {
  std::vector<std::optional<DType>> known;
  for (const Tensor& tensor : program.tensors) {
    known.push_back(tensor.dtype);
    if (!tensor.dtype && tensor.value != ValueKind::kReal) {
      known.back() = tensor.value == ValueKind::kBool ? DType::kBool : DType::kI64;
    }
  }
  // In text order: what a local reads is known, but for the steps of its own recurrence.
  for (const Equation& equation : program.equations) {
    std::optional<DType>& target = known[static_cast<size_t>(equation.target)];
    if (target && program.tensor(equation.target).dtype) continue;
    DType dtype = target.value_or(DType::kBool);
    walk(equation.rhs, [&](const Expr& node) {
      if (node.op != Op::kRead || !known[static_cast<size_t>(node.id)]) return;
      dtype = wider(dtype, *known[static_cast<size_t>(node.id)]);
    });
    if (program.target_of(equation).value == ValueKind::kReal) target = is_float(dtype) ? dtype : DType::kF32;
  }
  std::vector<DType> out;
  for (const std::optional<DType>& dtype : known) out.push_back(dtype.value_or(DType::kF32));
  return out;
}

Count count(const Program& program, const Needs& needs) { return ProgramCounter(program, needs).run(); }

}  // namespace solstice::ir
