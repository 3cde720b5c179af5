#include "diagnose/counters/launch_batch.h"

#include <algorithm>
#include <set>

namespace solstice::diagnose {
namespace {

LaunchBatch batch_around(const std::vector<const Step*>& order, std::vector<const Step*> wanted) {
  std::set<std::string> kernels;
  for (const Step* step : wanted) kernels.insert(step->entry);
  LaunchBatch out;
  size_t found = 0;
  for (const Step* step : order) {
    if (found == wanted.size()) break;
    if (!kernels.contains(step->entry)) continue;
    found += static_cast<size_t>(std::count(wanted.begin(), wanted.end(), step));
    if (found > 0)
      out.launches.push_back(step);
    else
      ++out.skip;
  }
  out.wanted = std::move(wanted);
  return out;
}

bool is_row_of(const RawLaunch& row, const Step& step) {
  return row.kernel == step.entry && (!row.grid || *row.grid == step.grid) && (!row.block || *row.block == step.block);
}

bool all_in_order(const LaunchBatch& batch, const std::vector<RawLaunch>& rows) {
  return std::equal(rows.begin(), rows.end(), batch.launches.begin(), batch.launches.end(),
                    [](const RawLaunch& row, const Step* step) { return is_row_of(row, *step); });
}

std::optional<size_t> only_row(const LaunchBatch& batch, const std::vector<RawLaunch>& rows, const Step& step) {
  const auto same = [&](const RawLaunch& row) { return is_row_of(row, step); };
  const auto row = std::find_if(rows.begin(), rows.end(), same);
  if (row == rows.end() || std::count_if(rows.begin(), rows.end(), same) > 1) return std::nullopt;
  const auto launches = std::count_if(batch.launches.begin(), batch.launches.end(),
                                      [&](const Step* other) { return is_row_of(*row, *other); });
  return launches == 1 ? std::optional(static_cast<size_t>(row - rows.begin())) : std::nullopt;
}

}  // namespace

std::vector<const Step*> launches_of(const Plan& plan) {
  std::vector<const Step*> out;
  for (const Phase phase : {Phase::kPrepare, Phase::kLaunch}) {
    for (const Step& step : plan.steps) {
      if (step.phase == phase && step.kind == StepKind::kLaunch) out.push_back(&step);
    }
  }
  return out;
}

LaunchBatch batch_of(const Plan& plan, const std::vector<const Step*>& wanted, size_t most) {
  const std::vector<const Step*> order = launches_of(plan);
  LaunchBatch out;
  for (const Step* step : wanted) {
    if (!out.wanted.empty() && out.launches.size() >= most) break;
    std::vector<const Step*> with = out.wanted;
    with.push_back(step);
    LaunchBatch larger = batch_around(order, std::move(with));
    if (out.wanted.empty() || larger.launches.size() <= most) out = std::move(larger);
  }
  return out;
}

std::string name_filter(const LaunchBatch& batch) {
  std::set<std::string> kernels;
  for (const Step* step : batch.wanted) kernels.insert(step->entry);
  if (kernels.size() == 1) return *kernels.begin();
  std::string out;
  for (const std::string& kernel : kernels) {
    out += out.empty() ? "regex:^(" : "|";
    for (const char c : kernel) out += c == '$' || c == '.' ? std::string("\\") + c : std::string(1, c);
  }
  return out + ")$";
}

std::vector<std::optional<size_t>> rows_of(const LaunchBatch& batch, const std::vector<RawLaunch>& rows) {
  const bool in_order = all_in_order(batch, rows);
  std::vector<std::optional<size_t>> out;
  for (size_t i = 0; i < batch.launches.size(); ++i)
    out.push_back(in_order ? std::optional(i) : only_row(batch, rows, *batch.launches[i]));
  return out;
}

}  // namespace solstice::diagnose
