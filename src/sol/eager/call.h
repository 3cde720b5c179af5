// Calls of a traced graph as the model of PyTorch eager sees them: tensors by shape, strides and storage.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/graph.h"

namespace solstice::sol::eager {

struct Tensor {
  std::string id;
  std::string root;  // value whose storage it is: views share it
  GraphDType dtype = GraphDType::kF32;
  std::vector<int64_t> shape, stride;

  double elements() const;
  int item() const;      // bytes an element
  double bytes() const;  // distinct: repeated (stride-0) dims count once
  bool contiguous() const;
  int64_t extent(int dim) const;      // a negative dim counts from the end; 1 where there is none
  double extents(size_t from) const;  // product of those from `from` on
};

// A new tensor of this shape, contiguous, that no other value shares.
Tensor fresh_tensor(std::string id, GraphDType dtype, std::vector<int64_t> shape);

// Values of the graph so far, by id.
using Values = std::map<std::string, Tensor, std::less<>>;

class Call {
 public:
  Call(const GraphNode& node, const Values& values);

  std::string_view op() const { return op_; }  // "conv2d": without its library and overload
  const std::vector<Tensor>& reads() const { return reads_; }
  const std::vector<Tensor>& results() const { return results_; }
  const Tensor* tensor(std::string_view argument) const;  // null: none
  const Json& argument(std::string_view name) const { return node_->args.at(name); }
  std::vector<int64_t> list(std::string_view argument) const;
  bool is_view() const;
  bool writes() const { return !node_->mutates.empty(); }  // in place

 private:
  const GraphNode* node_;
  std::string op_;
  std::vector<Tensor> reads_, results_;
  std::map<std::string, Tensor, std::less<>> named_;
};

}  // namespace solstice::sol::eager
