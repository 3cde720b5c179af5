#include "import/rules.h"

#include <map>

namespace solstice::importer {

const std::vector<const RuleGroup*>& all_rule_groups() {
  static const std::vector<const RuleGroup*> groups = {
      &kContractionRules, &kConvRules,      &kNormRules,      &kBinaryRules,   &kUnaryRules,      &kReduceRules,
      &kSoftmaxRules,     &kLossRules,      &kClassLossRules, &kDistanceRules, &kWindowRules,     &kScanRules,
      &kAttentionRules,   &kRecurrentRules, &kCellRules,      &kViewRules,     &kPartRules,       &kMoveRules,
      &kCreationRules,    &kIndexRules,     &kScatterRules,   &kRankRules,     &kHyperbolicRules, &kAdaptiveRules,
      &kDrawRules,        &kLogicRules,     &kStridedRules,   &kUpsampleRules, &kBagRules,        &kMaskedRules,
      &kComplexRules,     &kStatisticRules, &kSearchRules,    &kSolveRules,
  };
  return groups;
}

const Rule* find_rule(std::string_view op) {
  static const auto table = [] {
    std::map<std::string_view, const Rule*> out;
    for (const RuleGroup* group : all_rule_groups()) {
      for (const Rule& rule : group->rules) out.emplace(rule.op, &rule);
    }
    return out;
  }();
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace solstice::importer
