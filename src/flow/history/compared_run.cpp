#include "flow/history/compared_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "flow/history/recorded_runs.h"

namespace solstice::flow {
namespace {

constexpr const char* kNoResult = "without a result";

std::optional<Seconds> if_known(Seconds time) { return time.value > 0 ? std::optional(time) : std::nullopt; }

// Parses "2026-01-31T12:34:56.789Z".
std::optional<Seconds> seconds_since_1970(const std::string& utc) {
  std::tm day{};
  double seconds = 0;
  const int read = std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%lfZ", &day.tm_year, &day.tm_mon, &day.tm_mday,
                               &day.tm_hour, &day.tm_min, &seconds);
  if (read != 6) return std::nullopt;
  day.tm_year -= 1900, day.tm_mon -= 1;
  return Seconds(static_cast<double>(timegm(&day)) + seconds);
}

std::optional<Seconds> time_between(const std::string& from, const std::string& to) {
  const std::optional<Seconds> begin = seconds_since_1970(from), end = seconds_since_1970(to);
  if (!begin || !end) return std::nullopt;
  return Seconds(std::round((*end - *begin).value * 1e3) / 1e3);  // as exact as the texts are
}

// All that tells the arms of an experiment from each other.
std::string agent_text(const Json& agent) {
  if (agent.is_null()) return "";
  const std::string &model = agent.at("model").as_string(), &provider = agent.at("provider").as_string();
  return fmt::format("{} with {}, writes {}, sol {}, feedback {}", agent.at("controller").as_string(),
                     model.empty() ? provider : model, agent.at("writes").as_string(),
                     agent.at("sol").as_bool() ? "on" : "off", agent.at("feedback").as_string());
}

ComparedRun described(const RunRecord& run) {
  ComparedRun out;
  out.id = run.id, out.problem = run.problem, out.problem_key = run.problem_key, out.options_key = run.options_key;
  out.command = run.command, out.machine = run.machine, out.device = run.device, out.versions = run.versions;
  out.policy = run.policy, out.seed = run.seed, out.reason = run.reason;
  out.agent = agent_text(run.summary.at("agent"));
  const bool finished = run.state == RunState::kFinished;
  out.ended = finished ? enum_name(run.outcome) : enum_name(run.state);
  if (const double headline = run.summary.at("speedup").as_double(); headline > 0) out.headline = headline;
  out.took = time_between(run.started, run.finished);
  out.original = if_known(Seconds(run.summary.at("original").as_double()));
  return out;
}

// A run from before searches were stored has its trials.
void add_trials(const std::vector<TrialRecord>& trials, ComparedRun& out) {
  out.trials = out.proposed = static_cast<int>(trials.size());
  for (const TrialRecord& trial : trials) {
    ++out.states[enum_name(trial.state)];
    if (trial.state != TrialState::kVerified || !trial.measured || (out.best && *out.best <= *trial.measured)) continue;
    out.best = trial.measured;
    out.program = trial.program;
  }
}

void add_tree(const search::Tree& tree, ComparedRun& out) {
  out.proposed = tree.trials();
  for (const search::Node& node : tree.nodes()) {
    if (node.id == 0) continue;
    ++out.states[node.measurement ? enum_name(node.measurement->state) : kNoResult];
    out.trials += node.measurement.has_value();
  }
  for (const search::Event& event : tree.events()) {
    if (event.proposal) out.tokens += event.proposal->tokens;
    if (event.kind == search::Event::Kind::kSkipped) ++out.skipped;
  }
  if (tree.original().value > 0) out.original = tree.original();
  if (const search::Node* best = tree.best()) {
    out.best = best->measurement->time;
    out.predicted = best->measurement->state == TrialState::kPredicted;
    out.program = best->proposal.program;
  }
}

void add_curve(const search::Sequence& sequence, ComparedRun& out) {
  out.spent = Seconds(sequence.last().spent.seconds);
  for (const search::Point& point : sequence.points) {
    // A sequence's speedups are of what its candidates proved to be worth in the end, and at least 1.
    const std::optional<Seconds> best =
        point.best.time.value > 0 ? std::optional(sequence.original / point.speedup) : out.original;
    out.curve.push_back({Seconds(point.spent.seconds), best});
  }
}

}  // namespace

Seconds slowest_trial(const store::LoadedRun& loaded) {
  Seconds slowest;
  for (const store::StoredEvent& stored : loaded.events) {
    const auto& measurement = stored.event.measurement;
    if (measurement && stored.event.node > 0 && measurement->usable()) slowest = std::max(slowest, measurement->time);
  }
  return slowest;
}

Result<ComparedRun> compared_run(const store::LoadedRun& loaded, Seconds slowest) {
  ComparedRun out = described(loaded.run);
  if (loaded.events.empty()) {
    add_trials(loaded.trials, out);
  } else {
    SOLSTICE_TRY(const search::Record record, search_of(loaded, slowest));
    add_tree(record.tree(), out);
    add_curve(record.sequence(), out);
  }
  if (out.original && out.best) out.speedup = *out.original / *out.best;
  return out;
}

}  // namespace solstice::flow
