#include "search/tournament.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "search/landscape.h"
#include "search/make_policy.h"
#include "search/search.h"

namespace solstice::search {
namespace {

// Cost of a trial: most is checking and compiling, which a second measurement does not pay again.
constexpr double kBuild = 0.6;
double cost_of(Precision precision) {
  return precision == Precision::kRough ? 0.2 : precision == Precision::kUsual ? 0.4 : 0.8;
}
double noise_of(Precision precision) {
  return precision == Precision::kRough ? 1 : precision == Precision::kUsual ? 0.5 : 0.25;
}

class Mover : public Proposer {
 public:
  Mover(const Landscape& landscape, uint64_t seed) : landscape_(landscape), seed_(seed) {}
  Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
    const std::string& from = tree.node(node).proposal.program;
    if (tree.node(node).failed()) return std::optional<Proposal>();  // what does not work is no place to start from
    auto& steps = steps_.try_emplace(from).first->second;
    if (steps.empty()) steps = landscape_.moves(seed_, from);
    for (const Step& step : steps) {
      if (tree.contains(step.candidate)) continue;
      Proposal out;
      out.program = step.candidate;
      out.predicted = Seconds(std::exp2(-step.predicted_gain));
      return std::optional(std::move(out));
    }
    return std::optional<Proposal>();
  }

 private:
  const Landscape& landscape_;
  uint64_t seed_;
  std::map<std::string, std::vector<Step>> steps_;
};

class Meter : public InOrder {
 public:
  Meter(const Landscape& landscape, uint64_t seed) : landscape_(landscape), seed_(seed) {}
  double spent() const { return spent_; }

 protected:
  void begin(const Node& node) override {
    spent_ += (node.measurement ? 0 : kBuild) + cost_of(node.proposal.precision);
    asked_[node.id] = {node.proposal.program, node.proposal.precision};
  }
  Result<Measurement> finish(int node) override {
    const auto& [candidate, precision] = asked_[node];
    Measurement out;
    if (!landscape_.works(seed_, candidate)) return out;
    out.state = TrialState::kVerified;
    const double noise = landscape_.noise * noise_of(precision);
    Random random(seed_, candidate, static_cast<uint64_t>(precision));
    out.time = Seconds(std::exp2(-landscape_.gain(seed_, candidate)) * std::max(0.1, 1 + noise * random.normal()));
    out.noise = noise;
    return out;
  }

 private:
  const Landscape& landscape_;
  uint64_t seed_;
  double spent_ = 0;
  std::map<int, std::pair<std::string, Precision>> asked_;
};

struct Played {
  double gain = 0, trials = 0;
};

Result<Played> play(const std::string& policy, const Landscape& landscape, uint64_t seed,
                    const TournamentOptions& options) {
  SOLSTICE_TRY(const std::unique_ptr<Policy> mind, make_policy(policy, seed));
  Mover mover(landscape, seed);
  Meter meter(landscape, seed);
  Tree tree(Seconds(1));
  Budget budget;
  budget.time = Seconds(1e9);
  budget.trials = static_cast<int>(options.budget / kBuild) + 1;
  SOLSTICE_CHECK(
      run(tree, {*mind, mover, meter}, budget, options.lookahead, {}, [&] { return meter.spent() >= options.budget; }));
  const Node* best = tree.best();
  const double gain = best ? landscape.gain(seed, best->proposal.program) : 0;
  return Played{std::max(0.0, gain), static_cast<double>(tree.trials())};
}

// All runs of one policy on one landscape, on all cores.
Result<std::vector<Played>> play_all(const std::string& policy, const Landscape& landscape,
                                     const TournamentOptions& options) {
  const auto runs = static_cast<size_t>(options.runs);
  std::vector<Result<Played>> found(runs, Played{});
  std::atomic<size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (size_t i = next++; i < runs; i = next++)
          found[i] = play(policy, landscape, Random(options.seed, "run", i).next(), options);
      });
    }
  }
  std::vector<Played> out;
  for (Result<Played>& one : found) {
    SOLSTICE_TRY(const Played played, std::move(one));
    out.push_back(played);
  }
  return out;
}

