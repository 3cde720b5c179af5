#include <fmt/format.h>

#include "base/hash.h"
#include "flow/batch.h"
#include "flow/batch_files.h"
#include "flow/facts.h"
#include "flow/trial_of.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

class Absorber {
 public:
  Absorber(const fs::path& folder, const Batch& batch, store::Store& store) : folder_(folder), batch_(batch), store_(store) {}

  Result<AbsorbOutcome> take() {
    SOLSTICE_CHECK(load());
    SOLSTICE_CHECK(take_original());
    for (const BatchCandidate& candidate : batch_.candidates) SOLSTICE_CHECK(take_result(candidate));
    out_.run = run_.id;
    out_.in_flight = tree_.in_flight();
    out_.original = tree_.original();
    if (const search::Node* best = tree_.best()) out_.best = best->id, out_.best_time = best->measurement->time;
    SOLSTICE_CHECK(remember(store_, run_.id, tree_, batch_.machine));
    return out_;
  }

  // The summary that the run has, and the original's time.
  Json summary() const {
    Json out = run_.summary.is_null() ? Json::object() : run_.summary;
    if (tree_.original().value > 0) out.set("original", tree_.original().value);
    return out;
  }

 private:
  Status load() {
    SOLSTICE_TRY(const store::LoadedRun loaded, store_.load_run(batch_.run).context("absorbing " + folder_.string()));
    run_ = loaded.run;
    for (const store::StoredEvent& stored : loaded.events) SOLSTICE_CHECK(tree_.apply(stored.event).context("run " + run_.id));
    told_ = tree_.events().size();
    return success();
  }

  Status keep(const TrialRecord* trial) {
    for (; told_ < tree_.events().size(); ++told_) SOLSTICE_CHECK(store_.add_event(run_.id, told_, tree_.events()[told_], trial));
    return success();
  }

  // The first batch that comes back says what the original takes, and where.
  Status take_original() {
    SOLSTICE_TRY(const auto original, read_if_there<BatchOriginal>(original_file(folder_)));
    if (!original || original->batch != batch_.id) return success();
    measured_ = !original->predicted;
    if (original->time.value <= 0 || tree_.node(0).measurement) return success();
    search::Measurement problem;
    problem.state = TrialState::kVerified;
    problem.time = original->time;
    tree_.complete(0, std::move(problem));
    SOLSTICE_CHECK(keep(nullptr));
    return store_.describe_run(run_.id, batch_.machine, original->device, original->versions);
  }

  Status take_result(const BatchCandidate& candidate) {
    SOLSTICE_TRY(auto result, read_if_there<BatchResult>(result_file(folder_, candidate.node)));
    if (!result) {
      ++out_.missing;
      return success();
    }
    const auto wrong = [&](const char* why) {
      return fail(Code::bad_argument, fmt::format("{}: {}; nothing of it was taken", result_file(folder_, candidate.node).string(), why));
    };
    if (result->batch != batch_.id || result->node != candidate.node) return wrong("it is the result of another batch");
    if (candidate.node <= 0 || candidate.node > tree_.trials()) return wrong("the run has no such trial");
    const search::Node& node = tree_.node(candidate.node);
    if (result->hash != hash_hex(node.proposal.program)) return wrong("it is the result of another program");
    if (!node.in_flight && !node.lost) {
      ++out_.known;
      return success();
    }
    tree_.complete(candidate.node, std::move(result->measurement));
    ++out_.taken;
    const TrialRecord trial = trial_of(run_.id, tree_.node(candidate.node), measured_);
    return keep(&trial);
  }

  const fs::path& folder_;
  const Batch& batch_;
  store::Store& store_;
  RunRecord run_;
  search::Tree tree_;
  size_t told_ = 0;
  bool measured_ = false;
  AbsorbOutcome out_;
};

}  // namespace

Result<AbsorbOutcome> absorb_batch(const fs::path& folder, const fs::path& store_folder) {
  SOLSTICE_TRY(const Batch batch, read_batch(folder));
  fs::path where = store_folder;
  if (where.empty()) {
    SOLSTICE_TRY(where, store::Store::default_folder());
  }
  SOLSTICE_TRY(store::Store store, store::Store::open(where));
  SOLSTICE_CHECK(store.resume_run(batch.run));
  Absorber absorber(folder, batch, store);
  const Result<AbsorbOutcome> done = absorber.take();
  const int out = done.ok() ? done->in_flight : 0;
  const RunState how = out > 0 ? RunState::kWaiting : RunState::kInterrupted;
  const std::string reason = out > 0 ? fmt::format("{} results are out", out) : done.ok() ? "all results are in" : done.error().message;
  const Status kept = store.finish_run(batch.run, how, RunOutcome::kNone, reason, absorber.summary());
  if (!done.ok()) return done.error();
  SOLSTICE_CHECK(kept);
  return done;
}

}  // namespace solstice::flow
