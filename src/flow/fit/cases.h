// Problems that judge the cost models: a table of small problems (bench/families/cases.txt), each partitioned into
// kernels and scheduled in the ways that the planner tries first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "record/kernel_time.h"

namespace solstice::flow {

struct FitCase {
  std::string problem;         // the line, as it names the problem: "softmax M=8192 N=1024"
  std::filesystem::path file;  // the program without a schedule
  std::vector<std::pair<std::string, int64_t>> dims;
  std::string dtype;  // of what the file declares as f32; "": f32
  std::string numerics = "reference";
  bool all_cuts = false;
};

// Lines `PROGRAM DIM=VALUE ... [dtype=T] [numerics=P] [cut=all]`; PROGRAM.ucut lies beside the table. `only`: parts of
// problems' names; empty: all. Errors: not_found, bad_argument with the line.
Result<std::vector<FitCase>> read_fit_cases(const std::filesystem::path& table, const std::vector<std::string>& only);

// The case's programs with what the cost models say of each: the planner's cut with its kernel's first `proposals`
// schedules (of several kernels: the first of each), then the other cuts. Program, problem, cut and predicted are
// filled in.
Result<std::vector<KernelTime>> programs_of(const FitCase& one, const machine::Machine& machine, int proposals);

}  // namespace solstice::flow
