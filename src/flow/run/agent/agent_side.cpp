#include "flow/run/agent/agent_side.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "evaluate/preparation.h"
#include "families/family.h"
#include "lang/grammar_page.h"
#include "propose/formulation/label.h"

namespace solstice::flow {
namespace {

std::string_view words_of(numerics::Policy policy) {
  switch (policy) {
    case numerics::Policy::kReference:
      return "Numerics `reference`: no less accurate than PyTorch's own float32 result. Tensor cores reach that with "
             "split operands "
             "(`math=fp16x3`, `tf32x3`, `bf16x6`), `simt` without them; plain `tf32`, `bf16` and `fp16` are refused "
             "for float32.";
    case numerics::Policy::kHigh:
      return "Numerics `high`: the class of TF32. `math=tf32`, `bf16x3` and all that is more accurate.";
    case numerics::Policy::kMedium:
      return "Numerics `medium`: the class of bf16. `math=bf16`, `fp16` and all that is more accurate.";
  }
  return "";
}

// Values that something is built for; "" where there are none.
std::string values_of(const families::KnobSpec& knob) {
  if (knob.values.empty()) return knob.range.substr(0, knob.range.find("; backend="));
  std::vector<std::string> out;
  for (const std::string& value : knob.values) {
    if (std::find(knob.later.begin(), knob.later.end(), value) == knob.later.end()) out.push_back(value);
  }
  return out.size() > 1 ? fmt::format("{}", fmt::join(out, ", ")) : "";
}

std::string families_words() {
  std::string out;
  for (const families::Family* family : families::all_families()) {
    if (!family->available || family->name == "cuda" || !family->knobs) continue;
    out += fmt::format("- `{}`: {}\n", family->name, family->help);
    for (const families::KnobSpec& knob : family->knobs()) {
      const std::string values = values_of(knob);
      if (!values.empty()) out += fmt::format("  - {}: {} ({})\n", knob.name, values, knob.help);
    }
  }
  return out;
}

// Counts the answers of models that nothing is left.
int64_t given_up_by_models(const search::Tree& tree) {
  return std::count_if(tree.events().begin(), tree.events().end(), [](const search::Event& event) {
    return event.kind == search::Event::Kind::kSpent && event.proposal && !event.proposal->answer.empty();
  });
}

// Without what is not asked for.
std::string grammar_for(agents::Writes writes) {
  std::string out(lang::grammar_page());
  const size_t given = out.find("\n- cuda(");
  if (writes == agents::Writes::kUcut && given != out.npos) out.erase(given, out.find('\n', given + 1) - given);
  return out;
}

std::string setting_words(const AgentSubject& subject) {
  const machine::Machine& machine = subject.setting.machine;
  std::string out = fmt::format("Machine: {} (`target {}`), {}. ", machine.title, machine.name, machine.arch);
  out += words_of(numerics::policy_from_name(subject.setting.numerics).value_or(numerics::Policy::kReference));
  out += subject.setting.frozen
             ? " Weights are frozen: kernels marked `once` run at load, with the item `allow frozen`."
             : " Weights are live: they may change between calls, so what is computed from them counts.";
  if (subject.predicted) out += " There is no GPU here: times are predicted by cost models, and no device verifies.";
  return out;
}

agents::Briefing briefing_of(const AgentSubject& subject, const AgentChoice& choice) {
  agents::Briefing out;
  out.equations = subject.equations;
  out.machine = subject.setting.machine;
  out.setting = setting_words(subject);
  out.grammar = grammar_for(*choice.terms.writes);
  out.families = families_words();
  out.sol = *choice.terms.sol;
  if (*choice.terms.sol) out.ladder = sol::render_text(subject.sol);
  if (*choice.terms.sol && subject.sol.practical.time.value > 0) out.practical = subject.sol.practical.time;
  out.writes = *choice.terms.writes;
  out.feedback = *choice.terms.feedback;
  out.repairs = choice.repairs;
  out.trials = subject.trials;
  out.seed = subject.seed;
  out.tune = *choice.terms.tune;
  return out;
}

// An attempt is one candidate, so that its result says what it is the result of.
std::string not_asked_for(const AgentChoice& choice, const ir::Program& program) {
  const auto& kernels = program.kernels;
  const bool cuda =
      std::any_of(kernels.begin(), kernels.end(), [](const ir::Kernel& kernel) { return kernel.family == "cuda"; });
  if (cuda && choice.terms.writes == agents::Writes::kUcut)
    return "device code of your own (`by cuda`) is not asked for: use the families";
  if (!cuda && choice.terms.writes == agents::Writes::kCuda) return "no kernel is `by cuda`: at least one has to be";
  for (const ir::Kernel& kernel : kernels) {
    if (ir::is_space(kernel.knobs)) {
      return fmt::format(
          "kernel `{}` has a set of values, of which cost models would choose one: write one value for each knob",
          kernel.name);
    }
  }
  return "";
}

// As the device would refuse it, before it is a trial. What is not compiled when the time is up is a trial: it was paid
// for, and whoever goes on with the run has it.
Result<agents::Complaint> complaint_of(const AgentSubject& subject, const AgentChoice& choice,
                                       const std::string& program) {
  evaluate::Preparation candidate(program, subject.setting, subject.compiler);
  const bool ready = candidate.ready(subject.left());
  if (ready) SOLSTICE_CHECK(candidate.finish());
  if (candidate.refused()) return agents::Complaint{candidate.why(), true};
  return agents::Complaint{not_asked_for(choice, *candidate.checked().program), false};
}

}  // namespace

Status AgentSide::brief(AgentSubject subject) {
  agents::AgentOptions options;
  options.controller = controller_;
  options.most_output = *choice_.terms.most_output;
  options.most_prompt = most_prompt_;
  options.most_repaired = most_repaired_;
  options.left = subject.left;
  options.temperature = choice_.terms.temperature;
  options.origin = who();
  code_ = std::make_unique<CodeLook>(
      codesearch::Options{.roots = {}, .folder = {}, .store = subject.store, .say = subject.news});
  options.look = [this](const std::string& query, int64_t most) { return (*code_)(query, most); };
  options.news = subject.news;
  agent_ = std::make_unique<agents::Agent>(
      std::move(options), briefing_of(subject, choice_), std::move(*prompts_), *client_,
      [this, subject](const std::string& program) { return complaint_of(subject, choice_, program); });
  tuned_ = std::make_unique<Tuned>(subject.expert, *agent_, *choice_.terms.tune);
  return success();
}

std::string AgentSide::who() const {
  if (!choice_.model.empty()) return choice_.model;
  return choice_.provider.empty() ? "replay" : choice_.provider;
}

std::string AgentSide::title() const { return fmt::format("{} with {}", choice_.controller, who()); }

Json AgentSide::record(const search::Tree& tree) const {
  int64_t attempts = 0, tuned = 0;
  for (const search::Node& node : tree.nodes()) {
    attempts += node.proposal.by_model() ? 1 : 0;
    tuned += propose::trial_named(node.proposal.equations) ? 1 : 0;
  }
  return Json::object()
      .set("controller", choice_.controller)
      .set("provider", choice_.provider)
      .set("model", choice_.model)
      .set("writes", enum_name(*choice_.terms.writes))
      .set("sol", *choice_.terms.sol)
      .set("feedback", enum_name(*choice_.terms.feedback))
      .set("expert_trials", *choice_.terms.expert)
      .set("tune", *choice_.terms.tune)
      .set("debug", *choice_.terms.debug)
      .set("attempts", attempts)
      .set("tuned", tuned)
      .set("transcript", transcript_file_.string())
      .set("replayed", choice_.replay.string())
      .set("nothing_left", given_up_by_models(tree))
      .set("account", to_json(client_->account()));
}

}  // namespace solstice::flow
