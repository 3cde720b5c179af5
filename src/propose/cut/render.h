// A partition of a problem as the text of a candidate: the problem's own equations, unchanged, inside kernels.
#pragma once

#include <string>
#include <vector>

#include "ir/knobs.h"
#include "lang/tree.h"
#include "propose/cut/group.h"

namespace solstice::propose {

// Schedule of one kernel: its family and knobs.
struct Schedule {
  std::string family;
  ir::Knobs knobs;

  std::string text() const;  // "gemm(math=fp16x3)"
};

struct CandidateText {
  std::string machine;   // `target` clause
  std::string numerics;  // `numerics` clause
  bool frozen = false;   // `allow frozen`
};

// `scheduled` is apply(problem, partition); schedules[i] is that of its kernel i. The problem's text order of
// loose equations is that of the bound program's equations. Error not_yet where the problem calls a `def`.
Result<lang::Program> render(const lang::Program& problem, const ir::Program& scheduled,
                             const std::vector<Schedule>& schedules, const CandidateText& how);

}  // namespace solstice::propose
