// What a generated epilogue provides. It is a small struct of pointers; a kernel calls it for every output element:
//
//   struct Epilogue {
//     static constexpr int kOutputs = 1;
//     static constexpr bool kTma = true;               // output 0 may be written by the copy engine
//     struct In { float v0; };                         // what the element reads beside the accumulator
//     In load(int batch, int m, int n) const;          // (m, n) lies inside the problem; called ahead of its use
//     void compute(float acc, const In& in, int batch, int m, int n, float (&out)[kOutputs]) const;
//     template <int I> auto output() const;            // Output<float>, Output<Half> or Output<BFloat>
//   };
#pragma once

#include "ptx/convert.h"

namespace solstice {

template <typename T>
struct Output {
  using Type = T;
  T* data;
  i64 batch, m, n;  // strides in elements

  SOLSTICE_DEVICE void store(int b, int row, int column, T v) const {
    data[b * batch + row * m + column * n] = v;
  }
};

}  // namespace solstice
