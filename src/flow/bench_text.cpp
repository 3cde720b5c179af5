// bench.md: what became of the problems, and where the rows come from.
#include <fmt/format.h>

#include <cmath>

#include "base/time_text.h"
#include "flow/bench.h"
#include "flow/report_text.h"

namespace solstice::flow {
namespace {

// At a word's end where there is one, never inside a character.
std::string clipped(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = text.rfind(' ', limit);
  if (end == std::string::npos || end < limit / 2) end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string place_text(const std::map<std::string, std::string>& made) {
  std::string out;
  for (const char* name : {"solstice", "build", "device", "driver", "torch"}) {
    const auto found = made.find(name);
    if (found != made.end()) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, found->second);
  }
  return out.empty() ? "not recorded" : out;
}

// Rows that failed early know less; they are counted where they fit.
std::string places_text(const Bench& bench) {
  std::map<std::string, int> places;
  std::map<std::string, int> builds;
  for (const BenchRow& row : bench.rows) {
    if (row.failed) continue;
    ++places[place_text(row.made_with)];
    if (const auto build = row.made_with.find("build"); build != row.made_with.end()) ++builds[build->second];
  }
  std::string out = builds.size() > 1 ? fmt::format("\n**Rows come from {} builds of Solstice.**\n\n", builds.size()) : "\n";
  for (const auto& [place, count] : places) out += fmt::format("- {} rows: {}\n", count, place);
  return out;
}

std::string outcome_text(const BenchRow& row) {
  if (row.failed && row.outcome == RunOutcome::kNone) return "failed";
  return enum_names(row.outcome)[static_cast<size_t>(row.outcome)];
}

}  // namespace

double geometric_mean(const Bench& bench) {
  double sum = 0;
  int count = 0;
  for (const BenchRow& row : bench.rows) {
    if (row.failed || row.outcome == RunOutcome::kUnsupported || row.predicted) continue;
    sum += row.outcome == RunOutcome::kFaster && row.speedup > 0 ? std::log(row.speedup) : 0.0;
    ++count;
  }
  return count ? std::exp(sum / count) : 0.0;
}

std::string render_bench(const Bench& bench) {
  std::map<std::string, int> counts;
  for (const BenchRow& row : bench.rows) ++counts[outcome_text(row)];
  std::string out = fmt::format("# Bench\n\nsolstice {}, started {}\n\n", bench.version, bench.started);
  for (const auto& [outcome, count] : counts) out += fmt::format("- {}: {}\n", outcome, count);
  if (const double mean = geometric_mean(bench); mean > 0) {
    out += fmt::format("\nGeometric mean over supported problems (not faster counts 1): {:.3f}x\n", mean);
  }
  out += places_text(bench);
  out += "\nOptions:";
  for (const auto& [name, value] : bench.options) out += fmt::format(" {}={}", name, value.empty() ? "auto" : value);
  std::vector<std::vector<std::string>> rows = {{"id", "problem", "outcome", "speedup", "original", "replacement", "took", "reason"}};
  const auto time = [](Seconds t) { return t.value > 0 ? time_text(t) : std::string("-"); };
  for (const BenchRow& row : bench.rows) {
    rows.push_back({row.id, row.name, outcome_text(row) + (row.predicted ? " (predicted)" : ""),
                    row.speedup > 0 ? fmt::format("{:.2f}x", row.speedup) : "-", time(row.original), time(row.replacement), time(row.took),
                    clipped(row.reason, 160)});
  }
  return out + "\n\n" + markdown_table(rows);
}

}  // namespace solstice::flow
