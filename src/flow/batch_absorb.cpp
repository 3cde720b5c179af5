#include <fmt/format.h>

#include <cmath>

#include "base/hash.h"
#include "base/time_text.h"
#include "flow/batch.h"
#include "flow/batch_files.h"
#include "flow/facts.h"
#include "flow/opening.h"
#include "flow/trial_of.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr double kWarm = 2;  // a warm L2 may serve half of what `io` counts; the machine that measured has judged it finely

class Absorber {
 public:
  // `loaded`: the run as it was before it was taken up.
  Absorber(const fs::path& folder, const Batch& batch, store::Store& store, const store::LoadedRun& loaded)
      : folder_(folder), batch_(batch), store_(store), loaded_(loaded), run_(loaded.run) {}

  Result<AbsorbOutcome> take() {
    SOLSTICE_CHECK(load());
    if (batch_.machine != run_.machine) {
      return fail(Code::bad_argument, fmt::format("the batch says it is for {}, run {} is for {}", batch_.machine, run_.id, run_.machine));
    }
    SOLSTICE_CHECK(take_original());
    for (const BatchCandidate& candidate : batch_.candidates) SOLSTICE_CHECK(take_result(candidate));
    out_.run = run_.id;
    out_.in_flight = tree_.in_flight();
    out_.original = tree_.original();
    if (const search::Node* best = tree_.best()) out_.best = best->id, out_.best_time = best->measurement->time;
    if (const Result<int> kept = remember(store_, run_.id, tree_, run_.machine); !kept.ok()) {
      out_.refused.push_back("the store does not keep what moves gained: " + kept.error().text());
    }
    return out_;
  }

  // How the run stands now. One that had its end and got nothing new keeps it.
  Status close(const Status& done) {
    const bool ended = run_.state == RunState::kFinished && out_.taken == 0;
    if (ended) return store_.finish_run(run_.id, run_.state, run_.outcome, run_.reason, run_.summary);
    const int out = tree_.in_flight();
    const RunState how = out > 0 ? RunState::kWaiting : RunState::kInterrupted;
    const std::string reason = !done.ok() ? done.error().message : out > 0 ? fmt::format("{} results are out", out) : "all results are in";
    return store_.finish_run(run_.id, how, RunOutcome::kNone, reason, summary());
  }

 private:
  // The summary that the run has, and the original's time.
  Json summary() const {
    Json out = run_.summary.is_null() ? Json::object() : run_.summary;
    if (tree_.original().value > 0) out.set("original", tree_.original().value);
    return out;
  }

  Status load() {
    for (const store::StoredEvent& stored : loaded_.events) SOLSTICE_CHECK(tree_.apply(stored.event).context("run " + run_.id));
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
    if (!std::isfinite(original->time.value) || original->time.value <= 0 || tree_.node(0).measurement) return success();
    search::Measurement problem;
    problem.state = TrialState::kVerified;
    problem.time = original->time;
    tree_.complete(0, std::move(problem));
    SOLSTICE_CHECK(keep(nullptr));
    return store_.describe_run(run_.id, run_.machine, original->device, original->versions);
  }

  void refuse(int node, const std::string& why) { out_.refused.push_back(fmt::format("{}: {}", result_file(folder_, node).string(), why)); }

  // "" where the result is of what the run asks for, and possible.
  std::string flaw_of(const BatchCandidate& candidate, const BatchResult& result) const {
    if (result.batch != batch_.id || result.node != candidate.node) return "it is the result of another batch";
    if (candidate.node <= 0 || candidate.node > tree_.trials()) return "the run has no such trial";
    if (result.hash != hash_hex(tree_.node(candidate.node).proposal.program)) return "it is the result of another program";
    const search::Measurement& m = result.measurement;
    const double time = m.time.value;
    if (m.usable() && !(std::isfinite(time) && time > 0)) return "it is usable and has no time";
    const double io = run_.summary.at("bounds").at("io").as_double();
    if (m.state == TrialState::kVerified && io > 0 && time < io / kWarm)
      return fmt::format("{} is below what the bytes alone take", time_text(m.time));
    return "";
  }

  Status take_result(const BatchCandidate& candidate) {
    Result<std::optional<BatchResult>> result = read_if_there<BatchResult>(result_file(folder_, candidate.node));
    if (!result.ok()) {
      out_.refused.push_back(result.error().text());
      return success();
    }
    if (!*result) {
      ++out_.missing;
      return success();
    }
    if (const std::string flaw = flaw_of(candidate, **result); !flaw.empty()) {
      refuse(candidate.node, flaw);
      return success();
    }
    const search::Node& node = tree_.node(candidate.node);
    if ((!node.in_flight && !node.lost) || (*result)->request != request_of(tree_, candidate.node)) {
      ++out_.known;
      return success();
    }
    tree_.complete(candidate.node, std::move((*result)->measurement));
    ++out_.taken;
    const search::Node& taken = tree_.node(candidate.node);
    const TrialRecord trial = trial_of(run_.id, taken, taken.measurement->state == TrialState::kVerified);
    return keep(&trial);
  }

  const fs::path& folder_;
  const Batch& batch_;
  store::Store& store_;
  const store::LoadedRun& loaded_;
  const RunRecord& run_;
  search::Tree tree_;
  size_t told_ = 0;
  AbsorbOutcome out_;
};

}  // namespace

Result<AbsorbOutcome> absorb_batch(const fs::path& folder, const fs::path& store_folder) {
  SOLSTICE_TRY(const Batch batch, read_batch(folder));
  SOLSTICE_TRY(store::Store store, store_of(store_folder));
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(batch.run).context("absorbing " + folder.string()));
  SOLSTICE_CHECK(store.resume_run(batch.run));
  Absorber absorber(folder, batch, store, loaded);
  Result<AbsorbOutcome> done = absorber.take();
  const Status closed = absorber.close(done.ok() ? success() : Status(done.error()));
  if (!done.ok()) return done.error();
  SOLSTICE_CHECK(closed);
  return done;
}

}  // namespace solstice::flow
