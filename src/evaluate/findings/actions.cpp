#include "evaluate/findings/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/bind.h"
#include "ir/knobs.h"
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

// A value that means the same in any scope; nothing of one with names of dims, and of lists.
std::optional<ir::KnobValue> plain_value(const lang::KnobValue& value) {
  using Kind = lang::KnobValue::Kind;
  if (value.kind == Kind::kSize) return ir::KnobValue::of_size(value.sizes);
  if (value.kind != Kind::kExpr || !value.expr) return std::nullopt;
  if (value.expr->kind == lang::ExprKind::kInt) return ir::KnobValue::of_int(value.expr->integer);
  if (value.expr->kind == lang::ExprKind::kName) return ir::KnobValue::of_name(value.expr->text);
  return std::nullopt;
}

bool is_dim(const lang::Program& tree, const std::string& name) {
  return std::any_of(tree.items.begin(), tree.items.end(), [&](const lang::Item& item) {
    const auto* dims = std::get_if<lang::Dims>(&item.node);
    return dims && std::any_of(dims->dims.begin(), dims->dims.end(), [&](const auto& dim) { return dim.name == name; });
  });
}

// Knobs of the kernel after the action; nothing where its text has to be read in the program.
std::optional<ir::Knobs> knobs_after(const lang::Program& tree, const ir::Kernel& kernel, const FindingAction& action) {
  ir::Knobs out = kernel.knobs;
  for (const auto& [name, text] : action.knobs) {
    Diagnostics diagnostics;
    const std::vector<lang::Knob> parsed = lang::parse_knobs(name + "=" + text, diagnostics);
    const bool one = !diagnostics.has_errors() && parsed.size() == 1 && parsed[0].names.size() == 1;
    std::optional<ir::KnobValue> value = one && !is_dim(tree, text) ? plain_value(parsed[0].value) : std::nullopt;
    if (!value) return std::nullopt;
    out.set(name, std::move(*value));
  }
  const bool tied =
      std::any_of(out.items.begin(), out.items.end(), [](auto& knob) { return knob.first.starts_with('('); });
  return tied ? std::nullopt : std::optional(std::move(out));
}

// As the kernel runs: what is written, and what its family makes of the rest.
std::map<std::string, std::string> settled_knobs(const families::Context& context, const ir::Kernel& kernel) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : kernel.knobs.items) out[name] = ir::to_text(value);
  const families::Family* family = families::find_family(kernel.family);
  if (family && family->settle && !ir::is_space(kernel.knobs)) {
    if (const auto settled = family->settle(context, kernel); settled.ok()) {
      for (const auto& [name, value] : settled->items) out[name] = ir::to_text(value);
    }
  }
  std::erase_if(out, [](const auto& knob) { return knob.second == ir::kAuto; });  // as if it were not written
  return out;
}

}  // namespace

Moves::Moves(const std::string& program, const Setting& setting) : text_(program), setting_(setting) {
  Diagnostics diagnostics;
  tree_ = lang::parse(text_, diagnostics);
  if (!diagnostics.has_errors()) program_ = ir::bind(tree_, diagnostics);
}

// Other kernels, or other equations, are no change of a clause.
bool Moves::names_what_is_there(const FindingAction& action) {
  if (action.kind == ActionKind::kRewrite) return ir::find_rewrite(action.rewrite) != nullptr;
  return lang::find_kernel(tree_, action.kernel) && (action.with.empty() || lang::find_kernel(tree_, action.with));
}

bool Moves::passes_whole(const FindingAction& action) const {
  const Result<std::string> changed = with_action(text_, action);
  return changed.ok() && *changed != text_ && check(*changed, setting_).ok();
}

// The kernel alone, where its knobs can be told without the text around them.
bool Moves::is_legal_setting(const FindingAction& action) {
  if (!program_ || !lang::find_kernel(tree_, action.kernel)) return false;
  const auto kernel = std::find_if(program_->kernels.begin(), program_->kernels.end(),
                                   [&](const ir::Kernel& each) { return each.name == action.kernel; });
  if (kernel == program_->kernels.end()) return passes_whole(action);
  std::optional<ir::Knobs> knobs = knobs_after(tree_, *kernel, action);
  if (!knobs) return passes_whole(action);
  const families::Context context{*program_, setting_.machine, policy_of(setting_, *program_), setting_.frozen};
  ir::Kernel changed = *kernel;
  changed.knobs = std::move(*knobs);
  Diagnostics diagnostics;
  check_kernel(context, changed, {}, diagnostics);
  return !diagnostics.has_errors() && settled_knobs(context, changed) != settled_knobs(context, *kernel);
}

bool Moves::is_legal(const FindingAction& action) {
  if (action.kind == ActionKind::kCut || action.kind == ActionKind::kRewrite) return names_what_is_there(action);
  if (action.kind == ActionKind::kOnce) return passes_whole(action);
  if (action.knobs.empty()) return false;
  const auto [at, fresh] = known_.try_emplace(action.kernel + "(" + knobs_text(action) + ")");
  if (fresh) at->second = is_legal_setting(action);
  return at->second;
}

}  // namespace solstice::evaluate
