// Problems of a bench.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace solstice::flow {

struct BenchProblem {
  std::string id;    // "1/2"
  std::string name;  // "Standard_matrix_multiplication"
  std::filesystem::path file;
};

// The files levelL/N_NAME.py below `folder`, by level and number. `levels` and `only` ("1/2") narrow the choice; empty:
// all. Errors: not_found (no such folder, no problem in it, or an id of `only` that is not there); io_error (a level's
// folder that cannot be read).
Result<std::vector<BenchProblem>> list_problems(const std::filesystem::path& folder, const std::vector<int>& levels,
                                                const std::vector<std::string>& only);

// Every file NAME.py of `folder` that has a `get_inputs`, by name; its first line, a docstring, is the problem's name.
// The same errors.
Result<std::vector<BenchProblem>> list_modules(const std::filesystem::path& folder,
                                               const std::vector<std::string>& only);

}  // namespace solstice::flow
