#include "search/memory.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/hash.h"
#include "search/tree.h"

namespace solstice::search {
namespace {

constexpr double kRidge = 1;           // memory.h
constexpr double kDoubtful = 0.05;     // a fact with this noise counts half
constexpr double kFailed = -1;         // log2, of what did not work
constexpr double kMost = 3;            // log2: a share that the cost models find too small makes no wonders
constexpr double kWhole = 0.70710678;  // of the setting: two differ by 1 in all
constexpr double kPart = 0.5;          // two settings seldom differ in more than two parts
constexpr int kSweeps = 200;
constexpr double kConverged = 1e-5;  // log2: noise is a thousand times that

using Features = std::vector<std::pair<std::string, double>>;

Features features_of(const Structure& structure, const std::string& setting) {
  const std::string kind = hash_hex(structure.kind), form = hash_hex(kind + structure.form),
                    exact = form + structure.extents + '\n';
  const std::vector<std::string> parts = parts_of(setting);
  Features out;
  for (const std::string& level : {"k" + kind, "f" + form, "e" + exact}) {
    out.emplace_back(level + "=" + setting, kWhole);
    for (const std::string& part : parts) out.emplace_back(level + part, kPart);
  }
  return out;
}

// One fact as a row: features by number.
struct Row {
  std::vector<std::pair<size_t, double>> terms;
  double weight = 0, left = 0;  // what the features do not explain yet
};

class Regression {
 public:
  explicit Regression(const std::vector<Fact>& facts) {
    // Facts of the same change of the same structure are one row: their mean, by weight.
    std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, std::pair<const Fact*, Mean>>
        rows;
    for (const Fact& fact : facts) {
      const Structure& s = fact.structure;
      auto& [first, mean] =
          rows.try_emplace({s.kind, s.form, s.extents, fact.from, fact.to}, &fact, Mean{}).first->second;
      mean.add(fact);
    }
    for (const auto& [key, row] : rows) add(*row.first, row.second);
    columns_.resize(names_.size());
    for (size_t r = 0; r < rows_.size(); ++r) {
      for (const auto& [feature, factor] : rows_[r].terms) columns_[feature].emplace_back(r, factor);
    }
    values_.assign(names_.size(), 0);
  }

  // One feature after the other: each takes the value that is best while the others keep theirs.
  std::unordered_map<std::string, double> solve() {
    double moved = 1;
    for (int sweep = 0; sweep < kSweeps && moved > kConverged; ++sweep) {
      moved = 0;
      for (size_t f = 0; f < names_.size(); ++f) moved = std::max(moved, std::abs(settle(f)));
    }
    std::unordered_map<std::string, double> out;
    for (size_t f = 0; f < names_.size(); ++f) out.emplace(names_[f], values_[f]);
    return out;
  }

 private:
  struct Mean {
    double weight = 0, sum = 0;
    void add(const Fact& fact) {
      const double noise = own_noise(fact) / kDoubtful, w = 1 / (1 + noise * noise);
      weight += w;
      sum += w * beyond_models(fact);
    }
  };

  void add(const Fact& fact, const Mean& mean) {
    std::map<size_t, double> terms;
    for (const auto& [name, factor] : features_of(fact.structure, fact.to)) terms[number_of(name)] += factor;
    for (const auto& [name, factor] : features_of(fact.structure, fact.from)) terms[number_of(name)] -= factor;
    std::erase_if(terms, [](const auto& term) { return term.second == 0; });
    rows_.push_back({{terms.begin(), terms.end()}, mean.weight, mean.sum / mean.weight});
  }

  size_t number_of(const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(name, names_.size());
    if (fresh) names_.push_back(name);
    return at->second;
  }

  double settle(size_t feature) {
    double pull = 0, inertia = kRidge;
    for (const auto& [r, factor] : columns_[feature]) {
      pull += rows_[r].weight * factor * (rows_[r].left + factor * values_[feature]);
      inertia += rows_[r].weight * factor * factor;
    }
    const double step = pull / inertia - values_[feature];
    values_[feature] += step;
    for (const auto& [r, factor] : columns_[feature]) rows_[r].left -= factor * step;
    return step;
  }

  std::vector<Row> rows_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<std::vector<std::pair<size_t, double>>> columns_;  // of each feature: rows
  std::vector<double> values_;
};

}  // namespace

double own_gain(const Fact& fact) {
  if (fact.state != TrialState::kVerified) return kFailed;
  const double share = std::clamp(fact.share, 0.01, 1.0);
  const double after = 1 + (std::exp2(-fact.gain) - 1) / share;  // of the kernel's time before
  return after <= std::exp2(-kMost) ? kMost : std::max(-kMost, -std::log2(after));
}

double beyond_models(const Fact& fact) {
  return fact.state == TrialState::kVerified ? std::clamp(own_gain(fact) - fact.predicted, -kMost, kMost) : kFailed;
}

double own_noise(const Fact& fact) {
  if (fact.state != TrialState::kVerified) return 0;
  return std::max(fact.noise, kNoise) / std::clamp(fact.share, 0.01, 1.0) / std::log(2.0);
}

std::vector<std::string> parts_of(const std::string& setting) {
  const size_t open = setting.find('(');
  std::vector<std::string> out = {setting.substr(0, open)};
  if (open == std::string::npos || setting.back() != ')') return out;
  int depth = 0;
  std::string part;
  for (const char c : setting.substr(open + 1, setting.size() - open - 2)) {
    if (c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(std::move(part));
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) out.push_back(std::move(part));
  return out;
}

Memory::Memory(const std::vector<Fact>& facts) : facts_(facts.size()), values_(Regression(facts).solve()) {
  for (const Fact& fact : facts) {
    const std::string structure = fact.structure.form + '\n' + fact.structure.extents;
    for (const std::string& setting : {fact.from, fact.to})
      ++evidence_[fact.structure.kind + '\n' + setting][structure];
  }
}

double Memory::worth(const Structure& structure, const std::string& setting) const {
  double out = 0;
  for (const auto& [name, factor] : features_of(structure, setting)) {
    const auto found = values_.find(name);
    if (found != values_.end()) out += factor * found->second;
  }
  return out;
}

Memory::Evidence Memory::evidence(const Structure& structure, const std::string& setting) const {
  Evidence out;
  const auto found = evidence_.find(structure.kind + '\n' + setting);
  if (found == evidence_.end()) return out;
  for (const auto& [one, facts] : found->second) out.facts += facts, ++out.structures;
  return out;
}

}  // namespace solstice::search
