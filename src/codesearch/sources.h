// The files that are searched: CUTLASS and CuTe (headers, examples, utilities), CCCL, CUDA's device headers, and
// Solstice's own kernels/ and examples/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace solstice::codesearch {

// A folder with the prefix that its files are shown under: {"cutlass/include", ".../cutlass_library/source/include"}.
struct Root {
  std::string prefix;
  std::filesystem::path folder;
};

// What `solstice` searches on this machine. What is not installed has no root. Runs Python, to ask for its
// site-packages. Error not_found where Solstice's own folders are not.
Result<std::vector<Root>> installed_roots();

// A file as the folder has it now.
struct SourceFile {
  std::string path;            // as shown: "cutlass/include/cute/tensor.hpp"
  std::filesystem::path file;  // "" for a program of the store, which has `text` and `about`
  int64_t size = 0;
  int64_t time = 0;  // of its last change, in nanoseconds; of a program a number that its content gives
  std::string text = {};
  std::string about = {};
};

// Files below the roots that are code or its documentation, by path; io_error where a root cannot be read.
Result<std::vector<SourceFile>> list_sources(const std::vector<Root>& roots);

}  // namespace solstice::codesearch
