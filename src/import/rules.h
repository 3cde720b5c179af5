// The table of operators: ATen name with overload -> the rule that writes its equations. One file of rules/ holds one
// group; `solstice list operators` prints the table.
#pragma once

#include <string_view>
#include <vector>

#include "import/call/call.h"
#include "import/call/pointwise.h"
#include "import/closed/rounding.h"

namespace solstice::importer {

struct Rule {
  const char* op;  // "aten.linear.default"
  Status (*apply)(Call& call);
};

struct RuleGroup {
  const char* name;  // "contraction"
  std::vector<Rule> rules;
};

const std::vector<const RuleGroup*>& all_rule_groups();
const Rule* find_rule(std::string_view op);  // null: no equations

extern const RuleGroup kAdaptiveRules;
extern const RuleGroup kAttentionRules;
extern const RuleGroup kBagRules;
extern const RuleGroup kBinaryRules;
extern const RuleGroup kCellRules;
extern const RuleGroup kClassLossRules;
extern const RuleGroup kComplexRules;
extern const RuleGroup kContractionRules;
extern const RuleGroup kConvRules;
extern const RuleGroup kCreationRules;
extern const RuleGroup kDistanceRules;
extern const RuleGroup kDrawRules;
extern const RuleGroup kHyperbolicRules;
extern const RuleGroup kIndexRules;
extern const RuleGroup kLogicRules;
extern const RuleGroup kLossRules;
extern const RuleGroup kMaskedRules;
extern const RuleGroup kMoveRules;
extern const RuleGroup kNormRules;
extern const RuleGroup kPartRules;
extern const RuleGroup kRankRules;
extern const RuleGroup kSearchRules;
extern const RuleGroup kSolveRules;
extern const RuleGroup kStatisticRules;
extern const RuleGroup kRecurrentRules;
extern const RuleGroup kReduceRules;
extern const RuleGroup kScanRules;
extern const RuleGroup kScatterRules;
extern const RuleGroup kSoftmaxRules;
extern const RuleGroup kStridedRules;
extern const RuleGroup kUnaryRules;
extern const RuleGroup kUpsampleRules;
extern const RuleGroup kViewRules;
extern const RuleGroup kWindowRules;

}  // namespace solstice::importer
