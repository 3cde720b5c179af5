// Reads a plan and its cubins from disk and checks them. Needs no CUDA.
//
// Errors: not_found, bad_json, bad_record (not a valid plan; a cubin that is not the one the plan was made with).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/plan.h"

namespace solstice::rt {

struct LoadedPlan {
  Plan plan;
  std::vector<std::string> cubins;  // of plan.modules, in order
  std::map<std::string, size_t> buffer_index;
  std::vector<size_t> interface;  // the buffers that callers bind, in plan order
};

Result<LoadedPlan> load_plan(const std::filesystem::path& plan_json);
// The same from memory.
Result<LoadedPlan> make_loaded_plan(Plan plan, std::vector<std::string> cubins);

bool is_interface(const PlanBuffer& buffer);

}  // namespace solstice::rt
