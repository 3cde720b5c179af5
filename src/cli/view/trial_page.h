// Output of `solstice show RUN --trial N`.
#pragma once

#include <string>

#include "base/json.h"
#include "store/loaded_run.h"

namespace solstice::cli {

// One trial on a page: where it comes from, its schedule, what it changed in its parent, the verdict case by case, time
// by kernel, resources and program. Parts that were not recorded are left out.
std::string trial_page(const store::LoadedRun& loaded, const TrialRecord& trial);

// The record as it is stored, with `parent` (null: not known) and `changes` (a diff against the parent's program).
Json trial_page_json(const store::LoadedRun& loaded, const TrialRecord& trial);

}  // namespace solstice::cli
