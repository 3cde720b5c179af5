// Products on CUDA cores although the numerics policy allows tensor cores.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

const ResourceNeed* tensor_need(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource.starts_with("tensor.")) return &need;
  }
  return nullptr;
}

// By the machine code; nothing where it was not read and others wrote the kernel.
std::optional<bool> uses_tensor_cores(const KernelView& view) {
  std::optional<bool> out;
  for (const StepFacts* step : view.steps()) {
    if (!step->sass) continue;
    out = out.value_or(false) || count_of(step->sass->mix, "wgmma") + count_of(step->sass->mix, "mma") > 0;
  }
  if (!out && view.kernel.family != "cuda") out = view.kernel.family == "gemm" && view.kernel.math != "simt";
  return out;
}

void find_simt_products(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const ResourceNeed* need = tensor_need(view.kernel);
  if (!need || uses_tensor_cores(view).value_or(true) || !view.kernel.missing.empty()) return;
  if (need->time / view.time() < tool.threshold("share")) return;
  Finding finding = finding_on(
      tool, view, fmt::format("its products run on CUDA cores, where the policy allows {} on tensor cores", need->how),
      view.gain_to_bound(""));
  finding.evidence.push_back(evidence("operations", need->amount, need->unit, "plan"));
  finding.evidence.push_back(evidence("time on tensor cores", need->time.value * 1e6, "us", "plan"));
  if (view.kernel.family == "gemm")
    finding.actions.push_back({ActionKind::kMath, "tensor cores", view.kernel.kernel, {{"math", need->how}}, ""});
  finding.actions.push_back(advice("a kernel of the family `gemm`"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_no_tensor_cores;
const Tool solstice_tools_no_tensor_cores{
    .name = "no tensor cores",
    .question = "Do products run on CUDA cores where tensor cores are allowed?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"share", 0.02, "share of the kernel's time", "below it the products are not what it waits for"}},
    .paper = "KernelPro: tensor core use",
    .of_kernel = find_simt_products,
};

}  // namespace solstice::diagnose
