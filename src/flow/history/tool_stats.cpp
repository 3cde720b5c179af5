#include "flow/history/tool_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace solstice::flow {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct GatheredStats {
  ToolStats stats;
  std::vector<double> gains = {}, shares = {};

  void add(const propose::FindingOutcome& outcome) {
    ++stats.found;
    for (const propose::ActedOn& acted : outcome.acted) {
      ++stats.acted_on;
      if (acted.state != TrialState::kVerified) {
        ++stats.failed;
        continue;
      }
      const double gain = std::exp2(acted.gain);
      gains.push_back(gain);
      shares.push_back(gain / outcome.bound);
      if (!acted.hit) continue;
      ++stats.hits;
      if (gain > outcome.bound * (1 + search::kNoise)) ++stats.beyond;
    }
  }

  ToolStats done() && {
    stats.median_gain = median_of(std::move(gains));
    stats.over_bound = median_of(std::move(shares));
    return std::move(stats);
  }
};

Result<std::vector<propose::FindingOutcome>> outcomes_of_run(store::Store& store, const RunRecord& run) {
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(run.id));
  search::Tree tree;
  for (const store::StoredEvent& stored : loaded.events) SOLSTICE_CHECK(tree.apply(stored.event));
  std::vector<propose::FindingOutcome> out = propose::outcomes_of(tree);
  for (propose::FindingOutcome& one : out) one.machine = run.machine;
  return out;
}

}  // namespace

std::vector<ToolStats> stats_of(const std::vector<propose::FindingOutcome>& outcomes) {
  std::map<std::tuple<std::string, std::string, std::string>, GatheredStats> gathered;
  for (const propose::FindingOutcome& outcome : outcomes) {
    const auto key = std::make_tuple(outcome.tool, outcome.limited, outcome.machine);
    GatheredStats& one = gathered[key];
    std::tie(one.stats.tool, one.stats.limited, one.stats.machine) = key;
    one.add(outcome);
  }
  std::vector<ToolStats> out;
  for (auto& [key, one] : gathered) out.push_back(std::move(one).done());
  return out;
}

std::vector<std::string> never_hit(const std::vector<ToolStats>& stats) {
  std::map<std::string, std::pair<int, int>> tools;  // acted on, hits
  for (const ToolStats& one : stats) {
    tools[one.tool].first += one.acted_on;
    tools[one.tool].second += one.hits;
  }
  std::vector<std::string> out;
  for (const auto& [tool, counts] : tools) {
    if (counts.first > 0 && counts.second == 0) out.push_back(tool);
  }
  return out;
}

Result<StoredOutcomes> outcomes_in(store::Store& store) {
  SOLSTICE_TRY(std::vector<store::ListedRun> listed, store.list(std::numeric_limits<int>::max()));
  StoredOutcomes out;
  for (const store::ListedRun& one : listed) {
    if (one.run.ok() && one.run->state == RunState::kRunning) continue;
    Result<std::vector<propose::FindingOutcome>> found =
        one.run.ok() ? outcomes_of_run(store, *one.run) : Result<std::vector<propose::FindingOutcome>>(one.run.error());
    if (!found.ok()) {
      out.unreadable.push_back(fmt::format("{}: {}", one.id, found.error().message));
      continue;
    }
    out.runs += found->empty() ? 0 : 1;
    for (propose::FindingOutcome& outcome : *found) out.outcomes.push_back(std::move(outcome));
  }
  return out;
}

}  // namespace solstice::flow
