// The program that prints the machine code of a cubin.
#pragma once

#include <filesystem>

namespace solstice::toolchain {

// nvdisasm or cuobjdump: the first that a CUDA toolkit, PATH or a Python has; "" where there is none.
std::filesystem::path find_disassembler();

}  // namespace solstice::toolchain
