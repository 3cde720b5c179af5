#include "evaluate/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "evaluate/computes.h"
#include "families/emission.h"
#include "ir/knobs.h"

namespace solstice::evaluate {
namespace {

const KernelFacts* facts_named(const std::vector<KernelFacts>& facts, const std::string& kernel) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto& each) { return each.kernel == kernel; });
  return found == facts.end() ? nullptr : &*found;
}

const ResourceNeed* largest_need(const KernelFacts* facts) {
  if (!facts || facts->needs.empty()) return nullptr;
  return &*std::max_element(facts->needs.begin(), facts->needs.end(),
                            [](const ResourceNeed& a, const ResourceNeed& b) { return a.time < b.time; });
}

// `math=fp16x3` as it is written, else as the family chose it.
std::string math_of(const ir::Kernel& kernel, const KernelFacts* facts) {
  const std::string written = kernel.knobs.name_or("math", ir::kAuto);
  if (written != ir::kAuto) return written;
  const std::string chosen = facts ? facts->chosen : "";
  const size_t at = chosen.find("math=");
  return at == std::string::npos ? "" : chosen.substr(at + 5, chosen.find(',', at) - at - 5);
}

std::string limit_of_cost(const KernelCost& cost, Seconds alone, Seconds launch, const ResourceNeed* need) {
  if (alone < launch) return "launch";
  if (cost.bound == "tensor") return "tensor cores";
  if (cost.bound == "simt") return need && need->resource == "sfu" ? "special functions" : "CUDA cores";
  return cost.bound;
}

KernelTableRow row_of(const Checked& checked, const Setting& setting, const ir::Kernel& kernel, const KernelCost& cost,
                      const KernelFacts* facts, const EquationKinds& kinds) {
  const Seconds launch = setting.machine.launch_time();
  const ResourceNeed* need = largest_need(facts);
  KernelTableRow out{.kernel = kernel.name, .family = kernel.family};
  out.math = math_of(kernel, facts);
  out.computes = computes(*checked.program, kernel, checked.tree, kinds);
  out.predicted = std::max(cost.time - launch, Seconds(0));
  if (need) out.bound = std::max(need->time, families::kStart);  // no kernel is shorter, however little it does
  out.limited_by = limit_of_cost(cost, *out.predicted, launch, need);
  out.missing = missing_family(*checked.program, kernel, kinds);
  return out;
}

// The cost models count one for every kernel.
KernelTableRow launches_row(const std::vector<KernelCost>& costs, const machine::Machine& machine) {
  const Seconds launch = machine.launch_time();
  KernelTableRow out{.kernel = kLaunchesRow, .family = ""};
  out.computes = fmt::format("what lies between kernels: {} x {}", costs.size(), time_text(launch));
  Seconds sum;
  for (const KernelCost& cost : costs) sum += std::min(launch, cost.time);
  out.predicted = out.bound = sum;
  out.limited_by = "launch";
  return out;
}

}  // namespace

KernelTable kernel_table(const Checked& checked, const Setting& setting, const std::vector<KernelCost>& costs,
                         const std::vector<KernelFacts>& facts) {
  KernelTable out;
  const EquationKinds kinds = kinds_of(*checked.program, setting.machine);
  for (size_t i = 0; i < costs.size(); ++i) {
    const ir::Kernel& kernel = checked.program->kernels[i];
    out.rows.push_back(row_of(checked, setting, kernel, costs[i], facts_named(facts, kernel.name), kinds));
  }
  if (!costs.empty()) out.rows.push_back(launches_row(costs, setting.machine));
  settle(out);
  return out;
}

Result<KernelTable> kernel_table(const std::string& text, const Setting& setting) {
  const Checked checked = check(text, setting);
  if (!checked.ok()) return fail(Code::program_invalid, render_text(checked.diagnostics, text, setting.file));
  SOLSTICE_TRY(const std::vector<KernelCost> costs, costs_of(*checked.program, setting));
  const Result<std::vector<KernelFacts>> facts = facts_of_kernels(*checked.program, setting);
  return kernel_table(checked, setting, costs, facts.ok() ? *facts : std::vector<KernelFacts>());
}

}  // namespace solstice::evaluate
