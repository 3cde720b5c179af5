#include "evaluate/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/file.h"
#include "base/hash.h"
#include "evaluate/given/given_code.h"

namespace solstice::evaluate {
namespace {

bool is_given(const families::Source& source) { return !source.file.empty(); }

// An include that leaves the folders is a mistake of given code, and a bug of generated code.
Result<toolchain::Compiled> compiled_of(const families::Source& source, const Result<toolchain::Compiled>& result) {
  if (result.ok() || !is_given(source) || result.error().code != Code::bad_argument) return result;
  toolchain::Compiled out;
  out.log = fmt::format("{}({}): error: {}", result.error().file, result.error().line, result.error().message);
  return out;
}

// The reason that the plan cannot run on the compiled source; "" where it can.
std::string flaw_in(const families::Source& source, const toolchain::Compiled& compiled, const Plan& plan,
                    const machine::Machine& machine) {
  if (!is_given(source)) return compiled.ok() ? "" : compiled.log;
  if (!compiled.ok()) return compile_errors(source, compiled);
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::kLaunch || step.module != source.name) continue;
    if (std::string flaw = flaw_of(source, compiled, step, machine); !flaw.empty()) return flaw;
  }
  return "";
}

}  // namespace

PendingBuild::PendingBuild(Lowered lowered, const machine::Machine& machine, toolchain::Compiler& compiler)
    : lowered_(std::move(lowered)), machine_(&machine) {
  for (const families::Source& source : lowered_.sources) {
    pending_.push_back(compiler.submit({source.name, source.code, source.options, source.file}));
  }
}

bool PendingBuild::ready(Seconds patience) const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience.value);
  return std::all_of(pending_.begin(), pending_.end(),
                     [&](const auto& each) { return each.wait_until(until) == std::future_status::ready; });
}

Result<Built> PendingBuild::finish() {
  Built built;
  built.ok = true;
  built.plan = std::move(lowered_.plan);
  built.sources = std::move(lowered_.sources);
  for (size_t i = 0; i < pending_.size(); ++i) {
    SOLSTICE_TRY(toolchain::Compiled compiled, compiled_of(built.sources[i], pending_[i].get()));
    const std::string flaw = flaw_in(built.sources[i], compiled, built.plan, *machine_);
    if (!flaw.empty() && built.ok) {
      built.ok = false;
      built.outcome = compiled.ok() ? toolchain::Outcome::kFailed : compiled.outcome;
      built.log = flaw;
    }
    if (!compiled.cached) built.compile_time = std::max(built.compile_time, compiled.seconds);
    PlanModule& module = built.plan.modules[i];
    module.cubin = module.name + ".cubin";
    module.source = module.name + ".cu";
    module.hash = hash_hex(compiled.cubin);
    built.compiled.push_back(std::move(compiled));
  }
  return built;
}

std::vector<std::string> launches_of(const Plan& plan, const std::string& module, const std::string& entry) {
  std::vector<std::string> out;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kLaunch && step.module == module && step.entry == entry) out.push_back(step.name);
  }
  return out;
}

int64_t dynamic_shared_bytes(const Plan& plan, const std::string& module, const std::string& entry) {
  int64_t out = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kLaunch && step.module == module && step.entry == entry)
      out = std::max(out, step.shared_bytes);
  }
  return out;
}

Json resources_of(const Built& built, size_t module) {
  Json out = Json::array();
  for (const toolchain::KernelResources& kernel : built.compiled[module].kernels) {
    Json launches = Json::array();
    for (std::string& name : launches_of(built.plan, built.plan.modules[module].name, kernel.entry))
      launches.push(std::move(name));
    const int64_t dynamic = dynamic_shared_bytes(built.plan, built.plan.modules[module].name, kernel.entry);
    Json entry = to_json(kernel);
    entry.set("shared_bytes", kernel.shared_bytes + dynamic).set("static_shared_bytes", kernel.shared_bytes);
    out.push(entry.set("launches", launches));
  }
  return out;
}

Status write_build(const Built& built, const std::filesystem::path& folder) {
  for (size_t i = 0; i < built.plan.modules.size(); ++i) {
    const PlanModule& module = built.plan.modules[i];
    SOLSTICE_CHECK(write_file(folder / module.cubin, built.compiled[i].cubin));
    SOLSTICE_CHECK(write_file(folder / module.source, built.sources[i].code));
  }
  return write_file(folder / "plan.json", to_json(built.plan).dump(1));
}

}  // namespace solstice::evaluate
