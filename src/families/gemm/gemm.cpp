// Family `gemm`: one product of two tensors with any index roles (batch, M, N, K), any major order, and an
// elementwise epilogue. On sm_90a: TMA, wgmma, warp-specialised persistent kernels (kernels/gemm/tensor.h),
// fp32 accuracy through split planes; and a SIMT kernel where alignment or strides forbid that. docs/gemm.md
// describes both and their speed.
#include <fmt/format.h>

#include "families/emission.h"
#include "families/family.h"
#include "families/gemm/choice.h"
#include "families/gemm/cost.h"
#include "families/gemm/cutlass/rules.h"
#include "families/gemm/find_contraction.h"
#include "families/gemm/knobs.h"
#include "families/gemm/rules.h"
#include "families/gemm/steps.h"
#include "families/written_math.h"

namespace solstice::families {
namespace gemm {
namespace {

Match match(const ir::Program& program, const ir::Kernel& kernel) { return match_of(make_problem(program, kernel)); }

void check(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  if (kernel.knobs.name_or("backend", "lean") == "cutlass") {
    const auto product = find_contraction(context.program, kernel);
    if (!product.ok()) return;
    check_math(context, kernel, operand_dtype(*product), numerics::OwnMath::kStrict, diagnostics);
    check_rules(cutlass_rules(), cutlass_config(context.program, kernel, *product), kernel.span, diagnostics);
    return;
  }
  const auto problem = make_problem(context.program, kernel);
  if (problem.ok()) check_rules(gemm_rules(), config_of(context, kernel, *problem), kernel.span, diagnostics);
}

std::vector<RuleText> rules() {
  std::vector<RuleText> out = texts_of(gemm_rules());
  for (const auto& others : {math_rules(), texts_of(cutlass_rules())})
    out.insert(out.end(), others.begin(), others.end());
  return out;
}

// The kernel's settings, which are legal. Errors: illegal_knobs.
Result<Settings> legal_settings(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  const GemmConfig config = config_of(context, kernel, problem);
  Diagnostics diagnostics;
  check_rules(gemm_rules(), config, kernel.span, diagnostics);
  if (!diagnostics.has_errors()) return config.settings;
  const Diagnostic& first = diagnostics.all().front();
  return fail(Code::illegal_knobs, fmt::format("kernel `{}`: {}", kernel.name, first.message), first.hint);
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  SOLSTICE_TRY(const Settings settings, legal_settings(context, kernel, problem));
  return estimate(context, problem, settings);
}

Result<ir::Knobs> settle(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  SOLSTICE_TRY(const Settings s, legal_settings(context, kernel, problem));
  ir::Knobs out = knobs_of(s);
  const auto shared = static_cast<int64_t>(context.machine.shared_per_block.value);
  if (is_tiled(s) && !is_grouped(problem)) out.set("stages", ir::KnobValue::of_int(layout_of(s, shared).slots_a));
  return out;
}

Result<std::vector<Proposed>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  return proposed_settings(context, problem);
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  SOLSTICE_TRY(const Settings settings, legal_settings(context, kernel, problem));
  const std::vector<codegen::EpilogueStore>& stores = problem.epilogue.code.stores;
  return unmarked(kernel, generate_steps(context, kernel, problem, settings), problem.product.equation,
                  stores.size() == 1 ? stores.front().equation : -1);
}

}  // namespace
}  // namespace gemm

extern const Family solstice_families_gemm;
const Family solstice_families_gemm = {
    .name = "gemm",
    .help = "matrix products: any index roles and layouts, batched, with an elementwise epilogue",
    .available = true,
    .knobs = gemm::knob_table,
    .match = gemm::match,
    .check = gemm::check,
    .rules = gemm::rules,
    .cost = gemm::cost,
    .settle = gemm::settle,
    .propose = gemm::propose,
    .generate = gemm::generate,
};

}  // namespace solstice::families
