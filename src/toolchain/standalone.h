// A compile unit as one text, for people: headers of kernels/ stand in the place of their includes, so that nvcc
// compiles it alone. Headers of CUDA, CCCL and CUTLASS stay includes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/compiler.h"
#include "toolchain/includes.h"

namespace solstice::toolchain {

// `closure` is the text's (include_closure()).
std::string inlined(std::string_view text, const IncludeClosure& closure);

// The folders of `folders` that the closure's headers lie in and that nvcc does not search by itself.
std::vector<std::filesystem::path> foreign_folders(const IncludeClosure& closure,
                                                   const std::vector<std::filesystem::path>& folders);

// `request` as a file that begins with nvcc's command line for it: NAME.alone.cu to NAME.cubin. Errors: those of
// include_closure().
Result<std::string> standalone(const CompileRequest& request, std::string_view arch,
                               const std::filesystem::path& kernels, const Toolchain& toolchain);

}  // namespace solstice::toolchain
