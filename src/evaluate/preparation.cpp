#include "evaluate/preparation.h"

#include "base/clock.h"
#include "evaluate/kernel_table.h"
#include "evaluate/meaning.h"

namespace solstice::evaluate {

Preparation::Preparation(const std::string& text, const Setting& setting, toolchain::Compiler* compiler)
    : text_(text), compiler_(compiler) {
  const Seconds began = monotonic_now();
  begin(text, setting, compiler);
  check_time_ = monotonic_now() - began;
}

void Preparation::begin(const std::string& text, const Setting& setting, toolchain::Compiler* compiler) {
  checked_ = check(text, setting);
  if (!checked_.ok()) return refuse(TrialState::kIllegal, render_text(checked_.diagnostics, text, setting.file));
  if (setting.meaning) {
    const ir::Equivalence& found = setting.meaning->of(checked_.tree);
    meaning_ = ir::name_of(found.verdict);
    if (found.verdict == ir::Verdict::kRefuted) {
      return refuse(TrialState::kWrong, "it does not compute the problem: " + found.reason);
    }
  }
  Result<std::vector<KernelCost>> costs = costs_of(*checked_.program, setting);
  if (!costs.ok()) return refuse(TrialState::kIllegal, costs.error().text());
  costs_ = std::move(*costs);
  for (const KernelCost& cost : costs_) predicted_ += cost.time;
  Result<Lowered> lowered = lower({*checked_.program, setting.machine, setting.numerics, setting.frozen}, setting.stop);
  if (!lowered.ok() && lowered.error().code == Code::deadline) return give_up();
  if (!lowered.ok()) return refuse(TrialState::kIllegal, lowered.error().text());
  if (is_asked(setting.stop)) return give_up();
  find_facts(setting);
  if (compiler) pending_.emplace(std::move(lowered).value(), setting.machine, *compiler);
}

// They decide nothing: a candidate runs without them.
void Preparation::find_facts(const Setting& setting) {
  Result<std::vector<KernelFacts>> facts = facts_of_kernels(*checked_.program, setting);
  if (facts.ok())
    facts_ = std::move(*facts);
  else
    no_facts_ = facts.error().text();
  table_ = kernel_table(checked_, setting, costs_, facts_);
}

void Preparation::refuse(TrialState state, std::string why) {
  refused_ = state;
  why_ = std::move(why);
}

// A candidate that a compiler was to take, and that nobody knows to compile, is none that works.
void Preparation::give_up() {
  pending_.reset();
  why_ = "not compiled: the time was up";
  given_up_ = compiler_ != nullptr;
  if (given_up_) refused_ = TrialState::kNotCompiled;
  if (facts_.empty()) no_facts_ = "the time was up";
}

Status Preparation::finish() {
  if (refused() || !pending_ || built_) return success();
  SOLSTICE_TRY(built_, pending_->finish());
  if (!built_->ok) refuse(TrialState::kNotCompiled, built_->log);
  return success();
}

Seconds Preparation::cost() const { return built_ ? check_time_ + built_->compile_time : check_time_; }

Facts Preparation::facts(const Setting& setting, const sol::SolReport* bounds) const {
  return facts_of({text_, checked_, setting, table_, facts_, built_ ? &*built_ : nullptr, bounds});
}

Json Preparation::record() const {
  Json out = Json::object();
  if (!why_.empty()) out.set("message", why_);
  if (given_up_) out.set(kGivenUp, true);
  if (!meaning_.empty()) out.set("meaning", meaning_);
  Json costs = Json::array();
  for (const KernelCost& cost : costs_) {
    costs.push(Json::object()
                   .set("kernel", cost.kernel)
                   .set("family", cost.family)
                   .set("seconds", cost.time.value)
                   .set("bound", cost.bound));
  }
  if (costs.size() > 0) out.set("costs", costs);
  Json facts = Json::array();
  for (const KernelFacts& kernel : facts_) facts.push(to_json(kernel));
  if (facts.size() > 0) out.set("facts", facts);
  if (!no_facts_.empty()) out.set("no_facts", no_facts_);
  if (!table_.rows.empty()) out.set("table", to_json(table_));
  if (!built_) return out;
  Json modules = Json::array();
  for (size_t i = 0; i < built_->compiled.size(); ++i) {
    const toolchain::Compiled& compiled = built_->compiled[i];
    Json notes = Json::array();
    for (const toolchain::PtxasNote& note : compiled.notes) notes.push(to_json(note));
    modules.push(Json::object()
                     .set("module", built_->plan.modules[i].name)
                     .set("key", compiled.key)
                     .set("cached", compiled.cached)
                     .set("seconds", compiled.seconds.value)
                     .set("kernels", resources_of(*built_, i))
                     .set("notes", notes));
  }
  return out.set("modules", modules);
}

}  // namespace solstice::evaluate
