#include "cli/view/search_bench_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/view/table.h"
#include "flow/bench/search_bench.h"

namespace solstice::cli {
namespace {

bool was_predicted(const SearchRow& row) { return row.failed.empty() && row.device == "model"; }

std::string best_text(const SearchRow& row) {
  if (row.best.empty() || row.best.back().value <= 0) return "-";
  const std::string mark = was_predicted(row) ? "predicted " : "";
  return mark + (row.original.value > 0 ? show_factor(row.original / row.best.back()) : show(row.best.back()));
}

std::vector<std::string> row_of(const flow::PolicyStanding& s) {
  return {s.policy,
          std::to_string(s.problems),
          s.timed ? show_factor(s.speedup) : "-",
          s.timed ? show_factor(s.early) : "-",
          fmt::format("{:.3f}", s.ratio),
          fmt::format("{:.2g}", s.p),
          fmt::format("{:.2g}", s.p_worse),
          show(s.a_trial),
          s.measuring > 0 ? fmt::format("{:.0f} %", 100 * s.measuring) : "-"};
}

}  // namespace

std::string search_row_text(const SearchRow& row) {
  const std::string which =
      fmt::format("{:<6} {:<36} {:<24} {:>3}", row.id, clip(row.name, 36), clip(row.policy, 24), row.seed);
  if (!row.failed.empty()) return fmt::format("{}  failed: {}\n", which, clip(row.failed, 80));
  return fmt::format("{}  {:>4} trials in {:>8}  best {:>8}  ({})\n", which, row.best.size(), show(row.took),
                     best_text(row), row.stop);
}

std::string standings_text(const SearchBench& bench) {
  std::vector<std::vector<std::string>> rows = {{"policy", "problems", "speedup", "mean over trials", "over the first",
                                                 "p no better", "p no worse", "a trial", "GPU busy"}};
  const bool predicted = std::any_of(bench.rows.begin(), bench.rows.end(), was_predicted);
  if (predicted) rows.front()[2] = "predicted speedup";
  for (const flow::PolicyStanding& standing : flow::standings_of(bench)) rows.push_back(row_of(standing));
  return table(rows) + (predicted ? kPredictedNote : "");
}

}  // namespace solstice::cli
