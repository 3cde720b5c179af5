#include "rt/load.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"

namespace solstice::rt {
namespace {

Result<std::string> read_cubin(const PlanModule& module, const std::filesystem::path& folder) {
  if (module.cubin.empty() || module.cubin.find('/') != std::string::npos) {
    return fail(Code::bad_record,
                fmt::format("module `{}`: `{}` is not a file name beside the plan", module.name, module.cubin));
  }
  return read_file(folder / module.cubin);
}

Status check_cubin(const PlanModule& module, const std::string& cubin) {
  if (!cubin.starts_with("\x7f"
                         "ELF")) {
    return fail(Code::bad_record, fmt::format("module `{}`: {} is no cubin", module.name, module.cubin));
  }
  const std::string hash = hash_hex(cubin);
  if (module.hash == hash) return success();
  return fail(Code::bad_record,
              fmt::format("module `{}`: {} has hash {}, and the plan was made with {}", module.name, module.cubin, hash,
                          module.hash),
              "build the plan again, or put back the cubin that belongs to it");
}

}  // namespace

bool is_interface(const PlanBuffer& buffer) {
  return buffer.kind != BufferKind::kWorkspace && buffer.kind != BufferKind::kConstant;
}

Result<LoadedPlan> make_loaded_plan(Plan plan, std::vector<std::string> cubins) {
  SOLSTICE_CHECK(validate(plan));
  LoadedPlan out;
  for (size_t i = 0; i < plan.modules.size(); ++i) SOLSTICE_CHECK(check_cubin(plan.modules[i], cubins.at(i)));
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    out.buffer_index[plan.buffers[i].name] = i;
    if (is_interface(plan.buffers[i])) out.interface.push_back(i);
  }
  out.plan = std::move(plan);
  out.cubins = std::move(cubins);
  return out;
}

Result<LoadedPlan> load_plan(const std::filesystem::path& plan_json) {
  SOLSTICE_TRY(const std::string text, read_file(plan_json));
  SOLSTICE_TRY(Plan plan, from_json_file<Plan>(text, plan_json, "`solstice compile PROGRAM --out DIR` writes it"));
  std::vector<std::string> cubins;
  for (const PlanModule& module : plan.modules) {
    SOLSTICE_TRY(std::string cubin, read_cubin(module, plan_json.parent_path()));
    cubins.push_back(std::move(cubin));
  }
  return make_loaded_plan(std::move(plan), std::move(cubins)).context("loading " + plan_json.string());
}

}  // namespace solstice::rt
