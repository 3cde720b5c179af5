#include "flow/run/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "flow/run/problem/written.h"
#include "flow/run/state/program_options.h"
#include "flow/run/state/resume_options.h"
#include "search/make_policy.h"

namespace solstice::flow {
namespace {

Status open_store(OptimizeOptions& request, StoredRun& stored) {
  if (request.resume.empty()) {
    SOLSTICE_TRY(stored.store, store_of(request.store));
    return success();
  }
  SOLSTICE_TRY(stored.store, existing_store(request.store));
  SOLSTICE_CHECK(stored.store->close_abandoned());  // of a killed process it is as begin_run() will find it
  SOLSTICE_TRY(stored.resumed, stored.store->load_run(request.resume));
  request.resume = stored.resumed->run.id;
  SOLSTICE_CHECK(check_whole(stored.resumed->run, request));
  return take_as_begun(*stored.resumed, request);
}

// A model that would not be asked. One that was killed after its last trial still comes to its end.
Status check_trials_left(const store::LoadedRun& resumed, const RunOptions& options) {
  if (!options.agent.wanted() || options.place.detached || options.search.searched) return success();
  constexpr int kMore = 40;  // a whole search, as of a new run
  const RunRecord& record = resumed.run;
  const bool broken_off = record.state != RunState::kFinished && options.led_before.by == "model";
  if (broken_off) return success();
  const std::vector<store::StoredEvent>& events = resumed.events;
  const auto trials = static_cast<int>(std::count_if(events.begin(), events.end(), [](const auto& stored) {
    return stored.event.kind == search::Event::Kind::kProposed;
  }));
  if (trials < options.search.trials) return success();
  return fail(Code::bad_argument,
              fmt::format("run {} has {}, and its budget is {}: none is left for {}", record.id,
                          counted(trials, "trial"), options.search.trials, options.agent.controller),
              fmt::format("give more, for example --budget {}trials, or leave --agent out", trials + kMore));
}

}  // namespace

Result<ResolvedRun> resolve_run(OptimizeOptions request) {
  StoredRun stored;
  SOLSTICE_CHECK(open_store(request, stored));
  SOLSTICE_CHECK(read_source(request.module, stored));
  if (is_program(request.module.file))
    SOLSTICE_CHECK(resolve_program(stored.source, stored.resumed.has_value(), request));
  // A module given as an object is known only when it is imported; identify_object() looks then.
  if (stored.resumed) SOLSTICE_CHECK(check_as_begun(request, stored, *stored.resumed));
  ResolvedRun out{RunOptions{std::move(request)}, std::move(stored)};
  const std::optional<store::LoadedRun>& resumed = out.stored.resumed;
  SOLSTICE_CHECK(complete_options(resumed ? &*resumed : nullptr, out.options));
  if (resumed) SOLSTICE_CHECK(check_trials_left(*resumed, out.options));
  return out;
}

Status open_leaders(Run& run) {
  SOLSTICE_TRY(run.policy, search::make_policy(run.options.search.policy, run.options.search.seed));
  if (!run.options.agent.wanted()) return success();
  SOLSTICE_TRY(run.agent,
               AgentSide::open(run.options.agent, [&run](const std::string& text) { run.progress.message(text); }));
  return success();
}

}  // namespace solstice::flow