Standings standings(const std::string& policy, const Landscape& landscape, const std::vector<Played>& runs,
                    const std::vector<Played>& random) {
  Standings out{.policy = policy, .landscape = std::string(landscape.name), .kind = std::string(landscape.kind)};
  std::vector<double> differences;
  double squares = 0, ahead = 0;
  const auto count = static_cast<double>(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    out.mean += runs[i].gain / count;
    squares += runs[i].gain * runs[i].gain / count;
    out.trials += runs[i].trials / count;
    const double difference = runs[i].gain - random[i].gain;
    ahead += difference > 0 ? 1 : difference < 0 ? 0 : 0.5;
    differences.push_back(difference);
  }
  out.deviation = std::sqrt(std::max(0.0, squares - out.mean * out.mean));
  out.against_random = ahead / count;
  out.p = signed_rank_p(std::move(differences));
  return out;
}

constexpr size_t kExactRanks = 25;  // above, the normal distribution is close

// Of all ways to give these ranks signs, the share in which the positive ones come to as much.
double exact_p(const std::vector<size_t>& ranks, size_t positive) {
  std::vector<double> ways = {1};
  for (const size_t rank : ranks) {
    ways.resize(ways.size() + rank, 0);
    for (size_t sum = ways.size(); sum-- > rank;) ways[sum] += ways[sum - rank];
  }
  double all = 0, as_much = 0;
  for (size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if (sum >= positive) as_much += ways[sum];
  }
  return as_much / all;
}

double normal_p(double n, double positive, double ties) {
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
  if (variance <= 0) return 1;
  return 0.5 * std::erfc((positive - n * (n + 1) / 4) / std::sqrt(2 * variance));
}

Result<std::vector<const Landscape*>> chosen(const std::vector<std::string>& names) {
  if (names.empty()) return all_landscapes();
  std::vector<const Landscape*> out;
  for (const std::string& name : names) {
    const auto found = std::find_if(all_landscapes().begin(), all_landscapes().end(),
                                    [&](const Landscape* l) { return l->name == name; });
    if (found == all_landscapes().end()) return fail(Code::bad_argument, fmt::format("no landscape `{}`", name));
    out.push_back(*found);
  }
  return out;
}

}  // namespace

double signed_rank_p(std::vector<double> differences) {
  std::erase(differences, 0.0);
  std::sort(differences.begin(), differences.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<size_t> ranks;  // twice each, since ties have the mean of theirs
  size_t positive = 0;
  double ties = 0;
  for (size_t i = 0; i < differences.size();) {
    size_t end = i;
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[i])) ++end;
    const auto equal = static_cast<double>(end - i);
    const size_t rank = i + end + 1;
    ties += equal * equal * equal - equal;
    for (; i < end; ++i) {
      ranks.push_back(rank);
      positive += differences[i] > 0 ? rank : 0;
    }
  }
  if (ranks.empty()) return 1;
  return ranks.size() <= kExactRanks
             ? exact_p(ranks, positive)
             : normal_p(static_cast<double>(ranks.size()), static_cast<double>(positive) / 2, ties);
}

Result<std::vector<Standings>> tournament(const TournamentOptions& options) {
  SOLSTICE_TRY(const std::vector<const Landscape*> landscapes, chosen(options.landscapes));
  std::vector<std::string> policies = options.policies;
  if (policies.empty()) {
    for (const PolicySpec* spec : all_policies()) policies.emplace_back(spec->name);
  }
  std::vector<Standings> out;
  for (const Landscape* landscape : landscapes) {
    SOLSTICE_TRY(const std::vector<Played> random, play_all("random", *landscape, options));
    for (const std::string& policy : policies) {
      SOLSTICE_TRY(const std::vector<Played> runs, play_all(policy, *landscape, options));
      out.push_back(standings(policy, *landscape, runs, random));
    }
  }
  return out;
}

}  // namespace solstice::search
