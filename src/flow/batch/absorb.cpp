#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/time_text.h"
#include "flow/batch/batch.h"
#include "flow/batch/files.h"
#include "flow/batch/standing.h"
#include "flow/run/state/closing.h"
#include "flow/run/state/commands.h"
#include "flow/run/state/facts.h"
#include "flow/run/state/stored_runs.h"
#include "flow/run/state/trial_of.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr Seconds kPatience{10};  // with another process that has the run: batches may come back several at a time
constexpr double kWarm =
    2;  // a warm L2 may serve half of what `io` counts; the machine that measured has judged it finely

class Absorber {
 public:
  // `loaded`: the run as it was before it was taken up; `named`: the store's folder, where it is not the user's.
  Absorber(const fs::path& folder, const Batch& batch, store::Store& store, const store::LoadedRun& loaded,
           const fs::path& named)
      : folder_(folder), batch_(batch), store_(store), loaded_(loaded), run_(loaded.run), named_(named) {}

  Result<AbsorbOutcome> take() {
    SOLSTICE_CHECK(load());
    if (batch_.machine != run_.machine) {
      return fail(Code::bad_argument,
                  fmt::format("the batch says it is for {}, run {} is for {}", batch_.machine, run_.id, run_.machine));
    }
    read_original();
    SOLSTICE_CHECK(check_device());
    SOLSTICE_CHECK(take_original());
    for (const BatchCandidate& candidate : batch_.candidates) SOLSTICE_CHECK(take_result(candidate));
    miss_original();
    warn_of_versions();
    out_.run = run_.id;
    out_.in_flight = tree_.in_flight();
    out_.original = tree_.original();
    if (const search::Node* best = tree_.best()) take_best(*best);
    if (const Result<int> kept = remember(store_, run_.id, tree_, run_.machine); !kept.ok()) {
      out_.refused.push_back("the facts of this batch cannot be stored: " + kept.error().text());
    }
    return out_;
  }

  // Leaves the run's state in the store. Without news it is as it was.
  Status close(const Status& done) {
    const std::string waits = waiting_for(run_.id, tree_.in_flight(), named_);
    const std::string reason =
        fmt::format("{}{}{}", waits, out_.warnings.empty() ? "" : "; ", fmt::join(out_.warnings, "; "));
    const bool news = told_ > loaded_.events.size();
    if (!done.ok() || !news) return told_after(done, store_.stop_run(run_.id, RunState::kWaiting, reason));
    const Seconds original = tree_.original();
    return store_.finish_run(run_.id, RunState::kWaiting, RunOutcome::kNone, reason,
                             original.value > 0 ? Json::object().set("original", original.value) : Json());
  }

 private:
  void take_best(const search::Node& best) {
    out_.best = best.id;
    out_.best_time = best.measurement->time;
    out_.predicted = best.measurement->state == TrialState::kPredicted;
  }

  Status load() {
    for (const store::StoredEvent& stored : loaded_.events)
      SOLSTICE_CHECK(tree_.apply(stored.event).context("run " + run_.id));
    told_ = tree_.events().size();
    known_ = tree_.node(0).measurement.has_value();
    return success();
  }

  Status keep(const TrialRecord* trial) {
    for (; told_ < tree_.events().size(); ++told_)
      SOLSTICE_CHECK(store_.add_event(run_.id, told_, tree_.events()[told_], trial));
    return success();
  }

  void read_original() {
    Result<std::optional<BatchOriginal>> read = read_if_there<BatchOriginal>(original_file(folder_));
    const std::string flaw = !read.ok() ? read.error().text() : *read ? flaw_of_original(**read) : "";
    original_refused_ = !flaw.empty();
    if (original_refused_) {
      out_.refused.push_back(flaw);
    } else {
      original_ = std::move(*read);
    }
  }

  bool was_measured() const { return original_ && !original_->predicted; }
  // The run knows where it is measured, and the batch says where it was.
  bool both_measured() const { return known_ && was_measured() && run_.device == gpu_of(run_); }

  // Times of two GPU models do not compare.
  Status check_device() const {
    if (!both_measured() || original_->device == run_.device) return success();
    return fail(Code::bad_argument,
                fmt::format("the batch was measured on {}, run {} on {}: none of its results is added",
                            original_->device, run_.id, run_.device));
  }

  void warn_of_versions() {
    if (!both_measured() || out_.taken == 0) return;
    const std::string differing = differing_versions(run_.versions, original_->versions);
    if (!differing.empty())
      out_.warnings.push_back(fmt::format("what the run has, and {}, are of {}", folder_.string(), differing));
  }

