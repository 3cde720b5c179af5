#include "search/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace solstice::search {
namespace {

constexpr std::string_view kName = "log-gain";

double value(const Values& values, std::string_view name) { return values.find(name)->second; }

// The mean cost of a trial, over all problems.
double usual_cost(const std::vector<Outlook>& problems) {
  double spent = 0;
  int trials = 0;
  for (const Outlook& problem : problems) {
    spent += problem.spent();
    trials += problem.trials();
  }
  return trials > 0 ? spent / trials : 0;
}

bool worth_a_trial(const Outlook& problem, double usual, const Values& values) {
  if (!problem.open()) return false;
  const double dearer = problem.cost() > 0 && usual > 0 ? problem.cost() / usual : 1;
  return problem.gain() >= value(values, "stop") * std::pow(dearer, value(values, "price"));
}

}  // namespace

// docs/replay.md says how they were chosen, and what came of it.
const std::vector<Parameter>& scheduler_parameters() {
  static const std::vector<Parameter> parameters = {
      {"floor", 3, 0, 1000, true, "trials that every problem gets"},
      {"rate", 0.5, 0, 1, false, "share of trials that gain, before any is known"},
      {"weight", 16, 0.001, 1000, false, "trials that this first share counts for"},
      {"decay", 0.1, 0, 0.999, false, "how much less each further trial back counts"},
      {"size", 0.2, 0.001, 1, false,
       "log-gain of a trial that gains, as a share of what is left to the practical bound"},
      {"left", 0.4, 0.001, 10, false, "log-gain that counts as left where no bound is known"},
      {"stop", 0.03, 0, 1, false,
       "a problem whose next trial promises less log-gain gets none, where it costs as much as the mean trial"},
      {"price", 1, 0, 1, false,
       "how much more one must promise that costs more: a power of its cost over the mean trial's"},
  };
  return parameters;
}

Values usual_scheduling() {
  Values out;
  for (const Parameter& p : scheduler_parameters()) out[std::string(p.name)] = p.usual;
  return out;
}

Result<Values> parse_scheduling(std::string_view text) {
  const size_t open = text.find('(');
  if (text.substr(0, open) != kName)
    return fail(Code::bad_argument, fmt::format("no scheduler `{}`", text), fmt::format("there is `{}`", kName));
  return parse_values(fmt::format("scheduler `{}`", kName), scheduler_parameters(), text);
}

Outlook::Outlook(const Timed& from, Seconds bound, const Values& values)
    : mark_(from),
      bound_(bound),
      keep_(1 - value(values, "decay")),
      size_(value(values, "size")),
      unknown_(value(values, "left")),
      gained_(value(values, "rate") * value(values, "weight")),
      tried_(value(values, "weight")) {}

void Outlook::add(double cost, const Timed& best) {
  ++trials_;
  spent_ += cost;
  const bool gained = mark_.move(best);
  gained_ = gained_ * keep_ + (gained ? 1 : 0);
  tried_ = tried_ * keep_ + 1;
  since_gain_ = gained ? 0 : since_gain_ + 1;
}

double Outlook::left() const {
  const Seconds best = mark_.at().time;
  if (bound_.value <= 0 || best.value <= 0) return unknown_;
  return std::max(0.0, std::log(best / bound_));
}

double Outlook::gain() const { return gained_ / tried_ * size_ * left(); }

double Outlook::cost() const { return trials_ > 0 ? spent_ / trials_ : 0; }

double Outlook::worth() const { return cost() > 0 ? gain() / cost() : std::numeric_limits<double>::infinity(); }

std::optional<size_t> next_problem(const std::vector<Outlook>& problems, const Values& values) {
  std::optional<size_t> next;
  const auto least = static_cast<int>(value(values, "floor"));
  for (size_t i = 0; i < problems.size(); ++i) {
    if (!problems[i].open() || problems[i].trials() >= least) continue;
    if (!next || problems[i].trials() < problems[*next].trials()) next = i;
  }
  if (next) return next;
  const double usual = usual_cost(problems);
  for (size_t i = 0; i < problems.size(); ++i) {
    if (!worth_a_trial(problems[i], usual, values)) continue;
    if (!next || problems[i].worth() > problems[*next].worth()) next = i;
  }
  return next;
}

}  // namespace solstice::search
