#include "diagnose/counters/stall_reasons.h"

#include <fmt/format.h>

namespace solstice::diagnose {
namespace {

constexpr std::string_view kSampled = "smsp__pcsamp_warps_issue_stalled_", kColumn = "stall_";

// The name that `spelling` gives, or the rest of the column itself.
std::string reason_after(std::string_view column, size_t prefix, std::string_view StallReason::*spelling) {
  const std::string_view rest = column.substr(prefix);
  for (const StallReason& reason : stall_reasons()) {
    if (reason.*spelling == rest || reason.name == rest) return std::string(reason.name);
  }
  return std::string(rest);
}

}  // namespace

const std::vector<StallReason>& stall_reasons() {
  static const std::vector<StallReason> reasons = {
      {"barrier", "barrier", "barrier"},
      {"branch_resolving", "branch_resolving", "branch_resolving"},
      {"dispatch_stall", "dispatch_stall", "dispatch"},
      {"drain", "drain", "drain"},
      {"gmma", "warpgroup_arrive", "gmma"},
      {"imc_miss", "imc_miss", "imc"},
      {"lg_throttle", "lg_throttle", "lg"},
      {"long_scoreboard", "long_scoreboard", "long_sb"},
      {"math_pipe_throttle", "math_pipe_throttle", "math"},
      {"membar", "membar", "membar"},
      {"mio_throttle", "mio_throttle", "mio"},
      {"misc", "misc", "misc"},
      {"no_instruction", "no_instructions", "no_inst"},
      {"not_selected", "not_selected", "not_selected"},
      {"selected", "selected", "selected"},
      {"short_scoreboard", "short_scoreboard", "short_sb"},
      {"sleeping", "sleeping", "sleep"},
      {"tex_throttle", "tex_throttle", "tex"},
      {"wait", "wait", "wait"},
  };
  return reasons;
}

std::string sampled_reason(std::string_view column) {
  // Each reason has a second column, of the cycles in which the scheduler issued nothing.
  const bool again =
      column.find("not_issued") != std::string_view::npos || column.find("(Not Issued)") != std::string_view::npos;
  if (again) return "";
  if (column.substr(0, kSampled.size()) == kSampled)
    return reason_after(column, kSampled.size(), &StallReason::sampler);
  if (column.substr(0, kColumn.size()) == kColumn) return reason_after(column, kColumn.size(), &StallReason::column);
  return "";
}

std::string stall_metric(std::string_view reason) {
  return fmt::format("smsp__warp_issue_stalled_{}_per_warp_active.pct", reason);
}

std::string sampling_section() {
  std::string out = fmt::format(
      "Identifier: \"{}\"\nDisplayName: \"Warp states by address\"\nOrder: 1000\nSourceMetrics {{\n", kSamplingSection);
  const auto add = [&](std::string_view label, std::string_view metric) {
    out += fmt::format("  Metrics {{\n    Label: \"{}\"\n    Name: \"{}\"\n  }}\n", label, metric);
  };
  for (const StallReason& reason : stall_reasons()) {
    add(fmt::format("{}{}", kColumn, reason.column), fmt::format("{}{}", kSampled, reason.sampler));
  }
  return out + "}\n";
}

}  // namespace solstice::diagnose