  // The first batch that comes back says what the original takes, and where.
  Status take_original() {
    if (known_ || !was_measured()) return success();
    search::Measurement problem;
    problem.state = TrialState::kVerified;
    problem.time = original_->time;
    tree_.complete(0, std::move(problem));
    SOLSTICE_CHECK(keep(nullptr));
    return store_.describe_run(run_.id, run_.machine, original_->device, original_->versions);
  }

  // A prediction has no time of it.
  std::string flaw_of_original(const BatchOriginal& original) const {
    const bool timed = std::isfinite(original.time.value) && original.time.value > 0;
    const char* why = original.batch != batch_.id     ? "it belongs to another batch"
                      : !timed && !original.predicted ? "it has no time"
                                                      : nullptr;
    return why ? fmt::format("{}: {}", original_file(folder_).string(), why) : "";
  }

  // The original's time is found nowhere else.
  void miss_original() {
    const auto measured = [this](const BatchCandidate& candidate) {
      if (candidate.node > tree_.trials()) return false;
      const std::optional<search::Measurement>& found = tree_.node(candidate.node).measurement;
      return found && found->state == TrialState::kVerified;
    };
    if (was_measured() || original_refused_) return;
    if (std::none_of(batch_.candidates.begin(), batch_.candidates.end(), measured)) return;
    if (known_ && measured_ > 0) {
      out_.warnings.push_back(fmt::format("{}: the file that says where the results were measured is missing",
                                          original_file(folder_).string()));
    }
    if (known_) return;
    out_.refused.push_back(
        fmt::format("{}: the original's measured time is missing; `solstice evaluate {}` measures it again",
                    original_file(folder_).string(), folder_.string()));
  }

  void refuse(int node, const std::string& why) {
    out_.refused.push_back(fmt::format("{}: {}", result_file(folder_, node).string(), why));
  }

  // "" where the result is of a request of the run, and possible.
  std::string flaw_of(const BatchCandidate& candidate, const BatchResult& result) const {
    if (result.batch != batch_.id || result.node != candidate.node) return "it is the result of another batch";
    if (candidate.node <= 0 || candidate.node > tree_.trials()) return "the run has no such trial";
    if (result.hash != hash_hex(tree_.node(candidate.node).proposal.program))
      return "it is the result of another program";
    const search::Measurement& m = result.measurement;
    const double time = m.time.value;
    if (m.usable() && !(std::isfinite(time) && time > 0)) return "it is a usable candidate without a time";
    return m.state == TrialState::kVerified ? flaw_of_time(m.time) : "";
  }

  std::string flaw_of_time(Seconds time) const {
    const double io = run_.summary.at("bounds").at("io").as_double();
    if (!(io > 0)) {
      return fmt::format("the run has no io bound to check measured times against; `{} --again` computes it",
                         command_to_propose(run_.id, named_));
    }
    return time.value < io / kWarm ? fmt::format("{} is below the io bound", time_text(time)) : "";
  }

  // The result of the last request that the run has no result of, or a measurement in the place of a prediction.
  bool is_news(const search::Node& node, const BatchResult& result) const {
    const bool predicted = node.measurement && node.measurement->state == TrialState::kPredicted;
    if (predicted && !node.in_flight && result.measurement.state != TrialState::kPredicted) return true;
    return (node.in_flight || node.lost) && result.request == request_of(tree_, node.id);
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
    if (!is_news(tree_.node(candidate.node), **result)) {
      ++out_.known;
      return success();
    }
    tree_.complete(candidate.node, std::move((*result)->measurement));
    ++out_.taken;
    const search::Node& taken = tree_.node(candidate.node);
    const bool measured = taken.measurement->state == TrialState::kVerified;
    measured_ += measured;
    const TrialRecord trial = trial_of(run_.id, taken, measured);
    return keep(&trial);
  }

  const fs::path& folder_;
  const Batch& batch_;
  store::Store& store_;
  const store::LoadedRun& loaded_;
  const RunRecord& run_;
  const fs::path& named_;
  search::Tree tree_;
  size_t told_ = 0;
  bool known_ = false;  // the original's time, and its place, before this batch
  std::optional<BatchOriginal> original_;
  bool original_refused_ = false;
  int measured_ = 0;  // of the results that were taken
  AbsorbOutcome out_;
};

}  // namespace

Result<AbsorbOutcome> absorb_batch(const fs::path& folder, const fs::path& store_folder) {
  SOLSTICE_TRY(const Batch batch, read_batch(folder));
  SOLSTICE_TRY(store::Store store, existing_store(store_folder));
  SOLSTICE_TRY(const store::LoadedRun loaded,
               store.resume_run(batch.run, kPatience).context("absorbing " + folder.string()));
  Absorber absorber(folder, batch, store, loaded, store_folder);
  Result<AbsorbOutcome> done = absorber.take();
  SOLSTICE_CHECK(absorber.close(done.ok() ? success() : Status(done.error())));
  return done;
}

}  // namespace solstice::flow
