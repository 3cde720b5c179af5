#include "ir/integers/eliminate.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/integer.h"

namespace solstice::ir {
namespace {

constexpr size_t kMostForms = 400;
constexpr int64_t kMostCoefficient = int64_t{1} << 40;

// Divides by the coefficients' common factor; the constant may be rounded down, as the terms are whole
// multiples.
void tighten(Linear& f) {
  int64_t factor = 0;
  for (const auto& [v, c] : f.terms) factor = std::gcd(factor, c);
  if (factor <= 1) return;
  for (auto& [v, c] : f.terms) c /= factor;
  f.constant = floor_div(f.constant, factor);
}

bool too_large(const Linear& f) {
  if (f.overflow || std::abs(f.constant) > kMostCoefficient) return true;
  return std::any_of(f.terms.begin(), f.terms.end(),
                     [](const auto& term) { return std::abs(term.second) > kMostCoefficient; });
}

int64_t coefficient(const Linear& f, int variable) {
  for (const auto& [v, c] : f.terms) {
    if (v == variable) return c;
  }
  return 0;
}

// Tightens, drops duplicates (keeping the stronger constant); true if one form is a contradiction.
bool contradiction(std::vector<Linear>& system) {
  std::map<std::vector<std::pair<int, int64_t>>, int64_t> strongest;
  for (Linear& f : system) {
    tighten(f);
    if (f.terms.empty()) {
      if (f.constant < 0) return true;
      continue;
    }
    const auto [at, fresh] = strongest.emplace(f.terms, f.constant);
    if (!fresh) at->second = std::min(at->second, f.constant);
  }
  system.clear();
  for (const auto& [terms, constant] : strongest) system.push_back(Linear{constant, terms});
  return false;
}

// The variable whose elimination makes the fewest new forms, -1 if none is left.
int cheapest_variable(const std::vector<Linear>& system) {
  std::map<int, std::pair<size_t, size_t>> signs;
  for (const Linear& f : system) {
    for (const auto& [v, c] : f.terms) ++(c > 0 ? signs[v].first : signs[v].second);
  }
  int best = -1;
  size_t best_cost = 0;
  for (const auto& [v, count] : signs) {
    const size_t cost = count.first * count.second;
    if (best < 0 || cost < best_cost) {
      best = v;
      best_cost = cost;
    }
  }
  return best;
}

bool eliminate(std::vector<Linear>& system, int variable) {
  std::vector<Linear> out;
  std::vector<const Linear*> lower;
  std::vector<const Linear*> upper;
  for (const Linear& f : system) {
    const int64_t c = coefficient(f, variable);
    if (c == 0) out.push_back(f);
    if (c > 0) lower.push_back(&f);
    if (c < 0) upper.push_back(&f);
  }
  if (out.size() + lower.size() * upper.size() > kMostForms) return false;
  for (const Linear* a : lower) {
    for (const Linear* b : upper) {
      const int64_t ca = coefficient(*a, variable);
      const int64_t cb = -coefficient(*b, variable);
      const int64_t common = std::gcd(ca, cb);
      const Linear scaled_a = plus(Linear{}, *a, cb / common);
      out.push_back(plus(scaled_a, *b, ca / common));
      if (too_large(out.back())) return false;
    }
  }
  system = std::move(out);
  return true;
}

}  // namespace

bool infeasible(std::vector<Linear> system) {
  if (std::any_of(system.begin(), system.end(), too_large)) return false;
  while (true) {
    if (contradiction(system)) return true;
    const int variable = cheapest_variable(system);
    if (variable < 0) return false;
    if (!eliminate(system, variable)) return false;
  }
}

}  // namespace solstice::ir
