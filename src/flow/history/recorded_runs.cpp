#include "flow/history/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace solstice::flow {
namespace {

Result<RecordedRuns> named(store::Store& store, const std::vector<std::string>& names) {
  RecordedRuns out;
  for (const std::string& name : names) {
    SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(name));
    SOLSTICE_TRY(search::Record record, search_of(loaded));
    if (record.sequence().trials() == 0) {
      return fail(Code::bad_argument, fmt::format("run {} has no recorded search to replay", record.run().id));
    }
    out.records.push_back(std::move(record));
  }
  return out;
}

}  // namespace

Result<search::Record> search_of(const store::LoadedRun& loaded, Seconds otherwise) {
  search::RecordedRun out;
  out.id = loaded.run.id;
  out.problem = loaded.run.problem;
  out.policy = loaded.run.policy;
  out.seed = static_cast<uint64_t>(loaded.run.seed);
  out.original = Seconds(loaded.run.summary.at("original").as_double());
  if (out.original.value <= 0) out.original = otherwise;
  out.bound = Seconds(loaded.run.summary.at("bounds").at("practical").as_double());
  for (const store::StoredEvent& stored : loaded.events) out.events.push_back(stored.event);
  return search::Record::read(std::move(out));
}

Result<RecordedRuns> recorded_runs(store::Store& store, const std::vector<std::string>& names,
                                   const std::string& problem) {
  if (!names.empty()) return named(store, names);
  SOLSTICE_TRY(std::vector<store::ListedRun> listed, store.list(std::numeric_limits<int>::max()));
  std::reverse(listed.begin(), listed.end());
  RecordedRuns out;
  for (const store::ListedRun& one : listed) {
    if (!one.run.ok()) return one.run.error();
    if (one.run->state != RunState::kFinished || (!problem.empty() && one.run->problem != problem)) continue;
    SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(one.id));
    SOLSTICE_TRY(search::Record record, search_of(loaded));
    if (record.sequence().trials() > 0)
      out.records.push_back(std::move(record));
    else
      ++out.without_search;
  }
  if (out.records.empty()) {
    const std::string whose = problem.empty() ? "" : fmt::format(" of `{}`", problem);
    return fail(Code::not_found,
                fmt::format("no finished run{} in {} has a recorded search", whose, store.folder().string()),
                "`solstice optimize` records one; `solstice show` lists the runs");
  }
  return out;
}

}  // namespace solstice::flow
