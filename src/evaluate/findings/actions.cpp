#include "evaluate/findings/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/rewrite/rewrite.h"
#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::evaluate {
namespace {

void set_knob(lang::Knob knob, std::vector<lang::Knob>& knobs) {
  const auto same = [&](const lang::Knob& each) { return each.names == knob.names; };
  const auto found = std::find_if(knobs.begin(), knobs.end(), same);
  if (found == knobs.end())
    knobs.push_back(std::move(knob));
  else
    *found = std::move(knob);
}

}  // namespace

Result<std::string> with_action(const std::string& program, const FindingAction& action) {
  Diagnostics diagnostics;
  lang::Program tree = lang::parse(program, diagnostics);
  lang::Kernel* kernel = lang::find_kernel(tree, action.kernel);
  if (!kernel) return fail(Code::not_found, fmt::format("the program has no kernel `{}`", action.kernel));
  if (action.knobs.empty() && action.kind != ActionKind::kOnce)
    return fail(Code::bad_argument, fmt::format("`{}` is no change of a clause", action.text));
  for (const auto& [name, value] : action.knobs) {
    std::vector<lang::Knob> parsed = lang::parse_knobs(name + "=" + value, diagnostics);
    if (parsed.size() != 1) return fail(Code::bad_argument, fmt::format("`{}={}` is no knob", name, value));
    set_knob(std::move(parsed[0]), kernel->knobs);
  }
  if (action.kind == ActionKind::kOnce) kernel->once = true;
  if (diagnostics.has_errors()) return fail(Code::bad_argument, "the action does not parse");
  return lang::print(tree);
}

namespace {

// Other kernels, or other equations, are no change of a clause.
bool names_what_is_there(const std::string& program, const FindingAction& action) {
  Diagnostics diagnostics;
  lang::Program tree = lang::parse(program, diagnostics);
  if (action.kind == ActionKind::kRewrite) return ir::find_rewrite(action.rewrite) != nullptr;
  return lang::find_kernel(tree, action.kernel) && (action.with.empty() || lang::find_kernel(tree, action.with));
}

}  // namespace

bool is_legal_move(const std::string& program, const FindingAction& action, const Setting& setting) {
  if (action.kind == ActionKind::kCut || action.kind == ActionKind::kRewrite)
    return names_what_is_there(program, action);
  const Result<std::string> changed = with_action(program, action);
  return changed.ok() && *changed != program && check(*changed, setting).ok();
}

}  // namespace solstice::evaluate
