// From what all tools found to what is shown: bounds are held to what was measured, findings of one cause become one,
// and the order is total, so that the order of tools does not show.
//
//   samples   what a cause can bring is at most 1/(1-s), s the share of the warps' samples that it shows as
//   practical a program is never faster than its practical bound
//   severity  by the bound; a guess, and what is observed and no cause explains, are of medium severity at most
//   causes    what is observed (Tool::says) goes into the finding of a cause on its step that accounts for most of it;
//             a cause into one that says it explains it (Tool::explains)
//   alike     kernels that share a function share a finding
#pragma once

#include <vector>

#include "diagnose/tool.h"

namespace solstice::diagnose {

struct Found {
  Finding finding;
  const Tool* tool = nullptr;
};

// Of one tool, right after it answered.
void hold_to_measurements(const Tool& tool, const ProgramView& view, Finding& finding);
// Of all of them.
std::vector<Finding> settle(std::vector<Found> found);

}  // namespace solstice::diagnose
