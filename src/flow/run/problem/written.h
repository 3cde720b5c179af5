// A problem that a person wrote as equations: a .ucut file in the place of a module. There is no PyTorch then: no
// inputs, no original, no drop-in.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "flow/run/problem/problem.h"

namespace solstice::flow {

// The file holds a program, by its name.
bool is_program(const std::filesystem::path& file);

struct Written {
  Problem problem;  // without subject and graph; its text is the file's own where that has no schedule and no calls
  std::string schedule;  // the file's text, where it is a candidate for the problem; "": it is none
  std::string untried;   // why not, where its kernels have schedules: "it has sets of settings"
};

// The equations of a program, by themselves: what its kernels hold, and what its calls of definitions stand for. `text`
// is as lang::read_program() gives it. Errors: program_invalid, with all mistakes; not_yet for what no kernel can run
// yet; bad_argument where the kernels' equations cannot stand in one problem, or there are none.
Result<Written> written_problem(const std::string& text, const std::string& file);

// An error of an equation of the program: its place in the file, and the way out of whoever has no module.
Error in_program(Error error, const std::string& text, const std::string& file);

}  // namespace solstice::flow
