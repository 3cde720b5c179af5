// The run store: every run and trial in one SQLite file (WAL).
//
// Each call is its own transaction: it sees the store at one moment, and all of it is done or nothing. It is on disk
// when the call returns (synchronous=FULL), so a killed process loses nothing it was told about. Several processes may
// use one store; a writer waits up to ten seconds for another. A store of an older schema is upgraded when it is
// opened; one of a newer schema is refused and left as it is.
//
// Errors: store_error (also of a record that cannot be read; it is named), disk_full, io_error; not_found and
// bad_argument where a run is named. Not thread-safe: one object a thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "record/fact.h"
#include "record/run.h"
#include "record/trial.h"
#include "store/loaded_run.h"
#include "store/sqlite.h"

namespace solstice::store {

struct OpenStore {
  std::filesystem::path folder;
  Database database;
};

class Store {
 public:
  // `folder` holds runs.db; made where missing.
  static Result<Store> open(const std::filesystem::path& folder);
  static Result<std::filesystem::path> default_folder();  // home_folder() of base/paths.h

  // Fills in `id` and `started` where they are empty, and returns the id.
  Result<std::string> begin_run(RunRecord run);
  // Machine, device, versions and the first of its summary become known only after the run has begun. Members of the
  // summary that are not given stay.
  Status describe_run(const std::string& id, const std::string& machine, const std::string& device,
                      const std::map<std::string, std::string>& versions, const Json& summary = {});
  // Nor, without a source file, which problem it is.
  Status identify_run(const std::string& id, const std::string& problem_key);
  // A run that goes on may do so under other options, policy, seed and folder: those of `run`.
  Status keep_choices(const RunRecord& run);
  Status add_trial(const TrialRecord& trial);  // a number that exists is replaced
  // The run's event `number` (0, 1, ..) and, in the same transaction, the trial that it ends. An event that is there
  // already is bad_argument: two processes write the same run.
  Status add_event(const std::string& run, size_t number, const search::Event& event,
                   const TrialRecord* trial = nullptr);
  // A run that goes on: it is marked running, by this process. Returns it as it was. bad_argument where another process
  // has it, also after `patience`.
  Result<LoadedRun> resume_run(const std::string& id, Seconds patience = Seconds(0));
  // So far, whatever becomes of it: members of the summary that are not given stay.
  Status keep_summary(const std::string& id, const Json& summary);
  // Its end. Members of the summary that are not given stay.
  Status finish_run(const std::string& id, RunState state, RunOutcome outcome, std::string_view reason,
                    const Json& summary);
  // An end without an outcome: one that went on keeps the outcome it had, and is as it was before altogether, but for
  // what `summary` adds, where it got no event meanwhile.
  Status stop_run(const std::string& id, RunState state, std::string_view reason, const Json& summary = {});

  // As if it had never begun: of a run without a search, which a mistake ended. One with events stays as it is.
  Status drop_run(const std::string& id);

  Result<std::vector<ListedRun>> list(int limit = 50);  // newest first
  // An id or the start of one; "last" is the newest that did not fail before its search, the newest where there is no
  // such. Ambiguous: bad_argument with the candidates.
  Result<LoadedRun> load_run(std::string_view id_or_prefix);
  // Verified trials of this problem's latest runs, newest run first: at most `limit` trials. With `before`, a run's
  // start, of runs that began before it.
  Result<std::vector<LoadedRun>> verified_trials(std::string_view problem_key, std::string_view before = "",
                                                 int limit = 400);
  // The fastest verified programs of every problem on every GPU, at most `each`, of runs that are over.
  Result<std::vector<FastProgram>> fastest_programs(int each);
  // Changes whenever fastest_programs() may: of runs that have ended or gone.
  Result<std::string> finished_mark();
  // A whole run of another store, with its id. False where the very same is here already; bad_argument where the id has
  // other content.
  Result<bool> add_run(const LoadedRun& run);

  // Gains of moves, for searches of other problems. A run's node that has a fact keeps it; returns how many were
  // new.
  Result<int> add_facts(const std::vector<Fact>& facts);
  // Facts of `machine` ("": of all), in the order in which they were learnt, up to number `last` if given.
  Result<std::vector<Fact>> facts(std::string_view machine, std::optional<int64_t> last = std::nullopt);
  Result<int64_t> last_fact();  // its number; 0 where there is none

  // Runs still marked running whose process is gone become `interrupted`, or what they were before they went on.
  // Returns how many.
  Result<int> close_abandoned();

  // All runs with what removing one would free, about; the oldest first.
  Result<std::vector<RunSize>> sizes();
  // Removes runs with their trials and events, but not one that is running; what memory learnt from them stays. Each is
  // a transaction of its own, so that a run that is running writes in between. Returns how many went.
  Result<int> remove_runs(const std::vector<std::string>& ids);
  // Gives the file's free space back. store_error while a run is running, which would wait for longer than it can, or
  // while another process writes: the space then serves later runs.
  Status compact();

  const std::filesystem::path& folder() const;

 private:
  explicit Store(std::unique_ptr<OpenStore> state) : state_(std::move(state)) {}
  std::unique_ptr<OpenStore> state_;
};

}  // namespace solstice::store
