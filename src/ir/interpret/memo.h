// Elements that are known, by position.
#pragma once

#include <cstdint>
#include <vector>

namespace solstice::ir {

class Memo {
 public:
  const double* find(int64_t position) const {
    if (keys_.empty()) return nullptr;
    const size_t k = slot(position);
    return keys_[k] == position ? &values_[k] : nullptr;
  }
  void insert(int64_t position, double value) {
    if (size_ * 2 >= keys_.size()) grow();
    const size_t k = slot(position);
    size_ += keys_[k] == position ? 0 : 1;
    keys_[k] = position;
    values_[k] = value;
  }
  void clear() {
    keys_.clear();
    values_.clear();
    size_ = 0;
  }

 private:
  static constexpr int64_t kFree = -1;

  size_t slot(int64_t position) const {
    const size_t mask = keys_.size() - 1;
    auto k = static_cast<size_t>((static_cast<uint64_t>(position) * 0x9e3779b97f4a7c15u) >> 20) & mask;
    while (keys_[k] != kFree && keys_[k] != position) k = (k + 1) & mask;
    return k;
  }
  void grow() {
    std::vector<int64_t> keys(keys_.empty() ? 64 : 2 * keys_.size(), kFree);
    std::vector<double> values(keys.size());
    keys.swap(keys_);
    values.swap(values_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == kFree) continue;
      const size_t k = slot(keys[i]);
      keys_[k] = keys[i];
      values_[k] = values[i];
    }
  }

  std::vector<int64_t> keys_;
  std::vector<double> values_;
  size_t size_ = 0;
};

}  // namespace solstice::ir
