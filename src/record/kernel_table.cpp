#include "record/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"

namespace solstice {
namespace {

using Time = std::optional<Seconds> KernelTableRow::*;

std::optional<Seconds> sum_of(const KernelTable& table, Time time) {
  std::optional<Seconds> out;
  for (const KernelTableRow& row : table.rows) {
    if (row.*time) out = out.value_or(Seconds(0)) + *(row.*time);
  }
  return out;
}

bool any_has(const KernelTable& table, Time time) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const KernelTableRow& row) { return bool(row.*time); });
}

// The times that ratios and shares are of: predictions say nothing beside measured ones.
Time time_that_counts(const KernelTable& table) {
  return any_has(table, &KernelTableRow::measured) ? &KernelTableRow::measured : &KernelTableRow::predicted;
}

KernelTableRow* find_row(KernelTable& table, const std::string& kernel) {
  const auto found = std::find_if(table.rows.begin(), table.rows.end(),
                                  [&](const KernelTableRow& row) { return row.kernel == kernel; });
  return found == table.rows.end() ? nullptr : &*found;
}

std::string time_cell(const std::optional<Seconds>& time) { return time ? time_text(*time) : "-"; }
std::string factor_cell(double factor) {
  if (factor <= 0) return "-";
  return factor < 10 ? fmt::format("{:.2f}x", factor) : fmt::format("{:.0f}x", factor);
}
std::string share_cell(double share) { return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-"; }

std::string family_cell(const KernelTableRow& row) {
  if (row.family.empty()) return "-";
  return row.math.empty() ? row.family : fmt::format("{} {}", row.family, row.math);
}

std::vector<std::string> cells_of_row(const KernelTableRow& row, bool measured, bool predicted) {
  std::vector<std::string> out = {row.kernel, family_cell(row), row.computes};
  if (measured) out.push_back(time_cell(row.measured));
  if (predicted) out.push_back(time_cell(row.predicted));
  for (std::string cell : {time_cell(row.bound), factor_cell(row.over_bound),
                           row.limited_by.empty() ? std::string("-") : row.limited_by, share_cell(row.share)})
    out.push_back(std::move(cell));
  return out;
}

}  // namespace

void settle(KernelTable& table) {
  table.predicted = sum_of(table, &KernelTableRow::predicted);
  table.measured = sum_of(table, &KernelTableRow::measured);
  table.bound = sum_of(table, &KernelTableRow::bound);
  const Time counts = time_that_counts(table);
  const Seconds whole = sum_of(table, counts).value_or(Seconds(0));
  for (KernelTableRow& row : table.rows) {
    const std::optional<Seconds> time = row.*counts;
    row.over_bound = time && row.bound && row.bound->value > 0 ? *time / *row.bound : 0;
    row.share = time && whole.value > 0 ? *time / whole : 0;
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const KernelTableRow& a, const KernelTableRow& b) {
    return (b.*counts).value_or(Seconds(0)) < (a.*counts).value_or(Seconds(0));
  });
}

void add_measured(KernelTable& table, const std::vector<TracedKernel>& kernels, Seconds whole) {
  Seconds sum;
  for (const TracedKernel& kernel : kernels) {
    KernelTableRow* row = find_row(table, kernel.kernel);
    if (!row) row = &table.rows.emplace_back(KernelTableRow{.kernel = kernel.kernel, .family = ""});
    row->measured = kernel.measured;
    sum += kernel.measured;
  }
  KernelTableRow* const launches = find_row(table, kLaunchesRow);
  if (kernels.empty() && table.rows.size() == (launches ? 2U : 1U)) {
    for (KernelTableRow& row : table.rows) row.measured = &row == launches ? Seconds(0) : whole;
  } else if (!kernels.empty() && launches) {
    launches->measured = std::max(whole - sum, Seconds(0));
  }
  settle(table);
}

Result<std::optional<KernelTable>> kernel_table_of(const Json& record, std::optional<Seconds> whole) {
  const Json* const found = record.find("table");
  if (!found) return std::optional<KernelTable>();
  SOLSTICE_TRY(KernelTable table, from_json<KernelTable>(*found));
  if (!whole) return std::optional(std::move(table));
  SOLSTICE_TRY(const KernelTrace trace, kernel_trace_of(record));
  add_measured(table, trace.kernels, *whole);
  return std::optional(std::move(table));
}

std::vector<std::vector<std::string>> cells_of(const KernelTable& table) {
  const bool measured = any_has(table, &KernelTableRow::measured);
  const bool predicted = any_has(table, &KernelTableRow::predicted);
  std::vector<std::vector<std::string>> out(1);
  for (const char* name : {"kernel", "family", "computes"}) out[0].emplace_back(name);
  if (measured) out[0].emplace_back("measured");
  if (predicted) out[0].emplace_back("predicted");
  for (const char* name : {"bound", "over bound", "limited by", "share"}) out[0].emplace_back(name);
  for (const KernelTableRow& row : table.rows) out.push_back(cells_of_row(row, measured, predicted));
  KernelTableRow total{.kernel = "total", .family = ""};
  total.predicted = table.predicted;
  total.measured = table.measured;
  total.bound = table.bound;
  const std::optional<Seconds> time = measured ? total.measured : total.predicted;
  if (time && total.bound && total.bound->value > 0) total.over_bound = *time / *total.bound;
  total.share = time ? 1 : 0;
  out.push_back(cells_of_row(total, measured, predicted));
  return out;
}

std::vector<std::string> reasons_of(const KernelTable& table) {
  std::vector<std::string> out;
  for (const KernelTableRow& row : table.rows) {
    if (row.missing.empty()) continue;
    const std::string over = row.over_bound > 0 ? ": " + factor_cell(row.over_bound) + " of the bound" : "";
    out.push_back(fmt::format("`{}`: {} runs as `{}`{}", row.kernel, row.missing, row.family, over));
  }
  return out;
}

}  // namespace solstice
