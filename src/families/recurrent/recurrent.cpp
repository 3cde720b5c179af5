// Family `recurrent`: recurrences whose step contains a contraction (LSTM, GRU, RNN): one persistent kernel.
#include <algorithm>

#include "families/declared.h"

namespace solstice::families {
namespace {

const std::vector<KnobSpec>& recurrent_knobs() {
  static const std::vector<KnobSpec> specs = {
      {"math",
       "name",
       {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3"},
       "",
       "auto",
       "how products are computed"},
      {"weights", "name", {"registers", "shared", "l2"}, "", "auto", "where the recurrent weights stay"},
      {"ctas", "int", {}, "1..the machine's SMs", "auto", "blocks that share a step"},
  };
  return specs;
}

struct Sharing {
  int64_t blocks = 1, most = 1;  // of a step; that run at once
  std::vector<std::pair<std::string, std::string>> knobs() const { return {{"ctas", std::to_string(blocks)}}; }
};

const std::vector<Rule<Sharing>>& sharing_rules() {
  static const std::vector<Rule<Sharing>> rules = {
      {"recurrent.blocks", "E120", Severity::kError,
       "blocks that share a step wait for each other: they are at least 1, and no more than the machine has SMs, which "
       "run at once",
       [](const Sharing& s) { return s.blocks < 1 || s.blocks > s.most; },
       [](const Sharing& s) { return fmt::format("`ctas={}`: 1 to {} blocks run at once", s.blocks, s.most); },
       [](Sharing& s) { s.blocks = std::clamp<int64_t>(s.blocks, 1, s.most); }}};
  return rules;
}

void check_recurrent(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  check_rules(sharing_rules(), {kernel.knobs.int_or("ctas", 1), context.machine.sm_count}, kernel.span, diagnostics);
}

std::vector<RuleText> recurrent_rules() { return texts_of(sharing_rules()); }

}  // namespace

extern const Family solstice_families_recurrent;
const Family solstice_families_recurrent =
    declared_family("recurrent", "recurrences with a contraction in their step: weights stay on chip", recurrent_knobs,
                    check_recurrent, recurrent_rules);

}  // namespace solstice::families
