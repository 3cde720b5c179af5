// Static legality as data. One table of rules serves the checker, `solstice list rules`, the search space and the
// tests: each has an id, a sentence, a predicate, what to say where it is broken, and the nearest values that keep it.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "families/nearest.h"

namespace solstice::families {

template <class Config>
struct Rule {
  std::string_view id;    // "tile_m.wgmma"
  std::string_view code;  // of its diagnostic
  Severity severity = Severity::kError;
  std::string_view text;                           // the rule, for the docs
  bool (*broken)(const Config&) = nullptr;         // may ask for what earlier rules of the table guarantee
  std::string (*reason)(const Config&) = nullptr;  // the violation by these values
  void (*mend)(Config&) = nullptr;  // to the nearest values that keep this rule, where knobs are not searched
  bool of_problem = false;          // no knob can keep it
};

template <class Config>
Rule<Config> error_rule(std::string_view id, std::string_view code, std::string_view text,
                        bool (*broken)(const Config&), std::string (*reason)(const Config&)) {
  return {id, code, Severity::kError, text, broken, reason, nullptr, false};
}
template <class Config>
Rule<Config> problem_rule(std::string_view id, std::string_view code, std::string_view text,
                          bool (*broken)(const Config&), std::string (*reason)(const Config&)) {
  return {id, code, Severity::kError, text, broken, reason, nullptr, true};
}
template <class Config>
Rule<Config> warning_rule(std::string_view id, std::string_view code, std::string_view text,
                          bool (*broken)(const Config&), std::string (*reason)(const Config&)) {
  return {id, code, Severity::kWarning, text, broken, reason, nullptr, false};
}

template <class Config>
void append(std::vector<Rule<Config>>& rules, const std::vector<Rule<Config>>& more) {
  rules.insert(rules.end(), more.begin(), more.end());
}

// A rule without its types, for lists.
struct RuleText {
  std::string_view id, code, text;
};

template <class Config>
const Rule<Config>* first_broken(const std::vector<Rule<Config>>& rules, const Config& config) {
  for (const Rule<Config>& rule : rules) {
    if (rule.severity == Severity::kError && rule.broken(config)) return &rule;
  }
  return nullptr;
}

// The legal configuration next to `config`; nothing where no knob can. A Config with axes() is searched (nearest.h); of
// others every rule is mended in turn.
template <class Config>
std::optional<Config> nearest_legal(const std::vector<Rule<Config>>& rules, Config config) {
  for (const Rule<Config>& rule : rules) {
    if (rule.of_problem && rule.broken(config)) return std::nullopt;
  }
  if constexpr (HasAxes<Config>) {
    return NearestSearch<Config>(Config::axes(), config).run(rules, [&](const Config& c) {
      const Rule<Config>* const rule = first_broken(rules, c);
      return rule ? static_cast<size_t>(rule - rules.data()) : rules.size();
    });
  } else {
    constexpr int kMostMends = 32;
    for (int i = 0; i < kMostMends; ++i) {
      const Rule<Config>* const rule = first_broken(rules, config);
      if (!rule) return config;
      if (!rule->mend) return std::nullopt;
      rule->mend(config);
    }
    return std::nullopt;
  }
}

// "`tile=128x128x64, cluster=2x1`": the knobs in which `legal` differs. Config::knobs() lists names and values.
template <class Config>
std::string knobs_changed(const Config& config, const Config& legal) {
  std::vector<std::string> out;
  const auto from = config.knobs(), to = legal.knobs();
  for (size_t i = 0; i < to.size(); ++i) {
    if (from[i].second != to[i].second) out.push_back(fmt::format("{}={}", to[i].first, to[i].second));
  }
  return fmt::format("`{}`", fmt::join(out, ", "));
}

// Reports the first error, which stands in the way of the rules after it: they may ask for what it guarantees. Where
// there is none, every warning.
template <class Config>
void check_rules(const std::vector<Rule<Config>>& rules, const Config& config, Span span, Diagnostics& diagnostics) {
  if (const Rule<Config>* const rule = first_broken(rules, config)) {
    const std::optional<Config> legal = nearest_legal(rules, config);
    diagnostics.error(std::string(rule->code), span, rule->reason(config),
                      legal ? "closest: " + knobs_changed(config, *legal) : std::string(rule->text));
    return;
  }
  for (const Rule<Config>& rule : rules) {
    if (rule.severity == Severity::kWarning && rule.broken(config))
      diagnostics.warning(std::string(rule.code), span, rule.reason(config), std::string(rule.text));
  }
}

// Reports every error, of rules that ask for nothing that others guarantee.
template <class Config>
void check_each(const std::vector<Rule<Config>>& rules, const Config& config, Span span, Diagnostics& diagnostics) {
  for (const Rule<Config>& rule : rules) {
    if (!rule.broken(config)) continue;
    Config legal = config;
    if (rule.mend) rule.mend(legal);
    const bool mended = !rule.broken(legal);
    diagnostics.error(std::string(rule.code), span, rule.reason(config),
                      mended ? "closest: " + knobs_changed(config, legal) : std::string(rule.text));
  }
}

template <class Config>
std::vector<RuleText> texts_of(const std::vector<Rule<Config>>& rules) {
  std::vector<RuleText> out;
  for (const Rule<Config>& rule : rules) out.push_back({rule.id, rule.code, rule.text});
  return out;
}

}  // namespace solstice::families
