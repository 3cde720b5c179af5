#include "search/replay/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/replay/replay.h"

namespace solstice::search {
namespace {

// The replays of one policy in every run.
struct Player {
  std::string name;
  std::vector<const Sequence*> searches;
  std::optional<double> coverage;
};

class Comparing {
 public:
  Comparing(const std::vector<Record>& records, const ComparisonOptions& options)
      : records_(records), options_(options) {
    for (const Record& record : records) recorded_.push_back(&record.sequence());
    out_.currency = options.currency;
  }

  Result<Comparison> run() {
    look();
    std::vector<std::vector<Replayed>> kept(options_.policies.size());
    std::vector<Player> players = {{kRecorded, recorded_, std::nullopt}};
    for (size_t i = 0; i < kept.size(); ++i) {
      SOLSTICE_TRY(Player player, play(options_.policies[i], kept[i]));
      players.push_back(std::move(player));
    }
    for (const Player& player : players) out_.curves.push_back(curve(player));
    SOLSTICE_CHECK(add_stops(players));
    SOLSTICE_CHECK(add_schedules());
    return std::move(out_);
  }

 private:
  void look() {
    size_t unbounded = 0, unknown = 0;
    for (const Record& record : records_) {
      const Sequence& s = record.sequence();
      out_.runs.push_back({record.run().id, record.run().problem, record.run().policy, s.original, s.bound,
                           s.last().speedup, s.last().spent, static_cast<int>(hindsight_stop(s))});
      unbounded += s.bound.value > 0 ? 0 : 1;
      unknown += s.original.value > 0 ? 0 : 1;
    }
    if (unknown > 0) {
      out_.notes.push_back(
          fmt::format("{} of {} runs do not know what the original takes: speedups there are over the slowest trial",
                      unknown, records_.size()));
    }
    const bool asked = std::any_of(options_.rules.begin(), options_.rules.end(),
                                   [](const ReplayRule& r) { return r.stop.eps.has_value(); });
    if (asked && unbounded > 0) {
      out_.notes.push_back(fmt::format("{} of {} runs do not know their practical bound: {}", unbounded,
                                       records_.size(),
                                       unbounded == records_.size() ? "eps is left out" : "eps stops none of these"));
    }
    bounded_ = unbounded < records_.size();
    const auto mixed =
        std::count_if(records_.begin(), records_.end(), [](const Record& record) { return !record.in_order(); });
    if (mixed > 0 && !options_.policies.empty()) {
      out_.notes.push_back(
          fmt::format("in {} of {} runs results came in another order than their trials were started (several GPUs, "
                      "batches), or a language model took over: replayed policies see them in order, and one proposer",
                      mixed, records_.size()));
    }
  }

  Result<Player> play(const std::string& policy, std::vector<Replayed>& kept) const {
    double decisions = 0, answered = 0;
    for (const Record& record : records_) {
      SOLSTICE_TRY(Replayed one, replay(record, policy, options_.seed.value_or(record.run().seed)));
      decisions += one.decisions;
      answered += one.answered;
      kept.push_back(std::move(one));
    }
    Player out{policy, {}, decisions > 0 ? std::optional(answered / decisions) : std::nullopt};
    for (const Replayed& one : kept) out.searches.push_back(&one.sequence);
    return out;
  }

  static Curve curve(const Player& player) {
    size_t longest = 0;
    for (const Sequence* s : player.searches) longest = std::max(longest, s->trials());
    Curve out{player.name, {}};
    for (size_t k = 0; k <= longest; ++k) {
      std::vector<double> speedups;
      for (const Sequence* s : player.searches) speedups.push_back(s->points[std::min(k, s->trials())].speedup);
      out.speedup.push_back(geometric_mean(speedups));
    }
    return out;
  }

  Result<Judged> row(const Player& player, const std::string& rule, const Allocation& at) const {
    std::vector<Stopped> runs;
    for (size_t i = 0; i < at.size(); ++i) runs.push_back({player.searches[i], at[i], recorded_[i]});
    SOLSTICE_TRY(Judged out, judge(runs, options_.currency));
    out.policy = player.name;
    out.rule = rule;
    out.coverage = player.coverage;
    return out;
  }

  // Without what no run can answer, and each once.
  std::vector<ReplayRule> rules() const {
    std::vector<ReplayRule> out;
    for (ReplayRule rule : options_.rules) {
      if (!bounded_) rule.stop.eps.reset();
      const bool there =
          std::any_of(out.begin(), out.end(), [&](const ReplayRule& r) { return text_of(r) == text_of(rule); });
      if (!there) out.push_back(rule);
    }
    return out;
  }

  Status add_stops(const std::vector<Player>& players) {
    std::vector<Judged> grid;
    const std::vector<ReplayRule> rules = this->rules();
    SOLSTICE_TRY(const Judged fixed, row(players.front(), kFixed, fixed_split(recorded_, {})));
    grid.push_back(fixed);
    for (const Player& player : players) {
      if (&player != &players.front()) {
        SOLSTICE_TRY(const Judged whole, row(player, "none", fixed_split(player.searches, {})));
        grid.push_back(whole);
      }
      for (const ReplayRule& rule : rules) {
        Allocation at;
        for (const Sequence* s : player.searches) at.push_back(stop_of(*s, rule));
        if (text_of(rule) == "none") continue;
        SOLSTICE_TRY(const Judged one, row(player, text_of(rule), at));
        grid.push_back(one);
      }
    }
    mark_front(grid, options_.currency);
    SOLSTICE_TRY(const Judged best, row(players.front(), kHindsight, hindsight_split(recorded_, std::nullopt)));
    grid.insert(grid.begin() + 1, best);
    out_.stops = std::move(grid);
    return success();
  }

  TotalBudget total(const TotalBudget& each) const {
    const auto count = static_cast<int>(records_.size());
    TotalBudget out;
    if (each.trials) out.trials = *each.trials * count;
    if (each.seconds) out.seconds = *each.seconds * count;
    return out;
  }

  Status add_schedules() {
    if (options_.schedules.empty()) return success();
    std::vector<TotalBudget> budgets = {TotalBudget{}};
    budgets.insert(budgets.end(), options_.budgets.begin(), options_.budgets.end());
    for (const TotalBudget& each : budgets) {
      const TotalBudget budget = total(each);
      const bool whole = !budget.trials && !budget.seconds;
      const std::string name = whole ? "all that is recorded" : text_of(each) + " a problem";
      const auto add = [&](const std::string& who, const Allocation& at) -> Status {
        SOLSTICE_TRY(Judged one, row({who, recorded_, std::nullopt}, name, at));
        out_.schedules.push_back(std::move(one));
        return success();
      };
      SOLSTICE_CHECK(add("fixed split", fixed_split(recorded_, budget)));
      for (const std::string& text : options_.schedules) {
        SOLSTICE_TRY(const Values values, parse_scheduling(text));
        SOLSTICE_CHECK(add(text, scheduled(recorded_, budget, values, options_.currency)));
      }
      // The best use of seconds is a knapsack problem that nothing here needs.
      if (!budget.seconds) SOLSTICE_CHECK(add(kHindsight, hindsight_split(recorded_, budget.trials)));
    }
    return success();
  }

  const std::vector<Record>& records_;
  const ComparisonOptions& options_;
  std::vector<const Sequence*> recorded_;
  bool bounded_ = false;
  Comparison out_;
};

}  // namespace

Result<Comparison> compare(const std::vector<Record>& records, const ComparisonOptions& options) {
  if (records.empty()) return fail(Code::bad_argument, "there is no run to decide again");
  return Comparing(records, options).run();
}

}  // namespace solstice::search
