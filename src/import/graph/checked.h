// A list whose elements are read by place in the order of an operator's arguments or axes: damage (damage.h) where
// there are fewer.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "import/graph/damage.h"

namespace solstice::importer {

template <class T>
struct Checked : std::vector<T> {
  using std::vector<T>::vector;
  Checked(std::vector<T> list) : std::vector<T>(std::move(list)) {}  // NOLINT: a list is a list

  T& operator[](size_t i) { return this->at(i); }
  const T& operator[](size_t i) const { return this->at(i); }
  void insert_at(int i, T item) { this->insert(this->begin() + within(i, this->size() + 1), std::move(item)); }
  void erase_at(int i) { this->erase(this->begin() + within(i, this->size())); }

 private:
  static std::ptrdiff_t within(int i, size_t size) {
    if (i < 0 || static_cast<size_t>(i) >= size) damaged("an axis beyond the last");
    return i;
  }
};

}  // namespace solstice::importer
