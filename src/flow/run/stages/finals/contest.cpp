#include "flow/run/stages/finals/contest.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::flow {
namespace {

class Contest {
 public:
  Contest(std::vector<Contender>& all, const run::TimeBlock& original, const run::ReadClocks& clocks,
          const run::AbbaOptions& options)
      : original_(original), clocks_(clocks), options_(options) {
    for (Contender& one : all) in_.push_back(&one);
  }

  Status run(int most_slots) {
    SOLSTICE_TRY(const int slots, shared_slots(most_slots));
    SOLSTICE_CHECK(hold_all(slots));
    while (!in_.empty()) {
      auto timed = time_all();
      if (timed.ok()) {
        take(*timed);
        return success();
      }
      if (timed.error().code != Code::too_large) return std::move(timed).error();
      SOLSTICE_CHECK(make_room(timed.error()));  // the original needs memory too
    }
    return success();
  }

 private:
  // As many copies for each as fit for all.
  Result<int> shared_slots(int most) const {
    for (const Contender* one : in_) {
      SOLSTICE_TRY(const int fitting, one->slots_for(static_cast<int>(in_.size())));
      most = std::min(most, fitting);
    }
    return std::max(most, 1);
  }

  Status hold_all(int slots) {
    slots_ = slots;
    std::vector<Contender*> held;
    for (Contender* one : in_) {
      SOLSTICE_TRY(const Verdict verdict, one->hold(slots_));
      if (verdict.passed()) {
        held.push_back(one);
      } else if (verdict.outcome != Outcome::kOutOfMemory || held.empty()) {
        one->refused = fmt::format("{} passed before and fails now: {}", one->name, verdict.message);
      }
    }
    in_ = std::move(held);
    return success();
  }

  // The last one waits for its turn; one alone makes do with one copy, and where that does not help either, it is out.
  Status make_room(const Error& error) {
    in_.back()->let_go();
    if (in_.size() == 1 && slots_ > 1) return hold_all(1);
    if (in_.size() == 1)
      in_[0]->refused = fmt::format("{} cannot be timed beside the original: {}", in_[0]->name, error.message);
    in_.pop_back();
    return success();
  }

  Result<std::vector<Result<Timing>>> time_all() const {
    std::vector<run::TimeBlock> blocks;
    for (const Contender* one : in_) blocks.push_back(one->time);
    return run::time_interleaved(blocks, original_, clocks_, options_);
  }

  void take(std::vector<Result<Timing>>& timed) {
    for (size_t i = 0; i < in_.size(); ++i) {
      if (timed[i].ok()) {
        in_[i]->timing = std::move(timed[i]).value();
      } else {
        in_[i]->refused = fmt::format("{}: {}", in_[i]->name, timed[i].error().message);
        in_[i]->let_go();
      }
    }
  }

  std::vector<Contender*> in_;
  const run::TimeBlock& original_;
  const run::ReadClocks& clocks_;
  const run::AbbaOptions& options_;
  int slots_ = 1;
};

}  // namespace

Status hold_contest(std::vector<Contender>& all, int most_slots, const run::TimeBlock& original,
                    const run::ReadClocks& clocks, const run::AbbaOptions& options) {
  return Contest(all, original, clocks, options).run(most_slots);
}

}  // namespace solstice::flow
