#include "evaluate/kernel_facts.h"

#include "sol/scheduled.h"

namespace solstice::evaluate {
namespace {

bool is_written(const ir::Kernel& kernel, const std::string& knob) {
  const ir::KnobValue* value = kernel.knobs.find(knob);
  return value && !value->is_auto();
}

Result<std::string> chosen_of(const families::Context& context, const ir::Kernel& kernel) {
  const families::Family* family = families::find_family(kernel.family);
  if (!family || !family->settle || ir::is_space(kernel.knobs)) return std::string();
  SOLSTICE_TRY(ir::Knobs knobs, family->settle(context, kernel));
  std::erase_if(knobs.items, [&](const auto& knob) { return is_written(kernel, knob.first); });
  return ir::to_text(knobs);
}

}  // namespace

Result<std::vector<KernelFacts>> facts_of_kernels(const ir::Program& program, const Setting& setting) {
  const families::Context context{program, setting.machine, policy_of(setting, program), setting.frozen};
  sol::SolOptions options;
  options.policy = numerics::policy_from_name(context.numerics).value_or(numerics::Policy::kReference);
  options.frozen = setting.frozen;
  SOLSTICE_TRY(std::vector<std::vector<ResourceNeed>> needs, sol::needs_of_kernels(program, setting.machine, options));
  std::vector<KernelFacts> out;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    SOLSTICE_TRY(std::string chosen, chosen_of(context, program.kernels[i]));
    out.push_back({program.kernels[i].name, std::move(chosen), std::move(needs[i])});
  }
  return out;
}

}  // namespace solstice::evaluate
