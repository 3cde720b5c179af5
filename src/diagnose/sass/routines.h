// Subroutines that the compiler puts behind a kernel, in its section: slow paths of division and roots, and functions
// that were not inlined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/sass/flow.h"
#include "record/diagnosis/sass_facts.h"

namespace solstice::diagnose::sass {

// "division f32" of "$__internal_1_$__cuda_sm3x_div_rn_noftz_f32_slowpath"; "function" of other names.
std::string kind_of_routine(std::string_view name);

struct Routines {
  std::vector<SassRoutine> list;  // by address
  std::vector<size_t> starts;     // their first instructions
  std::vector<int> called;        // of each instruction: the routine that it calls; -1: none, -2: not known
};

Routines routines_of(const Function& function);

}  // namespace solstice::diagnose::sass
