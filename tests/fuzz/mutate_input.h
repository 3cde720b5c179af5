// libFuzzer's own mutator for inputs that are JSON: `LLVMFuzzerCustomMutator` is this function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace solstice::fuzz {

size_t mutate_input(uint8_t* data, size_t size, size_t max_size, unsigned seed);

}  // namespace solstice::fuzz
