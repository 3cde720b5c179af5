#include "cli/view/tool_stats_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/view/table.h"

namespace solstice::cli {
namespace {

std::string factor_or_dash(double value) { return value > 0 ? fmt::format("{:.3g}x", value) : "-"; }

}  // namespace

std::string tool_stats_text(const flow::StoredOutcomes& found, const std::string& store) {
  const std::vector<flow::ToolStats> stats = flow::stats_of(found.outcomes);
  std::string out;
  if (stats.empty()) out = fmt::format("no measured trial with findings in {}\n", store);
  std::vector<std::vector<std::string>> rows = {
      {"tool", "class", "machine", "found", "acted on", "hits", "failed", "median gain", "over bound", "beyond bound"}};
  for (const flow::ToolStats& one : stats) {
    rows.push_back({one.tool, one.limited, one.machine, std::to_string(one.found), std::to_string(one.acted_on),
                    std::to_string(one.hits), std::to_string(one.failed), factor_or_dash(one.median_gain),
                    one.over_bound > 0 ? fmt::format("{:.2f}", one.over_bound) : "-", std::to_string(one.beyond)});
  }
  if (!stats.empty()) out += table(rows);
  if (const std::vector<std::string> never = flow::never_hit(stats); !never.empty())
    out += fmt::format("acted on, and never a gain: {}\n", fmt::join(never, ", "));
  for (const std::string& why : found.unreadable) out += fmt::format("left out: {}\n", why);
  return out;
}

Json tool_stats_json(const flow::StoredOutcomes& found) {
  const std::vector<flow::ToolStats> stats = flow::stats_of(found.outcomes);
  Json tools = Json::array();
  for (const flow::ToolStats& one : stats) tools.push(to_json(one));
  return Json::object()
      .set("runs", found.runs)
      .set("tools", tools)
      .set("never_hit", text_list(flow::never_hit(stats)))
      .set("unreadable", text_list(found.unreadable));
}

}  // namespace solstice::cli
