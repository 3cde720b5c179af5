// Properties of a cubin, read from its ELF sections: the parameters of its kernels, what they call that it does not
// hold, and what they could keep values in. The bytes come from an untrusted compiler process: nothing in them is
// believed to lie inside the file.
//
// Layout: .nv.info.KERNEL holds records (format, attribute, size, value) as `cuobjdump -elf` prints them;
// EIATTR_KPARAM_INFO has ordinal, offset and size of a parameter, EIATTR_PARAM_CBANK the place of all in constant
// bank 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "toolchain/constant_reads.h"

namespace solstice::toolchain {

struct CubinKernel {
  std::string entry;
  std::vector<int64_t> parameters;  // bytes of each, in order
  int parameters_at = 0;            // their offset in constant bank 0
};

struct CubinFacts {
  std::vector<CubinKernel> kernels;
  std::vector<std::string> undefined;  // functions: `malloc`, `vprintf`
  std::vector<std::string> lasting;    // variables in global memory whose address some code has
  std::vector<ConstantRead> reads;     // of all code, each once, ascending
};

// The machine code of one kernel, with what is behind it, or of a function; a view into the cubin.
struct CodeSection {
  std::string name;  // of the kernel or function
  std::string_view code;
  std::vector<uint64_t> relocated = {};  // bytes that the loader changes, ascending
};

// Both, error bad_record: it is no 64-bit ELF file, or one that is cut short.
Result<std::vector<CodeSection>> code_of(std::string_view cubin);
Result<CubinFacts> read_cubin(std::string_view cubin);

// Both hold the same machine code under the same names. Errors: read_cubin()'s.
Result<bool> has_same_code(std::string_view one, std::string_view other);

}  // namespace solstice::toolchain
