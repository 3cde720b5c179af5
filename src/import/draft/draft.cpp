#include "import/draft/draft.h"

#include <algorithm>

namespace solstice::importer {

std::vector<Index> flat_all(const std::vector<Axis>& axes, const Loops& loops) {
  std::vector<Index> out;
  for (const Axis& axis : axes) out.push_back(loops.flat(axis));
  return out;
}

int Draft::add(DraftTensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<int>(tensors.size()) - 1;
}

Value Draft::interface_tensor(DraftTensor tensor, const std::vector<int64_t>& shape) {
  std::vector<Axis> axes;
  for (const int64_t extent : shape) {
    axes.push_back(loops_.fresh_axis(extent));
    tensor.shape.push_back(loops_.size(axes.back()));
  }
  return whole(add(std::move(tensor)), axes);
}

Value Draft::define(const std::string& wish, std::vector<Axis> axes, TermRef rhs, DType dtype) {
  DraftTensor tensor;
  tensor.wish = wish;
  tensor.dtype = dtype;
  std::vector<Index> lhs;
  for (const Axis& axis : axes) {
    for (const Loop& digit : axis.digits) {
      tensor.shape.push_back(dims_.size(digit.dim));
      lhs.push_back(index_of(digit));
    }
  }
  const int id = add(std::move(tensor));
  write(id, lhs, std::move(rhs));
  return {std::move(axes), read(id, std::move(lhs)), dtype};
}

Value Draft::define_merged(const std::string& wish, const std::vector<Axis>& axes, TermRef rhs, DType dtype) {
  const bool plain = std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.digits.size() < 2; });
  return plain ? define(wish, axes, std::move(rhs), dtype) : define_declared(wish, axes, std::move(rhs), dtype);
}

Value Draft::define_declared(const std::string& wish, const std::vector<Axis>& axes, TermRef rhs, DType dtype) {
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (axis.digits.size() < 2) {
      merged.push_back(axis);
      continue;
    }
    const DimId dim = dims_.fresh(axis.extent());
    dims_.derive(dim, {loops_.size(axis), 1, 0});
    std::vector<DimId> parts;
    for (const Loop& digit : axis.digits) parts.push_back(digit.dim);
    dims_.set_split(dim, std::move(parts));
    merged.push_back(loops_.axis_of(dim));
  }
  const int id = declare(wish, merged, dtype);
  write(id, flat_all(axes, loops_), std::move(rhs));
  return whole(id, merged);
}

int Draft::declare(const std::string& wish, const std::vector<Axis>& axes, DType dtype) {
  DraftTensor tensor;
  tensor.kind = DraftKind::kTensor;
  tensor.wish = wish;
  tensor.dtype = dtype;
  for (const Axis& axis : axes) tensor.shape.push_back(loops_.size(axis));
  return add(std::move(tensor));
}

Value Draft::whole(int tensor, const std::vector<Axis>& axes) const {
  return {axes, read(tensor, flat_all(axes, loops_)), tensors[static_cast<size_t>(tensor)].dtype};
}

void Draft::write(int tensor, std::vector<Index> lhs, TermRef rhs) {
  DraftItem item;
  item.node = node;
  item.equation = {tensor, std::move(lhs), std::move(rhs)};
  items.push_back(std::move(item));
}

int Draft::direct_tensor(const Value& value) const {
  const Term& term = *value.term;
  if (term.kind != TermKind::kRead || term.has_else() || term.indices.size() != value.axes.size()) return -1;
  for (size_t i = 0; i < value.axes.size(); ++i) {
    const auto& digits = value.axes[i].digits;
    if (digits.size() > 1) return -1;
    const Size& extent = tensors[static_cast<size_t>(term.tensor)].shape[i];
    if (extent.value() != value.axes[i].extent()) return -1;
    if (digits.empty()) continue;
    const Loop* bare = term.indices[i].bare();
    if (!bare || bare->id != digits[0].id) return -1;
  }
  return term.tensor;
}

bool Draft::is_direct_axis(const Value& value, int axis) const {
  const Term& term = *value.term;
  const auto& digits = value.axis(axis).digits;
  if (term.kind != TermKind::kRead || term.has_else() || digits.size() > 1) return false;
  if (digits.empty()) return false;
  int uses = 0;
  bool direct = false;
  for (size_t i = 0; i < term.indices.size(); ++i) {
    std::map<int, Loop> used;
    collect_loops(term.indices[i], used);
    if (!used.count(digits[0].id)) continue;
    ++uses;
    const Loop* bare = term.indices[i].bare();
    direct = bare && tensors[static_cast<size_t>(term.tensor)].shape[i].value() == bare->extent;
  }
  return uses == 1 && direct;
}

Value Draft::paddable(const Value& value, const std::vector<int>& axes) {
  if (direct_tensor(value) >= 0) return value;
  const bool direct = std::all_of(axes.begin(), axes.end(), [&](int axis) { return is_direct_axis(value, axis); });
  return direct ? value : stored(value, "unpadded");
}

TermRef Draft::read_padded(const Value& value, const std::vector<Index>& at, TermRef otherwise) const {
  const int tensor = direct_tensor(value);
  if (tensor >= 0) return read(tensor, at, std::move(otherwise));
  const TermRef inside = read_at(value, at, loops_);
  return read(inside->tensor, inside->indices, std::move(otherwise));
}

Value Draft::stored(const Value& value, const std::string& wish) {
  if (direct_tensor(value) >= 0) return value;
  std::vector<Axis> axes;
  for (const Axis& axis : value.axes) axes.push_back(loops_.align(axis));
  TermRef rhs = read_at(value, flat_all(axes, loops_), loops_);
  return define_declared(wish, axes, std::move(rhs), value.dtype);
}

}  // namespace solstice::importer
