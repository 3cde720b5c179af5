// Use of the machine by a measured candidate, in words, and its families' choices.
#pragma once

#include <string>
#include <vector>

#include "record/kernel_facts.h"
#include "record/search_event.h"

namespace solstice::agents {

// "used: `a` 3.1 TB/s, 78 % of what memory gives; ..." of the kernels that took most of the time, else of the whole
// call; "" where nothing was measured, or needs are not on record.
std::string text_of_use(const search::Measurement& measurement);

// "left to the families: `a` threads=256, vector=4; ..."; "" where all is written, or it is not on record.
std::string text_of_choices(const search::Measurement& measurement);

}  // namespace solstice::agents
