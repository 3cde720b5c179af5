// Reads of a tensor: slices, padding, windows and gathers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pytorch/expression.h"

namespace solstice::pytorch {

class Reader {
 public:
  Reader(Writer& writer, const ir::Expr& e)
      : w_(writer), e_(e), tensor_(writer.body_.program().tensor(e.id)), text_(writer.body_.name_of(e.id)) {}

  // In the tensor's own dtype, but integers as i64.
  Result<Value> read();

 private:
  enum class How { kHost, kOne, kDigits, kWindow, kTensor };

  // One dimension's index.
  struct Place {
    How how = How::kTensor;
    ir::Affine form;              // kOne, kDigits, kWindow: terms by descending coefficient
    int64_t first = 0, last = 0;  // elements that it reaches
    int64_t extent = 0;           // of the dimension, padded
    bool inside = true;           // of the tensor, for all indices
    Value value = {};             // kHost, kTensor
  };

  // A dimension of the text so far: an index's, or that of a place which is still to be taken apart.
  struct Slot {
    int axis = -1;
    int place = -1;
  };

  Result<Place> place_of(size_t dim);
  void choose_way(Place& place, const std::vector<int>& shared, int64_t extent);
  bool pads(const Place& place, int64_t extent) const;
  std::vector<int> shared_axes() const;
  void find_condition();
  void pad();
  void slice();
  void pick();
  void gather();
  void take_apart();
  void order();
  std::optional<std::string> fill() const;
  int64_t extent_of(size_t dim) const { return tensor_.shape[dim]; }

  Writer& w_;
  const ir::Expr& e_;
  const ir::Tensor& tensor_;
  std::string text_;
  std::vector<Place> places_;
  std::vector<Slot> slots_;
  std::optional<Value> condition_;  // all indices are inside
};

}  // namespace solstice::pytorch
