// Values of tensors as they lie in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "ir/interpret.h"
#include "record/plan.h"

namespace solstice::random_kernels {

// One element; a real is rounded to the format, to nearest even.
void encode(DType dtype, double value, unsigned char* to);
double decode(DType dtype, const unsigned char* from);

// The element of memory that holds the element of this row-major position.
int64_t place_of(const PlanBuffer& buffer, int64_t position);

// What lies in a buffer of these values; gaps hold `filler`. Of elements that share an address the last one stays.
std::string packed(const PlanBuffer& buffer, const std::vector<double>& values, unsigned char filler);
std::vector<double> unpacked(const PlanBuffer& buffer, const unsigned char* bytes);
// Whether what no element covers still holds `filler`.
bool gaps_untouched(const PlanBuffer& buffer, const unsigned char* bytes, unsigned char filler);

}  // namespace solstice::random_kernels
