// The concept of a generated epilogue. It is a small struct of pointers; a kernel calls it for every output
// element:
//
//   struct Epilogue {
//     static constexpr int kOutputs = 1;
//     static constexpr int kValues = 1;          // that compute() gives: the outputs, then the values to reduce
//     static constexpr bool kReduces = false;    // true: see parts.h
//     static constexpr bool kRowResident = false;  // true: row_resident.h lists the members it has instead of these
//     static constexpr bool kTma = true;         // output 0 may be written by the copy engine
//     static constexpr bool kLong = false;       // compute() has many instructions
//     struct In { float v0; };                   // operands of the element besides the accumulator
//
//     // (m, n) lies inside the problem; called ahead of its use.
//     In load(int batch, int m, int n) const;
//
//     // Of two sums that share an operand `acc` is followed by the other, `float acc1`.
//     void compute(float acc, const In& in, int batch, int m, int n, float (&out)[kValues]) const;
//
//     // A value of the storage type: float, Half, BFloat, E4M3 or E5M2.
//     template <int kOutput> auto element() const;
//     template <int kOutput, class T> void store(int batch, int m, int n, T value) const;
//
//     // With kTma, of output 0: its address.
//     template <int kOutput> auto place(int batch, int m, int n) const;
//   };
#pragma once

#include "ptx/convert.h"

namespace solstice {

template <class Epilogue, int kOutput>
using ElementOf = decltype(static_cast<const Epilogue*>(nullptr)->template element<kOutput>());

}  // namespace solstice
