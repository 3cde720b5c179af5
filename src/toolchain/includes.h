// The headers a source can reach, found by reading `#include` lines recursively, whatever #if they stand in: the set is
// hashed by the cache key, so too many is fine and too few is not.
//
// A source (and a header of kernels/) may include headers of kernels/, by their path below it, those of kernels/std by
// their names alone (<cstdint>), and of the CUDA folders.
// Absolute paths, `..`, includes whose name is a macro, and text that compilers read differently are errors there;
// CUDA's own headers may use them. `__has_include` counts as an include; one that `##` puts together is not seen: it
// tells that a file is there, not what it says.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::toolchain {

struct IncludeClosure {
  std::map<std::string, std::string> own;     // headers of kernels/: path below it -> content
  std::map<std::string, std::string> system;  // headers of the CUDA folders: path -> hash of the content
  std::set<std::string> missing;              // names that were found nowhere
};

// Includes of one text, as the preprocessor finds them. A flaw is what may hide an include: one whose name is not a
// literal, a raw string without an end, a character that compilers read differently.
struct Includes {
  struct Name {
    std::string text;
    int line = 0;
  };
  std::vector<Name> names;
  int flaw_line = 0;  // of the first, 0: none
  std::string_view flaw;
};
Includes scan_includes(std::string_view text);

// Error bad_argument with file and line for an include that may not be.
Result<IncludeClosure> include_closure(std::string_view name, std::string_view source,
                                       const std::filesystem::path& kernels,
                                       const std::vector<std::filesystem::path>& include_folders);

}  // namespace solstice::toolchain
