// A pass that splits operands into narrow planes before each product. Weights need it once, if they are frozen.
#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

Seconds term(const KernelSheet& kernel, std::string_view name) {
  for (const CostTerm& each : kernel.terms) {
    if (each.name == name) return each.time;
  }
  return {};
}

// Of one of the product's operands, as far as its size tells: what else the kernel reads (a bias, a residual) is not
// split.
bool is_operand(const TensorFacts& tensor, const std::optional<ProductShape>& product) {
  const auto dtype = dtype_from_name(tensor.dtype);
  if (tensor.written || !dtype) return false;
  if (!product) return true;
  const double elements = tensor.bytes.value / static_cast<double>(size_of(*dtype));
  const auto is = [&](int64_t lines) {
    const double one = static_cast<double>(lines) * static_cast<double>(product->k);
    return elements == one || elements == one * static_cast<double>(product->batches);
  };
  return is(product->m) || is(product->n);
}

// Bytes that are split, and those of them that are weights.
std::pair<double, double> split_bytes(const KernelView& view) {
  double all = 0, weights = 0;
  for (const TensorFacts& tensor : view.kernel.tensors) {
    if (!is_operand(tensor, view.product)) continue;
    all += tensor.bytes.value;
    if (tensor.kind == "param") weights += tensor.bytes.value;
  }
  return {all, weights};
}

bool is_packed_at_load(const KernelSheet& kernel) {
  return std::any_of(kernel.steps.begin(), kernel.steps.end(), [](const StepFacts& step) { return step.prepare; });
}

FindingAction pack_once(const KernelView& view) {
  if (view.facts.frozen)
    return change_knobs(view, {{"prepack", "auto"}}, "weights are split once, at load: nobody trains them");
  return advice("`--weights frozen`: weights are split once, at load, if nobody trains them");
}

void find_split(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  Seconds split;
  std::string source = "trace";
  for (const StepFacts* step : view.steps()) {
    if (step->step.ends_with("-split")) split += step->measured.value_or(Seconds(0));
  }
  if (split.value <= 0) {
    split = term(view.kernel, "split");
    source = "plan";
  }
  const double share = view.time().value > 0 ? split / view.time() : 0;
  if (share < tool.threshold("share") || is_packed_at_load(view.kernel)) return;
  const auto [all, weights] = split_bytes(view);
  if (weights <= 0) return;
  const double saved = share * weights / all;
  Finding finding = finding_on(
      tool, view,
      fmt::format("{:.0f} % of its time goes into splitting operands, and {:.0f} % of their bytes are weights",
                  100 * share, 100 * weights / all),
      view.gain(1 / (1 - saved), "if weights were split once, at load"));
  finding.evidence.push_back(evidence("split pass", split.value * 1e6, "us", source));
  finding.evidence.push_back(evidence("weights", weights, "B", "plan"));
  finding.actions.push_back(pack_once(view));
  finding.confidence = Confidence::kHigh;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_split_pass;
const Tool solstice_tools_split_pass{
    .name = "split pass",
    .question = "Are weights split anew on every call?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"share", 0.03, "share of the kernel's time", "below it nothing is won"}},
    .of_kernel = find_split,
};

}  // namespace solstice::diagnose
