// Verified programs of the run store as files that are searched: store/PROBLEM/RUN-TRIAL.ucut.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "codesearch/sources.h"

namespace solstice::codesearch {

inline constexpr const char* kProgramPrefix = "store/";

struct Programs {
  std::string mark;  // changes when the programs may have
  std::vector<SourceFile> files;
};

// The fastest programs of every problem and GPU. `known`: a mark for which nothing need be read; the files are left
// empty then. No store in `folder`: no programs, mark "". Errors: those of the store.
Result<Programs> verified_programs(const std::filesystem::path& folder, const std::string& known);

}  // namespace solstice::codesearch
