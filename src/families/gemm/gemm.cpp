// Family `gemm`: one product of two tensors with any index roles (batch, M, N, K), any major order, and an
// elementwise epilogue. On sm_90a: TMA, wgmma, warp-specialised persistent kernels (kernels/gemm/tensor.h),
// fp32 accuracy through split planes; and a SIMT kernel where alignment or strides forbid that. docs/gemm.md
// describes both and their speed.
#include <fmt/format.h>

#include <map>
#include <tuple>

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

Status require_legal(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  Diagnostics diagnostics;
  check_rules(gemm_rules(), config_of(context, kernel, problem), kernel.span, diagnostics);
  if (!diagnostics.has_errors()) return success();
  const Diagnostic& first = diagnostics.all().front();
  return fail(Code::illegal_knobs, fmt::format("kernel `{}`: {}; {}", kernel.name, first.message, first.hint));
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  SOLSTICE_CHECK(require_legal(context, kernel, problem));
  return estimate(context, problem, settings_of(context, kernel, problem));
}

ir::Knobs knobs_of(const Settings& s) {
  ir::Knobs out;
  out.set("math", ir::KnobValue::of_name(std::string(numerics::info(s.math).name)));
  if (s.math != Math::kSimt) out.set("tile", ir::KnobValue::of_size({s.tile_m, s.tile_n, s.tile_k}));
  if (s.math == Math::kSimt && s.stream == Streamed::kNone)
    out.set("tile", ir::KnobValue::of_size({s.tile_m, s.tile_n}));
  if (s.math != Math::kSimt && s.stream == Streamed::kNone)
    out.set("cluster", ir::KnobValue::of_size({s.cluster, s.cluster_n}));
  if (s.math == Math::kSimt || s.stream != Streamed::kNone)
    out.set("stream", ir::KnobValue::of_name(std::string(name_of(s.stream))));
  if (s.math != Math::kSimt || s.stream != Streamed::kNone) out.set("split", ir::KnobValue::of_int(s.split));
  return out;
}

Result<ir::Knobs> settle(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  SOLSTICE_CHECK(require_legal(context, kernel, problem));
  const Settings s = settings_of(context, kernel, problem);
  ir::Knobs out = knobs_of(s);
  const auto shared = static_cast<int64_t>(context.machine.shared_per_block.value);
  if (is_tiled(s) && !is_grouped(problem)) out.set("stages", ir::KnobValue::of_int(layout_of(s, shared).slots_a));
  return out;
}

Result<std::vector<ir::Knobs>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  // A few tiles of each form: a math may fail where another does not (range, subnormal results).
  constexpr int kMostOfOneForm = 4;
  std::map<std::tuple<Math, Streamed, bool>, int> taken;
  std::vector<ir::Knobs> out;
  for (const Settings& s : ranked_settings(context, problem, allowed_maths(context, problem))) {
    if (taken[{s.math, s.stream, s.stream == Streamed::kNone && s.split > 1}]++ < kMostOfOneForm)
      out.push_back(knobs_of(s));
  }
  return out;
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Problem problem, make_problem(context.program, kernel));
  SOLSTICE_CHECK(require_legal(context, kernel, problem));
  const Settings settings = settings_of(context, kernel, problem);
  return generate_steps(context, kernel, problem, settings);
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
