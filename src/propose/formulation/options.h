// Schedules of one kernel, timed by the cost models.
#pragma once

#include <vector>

#include "families/family.h"
#include "propose/cut/render.h"

namespace solstice::propose {

struct Option {
  Schedule schedule;
  Seconds time;
};

// Proposals of `family` for the kernel, timed by its model. The kernel is of that family then, without knobs.
Result<std::vector<Option>> options_of(const families::Family& family, const families::Context& context,
                                       ir::Kernel& kernel);

// Proposals of the other families that take no longer than `most`.
std::vector<Option> options_of_others(const families::Family& but, const families::Context& context, ir::Kernel& kernel,
                                      Seconds most);

// Cost models are wrong by less than this: a schedule of another family that they find slower by more is not tried.
inline constexpr double kDoubt = 1.5;

}  // namespace solstice::propose
