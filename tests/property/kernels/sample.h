// Random kernels: programs of one kernel that a family should be able to run, each from a seed.
//
// A program is text, so that whatever fails is reproduced by `solstice check` and `solstice compile` as well. Half of
// them are exact: inputs are small multiples of 1/2 and every value on the way fits fp32's significand, so that results
// have to be equal to the last bit, and a wrong index, mask or tail is not lost in a tolerance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace solstice::random_kernels {

// How large programs may become.
struct Sizes {
  int64_t points = 1'000'000;      // of an iteration space
  int64_t products = 100'000'000;  // multiplications of a product
  int64_t row = 300'000;           // elements of a row
};
Sizes sizes_of_device();     // 1e4 to 1e6 points
Sizes sizes_of_sanitizer();  // what a checker that slows down a hundred times gets through
Sizes sizes_of_host();       // for an emulator on one core

struct Sample {
  std::string family;
  uint64_t number = 0;  // in the sequence of its seed
  std::string head;     // declarations
  std::string before;   // kernels that fill tensors it reads
  std::string body;     // equations
  std::string knobs;
  bool exact = false;
  bool not_finite = false;  // inputs hold a few NaN and infinities

  std::string name() const;  // "rows17": of the program and its kernel
  std::string text() const;
};

// The families there are programs for.
const std::vector<std::string>& sampled_families();

// The program of this number, with every knob left to the family.
Sample make_sample(std::string_view family, uint64_t seed, uint64_t number, const Sizes& sizes);

}  // namespace solstice::random_kernels
