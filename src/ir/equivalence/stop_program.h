// A program's stops as equations, so that they have a normal form.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/analysis/stops.h"
#include "ir/program.h"

namespace solstice::ir {

// The program with an equation for each stop, `any[points where conditions](stop(value))`: the points at which it is
// evaluated, under the conditions of each select, `and`, `or`, `else` and `where` around it. `stop` is a tensor that
// nothing defines: an unknown function of the value.
struct StopProgram {
  Program program;
  std::vector<int> stops;         // tensors, of no dimension
  std::map<int, Stop> functions;  // by tensor
};
StopProgram stop_program(const Program& program,
                         const std::set<int>& without = {});  // tensors whose equations are left out

}  // namespace solstice::ir
