#include "flow/bench/merge.h"

#include <fmt/format.h>

#include <algorithm>

#include "flow/bench/same.h"

namespace solstice::flow {
namespace {

Error refused(const NamedBench& first, const NamedBench& second, const std::string& what) {
  return fail(Code::bad_argument, fmt::format("{} and {} cannot be merged: {}", first.name, second.name, what));
}

Status check_mergeable(const NamedBench& first, const NamedBench& second) {
  const std::string in_first = "in " + first.name, in_second = "in " + second.name;
  const std::string options = differences(first.bench.options, second.bench.options, in_first, in_second);
  if (!options.empty()) return refused(first, second, "they were run with other options: " + options);
  for (const BenchRow& a : first.bench.rows) {
    for (const BenchRow& b : second.bench.rows) {
      const std::string place = place_difference(a, b, in_first, in_second);
      if (!place.empty()) return refused(first, second, "they were run in different places: " + place);
      if (a.id == b.id && !a.source.empty() && !b.source.empty() && a.source != b.source) {
        return refused(first, second, fmt::format("the file of problem {} differs", a.id));
      }
    }
  }
  return success();
}

void add_row(std::vector<BenchRow>& rows, BenchRow row) {
  const auto known = std::find_if(rows.begin(), rows.end(), [&](const BenchRow& r) { return r.id == row.id; });
  if (known == rows.end()) {
    rows.push_back(std::move(row));
  } else if (known->finished <= row.finished) {
    *known = std::move(row);
  }
}

}  // namespace

Result<Bench> merge_benches(std::vector<NamedBench> benches) {
  if (benches.empty()) return fail(Code::bad_argument, "there is nothing to merge");
  for (size_t i = 0; i < benches.size(); ++i) {
    for (size_t k = i + 1; k < benches.size(); ++k) SOLSTICE_CHECK(check_mergeable(benches[i], benches[k]));
  }
  Bench out = benches[0].bench;
  out.rows.clear();
  for (NamedBench& each : benches) {
    out.started = std::min(out.started, each.bench.started);
    for (BenchRow& row : each.bench.rows) add_row(out.rows, std::move(row));
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), before);
  return out;
}

}  // namespace solstice::flow
