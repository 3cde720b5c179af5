#include "sol/eager/call.h"

#include <set>

#include "base/dtype.h"

namespace solstice::sol::eager {
namespace {

// "relu" of "aten.relu_.default", which writes in place.
std::string short_name(const GraphNode& node) {
  const std::string& op = node.op;
  const size_t begin = op.find('.');
  if (begin == std::string::npos) return op;
  const size_t end = op.find('.', begin + 1);
  std::string name = op.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
  if (!node.mutates.empty() && name.ends_with('_')) name.pop_back();
  return name;
}

Tensor tensor_of(const GraphTensor& from, const std::string& id) {
  return {id, id, from.dtype.value_or(GraphDType::kF32), from.shape, from.stride};
}

const std::set<std::string_view>& views() {
  static const std::set<std::string_view> names = {
      "view",  "_unsafe_view", "transpose", "permute", "slice",  "select", "expand", "squeeze", "unsqueeze",
      "split", "alias",        "detach",    "t",       "unbind", "chunk",  "unfold", "diagonal"};
  return names;
}

}  // namespace

double Tensor::elements() const { return extents(0); }

int Tensor::item() const {
  if (dtype == GraphDType::kC64) return 8;
  if (dtype == GraphDType::kC128) return 16;
  return size_of(*storage_dtype(dtype));
}

double Tensor::bytes() const {
  double out = item();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i >= stride.size() || stride[i] != 0) out *= static_cast<double>(shape[i]);
  }
  return out;
}

bool Tensor::contiguous() const {
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && i < stride.size() && stride[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

int64_t Tensor::extent(int dim) const {
  const int rank = static_cast<int>(shape.size());
  const int at = dim < 0 ? dim + rank : dim;
  return at < 0 || at >= rank ? 1 : shape[static_cast<size_t>(at)];
}

double Tensor::extents(size_t from) const {
  double out = 1;
  for (size_t i = from; i < shape.size(); ++i) out *= static_cast<double>(shape[i]);
  return out;
}

Tensor fresh_tensor(std::string id, GraphDType dtype, std::vector<int64_t> shape) {
  Tensor out{id, id, dtype, std::move(shape), {}};
  out.stride.resize(out.shape.size());
  int64_t step = 1;
  for (size_t i = out.shape.size(); i-- > 0;) {
    out.stride[i] = step;
    step *= out.shape[i];
  }
  return out;
}

Call::Call(const GraphNode& node, const Values& values) : node_(&node), op_(short_name(node)) {
  for (const auto& [name, argument] : node.args.members()) {
    for_each_tensor(argument, [&, &key = name](const std::string& id) {
      const auto found = values.find(id);
      if (found == values.end()) return;  // no tensor
      reads_.push_back(found->second);
      named_.try_emplace(key, found->second);
    });
  }
  for (const std::optional<GraphOut>& out : node.outs) {
    if (!out || !out->is_tensor()) continue;
    results_.push_back(tensor_of(*out, out->id));
    if ((is_view() || writes()) && !reads_.empty()) results_.back().root = reads_.front().root;
  }
}

const Tensor* Call::tensor(std::string_view argument) const {
  const auto found = named_.find(argument);
  return found == named_.end() ? nullptr : &found->second;
}

std::vector<int64_t> Call::list(std::string_view name) const {
  std::vector<int64_t> out;
  for (const Json& item : argument(name).items()) out.push_back(item.as_int());
  return out;
}

bool Call::is_view() const { return !writes() && (!node_->view_of.empty() || views().contains(op_)); }

}  // namespace solstice::sol::eager
