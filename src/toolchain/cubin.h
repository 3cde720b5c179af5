// Properties of a cubin, read from its ELF sections: the parameters of its kernels, and what they call that it
// does not hold. The bytes come from an untrusted compiler process: nothing in them is believed to lie inside the file.
//
// Layout: .nv.info.KERNEL holds records (format, attribute, size, value) as `cuobjdump -elf` prints them;
// EIATTR_KPARAM_INFO has ordinal, offset and size of a parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::toolchain {

struct CubinKernel {
  std::string entry;
  std::vector<int64_t> parameters;  // bytes of each, in order
};

struct CubinFacts {
  std::vector<CubinKernel> kernels;
  std::vector<std::string> undefined;  // functions: `malloc`, `vprintf`
};

// Error bad_record: it is no 64-bit ELF file, or one that is cut short.
Result<CubinFacts> read_cubin(std::string_view cubin);

}  // namespace solstice::toolchain
