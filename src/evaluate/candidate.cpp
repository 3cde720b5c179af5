#include "evaluate/candidate.h"

#include "ir/bind.h"
#include "lang/parse.h"

namespace solstice::evaluate {

Checked check(const std::string& text, const Setting& setting) {
  Checked out;
  const lang::Program tree = lang::parse(text, out.diagnostics);
  if (out.diagnostics.has_errors()) return out;
  out.program = ir::bind(tree, out.diagnostics);
  if (!out.ok()) return out;
  const families::Context context{*out.program, setting.machine, setting.numerics, setting.frozen};
  check_schedule(context, out.diagnostics);
  return out;
}

Result<Lowered> lower_text(const std::string& text, const Setting& setting) {
  const Checked checked = check(text, setting);
  if (!checked.ok()) return fail(Code::program_invalid, render_text(checked.diagnostics, text, "candidate"));
  return lower({*checked.program, setting.machine, setting.numerics, setting.frozen});
}

Result<Seconds> predict(const ir::Program& program, const Setting& setting) {
  const families::Context context{program, setting.machine, setting.numerics, setting.frozen};
  Seconds total;
  for (const ir::Kernel& kernel : program.kernels) {
    const families::Family* family = families::find_family(kernel.family);
    if (!family || !family->cost) return fail(Code::not_yet, "no cost model for family `" + kernel.family + "`");
    SOLSTICE_TRY(const families::Cost cost, family->cost(context, kernel));
    total += cost.time;
  }
  return total;
}

}  // namespace solstice::evaluate
