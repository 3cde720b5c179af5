#include "search/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace solstice::search {
namespace {

bool within(const Spent& spent, const TotalBudget& budget) {
  return (!budget.trials || spent.trials < *budget.trials) && (!budget.seconds || spent.seconds < *budget.seconds);
}

}  // namespace

TotalBudget share_of(const TotalBudget& total, size_t problems) {
  TotalBudget out;
  const auto count = static_cast<double>(std::max<size_t>(1, problems));
  if (total.trials) out.trials = std::max(1, static_cast<int>(*total.trials / count));
  if (total.seconds) out.seconds = *total.seconds / count;
  return out;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule out;
  if (text == "fixed") return out;
  if (text.substr(0, text.find('(')) != "log-gain") {
    return fail(Code::bad_argument, fmt::format("no schedule `{}`", text), "there are `log-gain` and `fixed`");
  }
  SOLSTICE_TRY(out.log_gain, parse_scheduling(text));
  return out;
}

std::string text_of(const Turn& turn, Currency currency) {
  if (turn.floor) return "one of its first trials";
  if (!std::isfinite(turn.worth)) return fmt::format("expected {:.2g} %", 100 * turn.gain);
  const char* unit = currency == Currency::kSeconds ? "second" : currency == Currency::kTrials ? "trial" : "token";
  return fmt::format("expected {:.2g} % per {}", 100 * turn.worth, unit);
}

Turns::Turns(Schedule schedule, TotalBudget total, Currency currency)
    : schedule_(std::move(schedule)), total_(total), currency_(currency) {}

size_t Turns::add(Seconds original, Seconds bound) {
  outlooks_.emplace_back(Timed{original}, bound, schedule_.log_gain ? *schedule_.log_gain : usual_scheduling());
  had_.emplace_back();
  return outlooks_.size() - 1;
}

void Turns::begin_anew(size_t problem, Seconds original, Seconds bound) {
  outlooks_[problem] = Outlook({original}, bound, schedule_.log_gain ? *schedule_.log_gain : usual_scheduling());
  had_[problem] = {};
}

void Turns::landed(size_t problem, const Spent& cost, const Timed& best) {
  outlooks_[problem].add(cost.in(currency_), best);
  had_[problem] += cost;
  all_ += cost;
}

void Turns::close(size_t problem) { outlooks_[problem].close(); }

bool Turns::spent() const { return !within(all_, unreserved()); }

TotalBudget Turns::unreserved() const {
  const TotalBudget each = share();
  TotalBudget out = total_;
  if (out.trials) *out.trials -= *each.trials * reserved_;
  if (out.seconds) *out.seconds -= *each.seconds * reserved_;
  return out;
}

std::optional<Turn> Turns::next() const {
  if (spent()) return std::nullopt;
  return schedule_.log_gain ? next_by_gain() : next_fixed();
}

std::optional<Turn> Turns::next_fixed() const {
  for (size_t i = 0; i < outlooks_.size(); ++i) {
    if (outlooks_[i].open() && within(had_[i], share()))
      return Turn{i, true, outlooks_[i].gain(), outlooks_[i].worth()};
  }
  return std::nullopt;
}

std::optional<Turn> Turns::next_by_gain() const {
  const std::optional<size_t> next = next_problem(outlooks_, *schedule_.log_gain);
  if (!next) return std::nullopt;
  const Outlook& outlook = outlooks_[*next];
  return Turn{*next, outlook.trials() < schedule_.log_gain->find("floor")->second, outlook.gain(), outlook.worth()};
}

}  // namespace solstice::search
