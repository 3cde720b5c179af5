#include "flow/run/stages/finals/finalists.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "flow/run/stages/finals/finalists_timing.h"
#include "flow/run/stages/finals/full_verification.h"
#include "flow/run/stages/finals/next_finalists.h"

namespace solstice::flow {
namespace {

class Final {
 public:
  Final(Run& run, const Searched& searched, const Measurable& measurable, Searching* searching)
      : run_(run), searched_(searched), measurable_(measurable), searching_(searching) {}

  Result<Chosen> choose() {
    if (hopeless()) return std::move(chosen_);
    SOLSTICE_CHECK(verify_favourite());
    if (run_.report.outcome == RunOutcome::kNone) SOLSTICE_CHECK(time_finalists());
    return std::move(chosen_);
  }

 private:
  // No noise makes a win of a candidate that takes so much longer than the original, its dispatch included, which the
  // headline may count.
  Seconds most_time() const {
    constexpr double kHopeless = 1.25;
    return (original().time + original().dispatch) * kHopeless;
  }

  // Such a candidate is not measured further.
  bool hopeless() {
    const search::Node* best = run_.tree.best();
    if (!best || original().time.value <= 0) return false;
    const Seconds time = best->measurement->time;
    if (time < most_time()) return false;
    run_.report.outcome = RunOutcome::kNotFaster;
    run_.report.reason =
        fmt::format("the best candidate, trial {}, took {} where the original takes {}: {:.3g}x, not measured further",
                    best->id, time_text(time), time_text(original().time), original().time / time);
    run_.progress.message(run_.report.reason);
    return true;
  }

  Status verify_favourite() {
    return stage(run_, "verify", "all value families", [&]() -> Result<std::string> {
      while (true) {
        const std::vector<int> group = next_finalists(run_.tree, nodes_so_far(), most_time());
        if (group.empty()) return no_winner();
        const size_t from = chosen_.finalists.size();
        for (const int node : group) chosen_.finalists.emplace_back().node = node;
        SOLSTICE_TRY(const Finalist* const passed, first_verified(from));
        if (passed) return fmt::format("trial {} passed {}", passed->node, cases_text(*passed->verdict));
        SOLSTICE_CHECK(try_other_arithmetic(group));
      }
    });
  }

  // Where no other equations are left, of the first trial of the group whose result was wrong. What comes of it is the
  // tree's, for the next group.
  Status try_other_arithmetic(const std::vector<int>& group) {
    const std::vector<int> refused = nodes_so_far(), next = next_finalists(run_.tree, refused, most_time());
    if (!next.empty() && !is_like_refused(run_.tree, next.front(), refused)) return success();
    const auto wrong = std::find_if(group.begin(), group.end(), [this](int id) {
      const std::optional<search::Measurement>& m = run_.tree.node(id).measurement;
      return m && m->state == TrialState::kWrong;
    });
    if (!searching_ || wrong == group.end()) return success();
    SOLSTICE_TRY(const std::optional<int> found, searching_->try_other_arithmetic(*wrong));
    if (found)
      run_.progress.message(
          fmt::format("trial {} was wrong; trial {} is the same with other arithmetic", *wrong, *found));
    return success();
  }

  std::vector<int> nodes_so_far() const {
    std::vector<int> out;
    for (const Finalist& finalist : chosen_.finalists) out.push_back(finalist.node);
    return out;
  }

  // The first of the group that passes; the others are looked at when they are timed.
  Result<Finalist*> first_verified(size_t from) {
    std::vector<Finalist>& all = chosen_.finalists;
    for (size_t i = from; i < all.size(); ++i) {
      SOLSTICE_CHECK(verify_fully(run_, measurable_, all[i]));
      if (!all[i].refused.empty()) continue;
      // Near the bound no other one can be much faster.
      if (searched_.stop == search::Stop::kNearBound) all.resize(i + 1);
      return &all[i];
    }
    return nullptr;
  }

  Status time_finalists() {
    return stage(run_, "finalists", "timed in turn against the original", [&]() -> Result<std::string> {
      for (auto open = untimed(); !chosen_.winner && !open.empty(); open = untimed()) {
        SOLSTICE_CHECK(time_in_turn(run_, measurable_, open));
        void_impossible();
        SOLSTICE_CHECK(pick());
      }
      if (!chosen_.winner) return no_winner();
      const Timing& timing = *chosen_.winner->timing;
      const size_t all = chosen_.finalists.size();
      const std::string of = all == 1 ? "" : fmt::format(", the fastest of {} finalists", all);
      return fmt::format("trial {}{}, {:.3g}x [{:.3g}, {:.3g}]", chosen_.winner->node, of, timing.speedup,
                         timing.interval999[0], timing.interval999[1]);
    });
  }

  std::vector<Finalist*> untimed() {
    std::vector<Finalist*> out;
    for (Finalist& finalist : chosen_.finalists) {
      if (finalist.refused.empty() && !finalist.timing) out.push_back(&finalist);
    }
    return out;
  }

  // The judge's L2 is cold. A candidate that is faster than its inputs can arrive has not done the work.
  void void_impossible() {
    for (Finalist& finalist : chosen_.finalists) {
      if (!finalist.refused.empty() || !finalist.timing) continue;
      const std::string why = sol::violation(measurable_.bounds.sol, finalist.timing->candidate, sol::Cache::kCold);
      if (!why.empty()) refuse(run_.report, finalist, fmt::format("trial {}: {}", finalist.node, why));
    }
  }

  Status pick() {
    for (Finalist* finalist : ranked()) {
      SOLSTICE_CHECK(verify_fully(run_, measurable_, *finalist));
      if (!finalist->refused.empty()) continue;
      chosen_.winner = finalist;
      run_.report.errors = finalist->errors;
      break;
    }
    return success();
  }

  // The timed ones, fastest first.
  std::vector<Finalist*> ranked() {
    std::vector<Finalist*> out;
    for (Finalist& finalist : chosen_.finalists) {
      if (finalist.refused.empty() && finalist.timing) out.push_back(&finalist);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const Finalist* a, const Finalist* b) { return a->timing->speedup > b->timing->speedup; });
    return out;
  }

  // The first finalist's refusal says why; where there is none, no trial was usable (conclude_search() tells that none
  // was run).
  std::string no_winner() {
    const auto refused = std::find_if(chosen_.finalists.begin(), chosen_.finalists.end(),
                                      [](const Finalist& f) { return !f.refused.empty(); });
    run_.report.outcome = RunOutcome::kNotFaster;
    run_.report.reason =
        refused != chosen_.finalists.end() ? refused->refused : "no candidate was verified" + first_refusal(run_.tree);
    return run_.report.reason;
  }

  const OriginalTime& original() const { return measurable_.inputs.original; }

  Run& run_;
  const Searched& searched_;
  const Measurable& measurable_;
  Searching* const searching_;
  Chosen chosen_;
};

}  // namespace

Result<Chosen> choose_winner(Run& run, const Searched& searched, const Measurable& measurable, Searching* searching) {
  if (!measurable.opened.gpu) return Chosen();
  return Final(run, searched, measurable, searching).choose();
}

}  // namespace solstice::flow
