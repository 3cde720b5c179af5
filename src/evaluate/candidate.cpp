#include "evaluate/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "evaluate/clauses.h"
#include "ir/bind.h"
#include "lang/parse.h"

namespace solstice::evaluate {

std::string policy_of(const Setting& setting, const ir::Program& program) {
  if (!setting.numerics.empty()) return setting.numerics;
  return program.numerics.empty() ? "reference" : program.numerics;
}

namespace {

void add_places(const std::vector<lang::Item>& items, families::KnobPlaces& places) {
  for (const lang::Item& item : items) {
    if (const auto* def = std::get_if<lang::Def>(&item.node)) add_places(def->items, places);
    const auto* kernel = std::get_if<lang::Kernel>(&item.node);
    if (!kernel) continue;
    for (const lang::Knob& knob : kernel->knobs) {
      for (const std::string& name : knob.names) places.emplace(std::pair(item.span.begin, name), knob.span);
    }
  }
}

families::KnobPlaces places_of(const lang::Program& tree) {
  families::KnobPlaces places;
  add_places(tree.items, places);
  return places;
}

bool mentions(const lang::ExprRef& e, const std::set<std::string>& names) {
  if (e->kind == lang::ExprKind::kName && names.contains(e->text)) return true;
  return std::any_of(e->args.begin(), e->args.end(), [&](const lang::ExprRef& arg) { return mentions(arg, names); });
}

bool mentions(const lang::KnobValue& value, const std::set<std::string>& names) {
  const auto any = [&](const auto& list, const auto& look) { return std::any_of(list.begin(), list.end(), look); };
  if (value.expr && mentions(value.expr, names)) return true;
  return any(value.items, [&](const lang::KnobValue& v) { return mentions(v, names); }) ||
         any(value.members, [&](const lang::Knob& knob) { return mentions(knob.value, names); });
}

std::optional<ir::Program> bind_only(std::vector<lang::Item> items) {
  lang::Program program;
  program.items = std::move(items);
  Diagnostics ignored;  // the first pass has spoken
  return ir::bind(program, ignored);
}

// The dims that a mistake in another leaves usable, and the names of the rest.
struct UsableDims {
  lang::Dims good;
  std::set<std::string> bad;
};

UsableDims usable_dims(const lang::Program& tree) {
  UsableDims out;
  for (const lang::Item& item : tree.items) {
    const auto* dims = std::get_if<lang::Dims>(&item.node);
    for (size_t i = 0; dims && i < dims->dims.size(); ++i) {
      out.good.dims.push_back(dims->dims[i]);
      if (bind_only({out.good})) continue;
      out.bad.insert(dims->dims[i].name);
      out.good.dims.pop_back();
    }
  }
  return out;
}

// Knobs that say something by themselves: the first of a name, of usable dims.
void keep_usable(std::vector<lang::Knob>& knobs, const std::set<std::string>& bad_dims) {
  std::set<std::string> seen;
  std::erase_if(knobs, [&](const lang::Knob& knob) {
    const bool again = std::any_of(knob.names.begin(), knob.names.end(),
                                   [&](const std::string& name) { return !seen.insert(name).second; });
    return again || mentions(knob.value, bad_dims);
  });
}

bool writes(const lang::Kernel& kernel, const std::string& name) {
  return std::any_of(kernel.items.begin(), kernel.items.end(), [&](const lang::Item& item) {
    const auto* equation = std::get_if<lang::Equation>(&item.node);
    return equation && equation->target == name;
  });
}

// The kernel as a program of its own: what others write is given, what it writes is wanted. Nothing where it has a
// mistake itself, or leaves nothing behind.
std::optional<ir::Program> alone(const lang::Program& tree, const lang::Item& kernel_item) {
  const auto& kernel = std::get<lang::Kernel>(kernel_item.node);
  std::vector<lang::Item> items;
  bool leaves = false;
  for (const lang::Item& item : tree.items) {
    const bool plain = std::holds_alternative<lang::Dims>(item.node) || std::holds_alternative<lang::Fn>(item.node) ||
                       std::holds_alternative<lang::View>(item.node) ||
                       std::holds_alternative<lang::Clause>(item.node) ||
                       std::holds_alternative<lang::Source>(item.node);
    if (plain) items.push_back(item);
    const auto* decl = std::get_if<lang::Decl>(&item.node);
    if (!decl) continue;
    lang::Decl given = *decl;
    const bool made = decl->kind == lang::DeclKind::kTensor || decl->kind == lang::DeclKind::kOutput;
    const bool wanted = made && writes(kernel, decl->name);
    leaves = leaves || wanted;
    if (made) given.kind = wanted ? lang::DeclKind::kOutput : lang::DeclKind::kInput;
    if (made) given.into.clear();
    items.emplace_back(std::move(given));
  }
  if (!leaves) return std::nullopt;
  items.push_back(kernel_item);
  return bind_only(std::move(items));
}

// The schedules alone, of a program with errors; each kernel by itself, so that none hides another's.
void check_schedules_of(const lang::Program& tree, const Setting& setting, Diagnostics& diagnostics) {
  const families::KnobPlaces places = places_of(tree);
  constexpr size_t kMostBound = size_t{1} << 22;  // seconds: each kernel is bound with all declarations
  const UsableDims dims = usable_dims(tree);
  size_t bound = 0;
  for (lang::Item item : tree.items) {
    auto* kernel = std::get_if<lang::Kernel>(&item.node);
    if (!kernel || kernel->family.empty()) continue;  // the grammar has said it
    if ((bound += tree.items.size()) > kMostBound) return;
    const bool damaged = std::any_of(diagnostics.all().begin(), diagnostics.all().end(), [&](const Diagnostic& d) {
      return d.code == "E000" && d.span.begin >= item.span.begin && d.span.end <= item.span.end;
    });
    if (const std::optional<ir::Program> whole = damaged ? std::nullopt : alone(tree, item)) {
      check_schedule({*whole, setting.machine, policy_of(setting, *whole), setting.frozen}, places, diagnostics);
      continue;
    }
    kernel->items.clear();
    keep_usable(kernel->knobs, dims.bad);
    const std::optional<ir::Program> skeleton = bind_only({dims.good, item});
    if (skeleton) check_settings(skeleton->kernels.front(), places, diagnostics);
  }
}

}  // namespace

Checked check(const std::string& text, const Setting& setting) {
  Checked out;
  out.tree = lang::parse(text, out.diagnostics);
  const bool grammar = out.diagnostics.has_errors();
  check_clauses(out.tree, setting.numerics, setting.meaning, out.diagnostics);
  out.program =
      ir::bind(out.tree, out.diagnostics);  // further errors next to those of the grammar: one list should be enough
  if (grammar) out.program.reset();
  if (!out.ok()) {
    const auto& found = out.diagnostics.all();
    const bool too_large =
        std::any_of(found.begin(), found.end(), [](const Diagnostic& d) { return d.code == "E023"; });
    if (!too_large) check_schedules_of(out.tree, setting, out.diagnostics);
    out.diagnostics.sort();
    return out;
  }
  const families::Context context{*out.program, setting.machine, policy_of(setting, *out.program), setting.frozen};
  check_schedule(context, places_of(out.tree), out.diagnostics);
  out.diagnostics.sort();
  return out;
}

void add_not_yet(const ir::Program& program, Diagnostics& diagnostics) {
  const auto note = [&](const std::string& what, Span span) {
    diagnostics.add(
        {"N100", Severity::kNote, "not yet: " + what, span, {}, "`check` goes on, `compile` stops here", ""});
  };
  for (const ir::NotYet& each : not_built(program)) note(each.what, each.span);
  for (const ir::Kernel& kernel : program.kernels) {
    const families::Family* family = families::find_family(kernel.family);
    if (!family) continue;
    const families::Match match = family->match(program, kernel);
    if (match.ok && !match.built) note(match.reason, kernel.span);
  }
}

Result<Lowered> lower_text(const std::string& text, const Setting& setting) {
  const Checked checked = check(text, setting);
  if (!checked.ok()) return refusal(checked.diagnostics, text, setting.file);
  Result<Lowered> lowered =
      lower({*checked.program, setting.machine, policy_of(setting, *checked.program), setting.frozen});
  if (!lowered.ok() && lowered.error().file.empty()) lowered.error().file = setting.file;
  return lowered;
}

Result<std::vector<KernelCost>> costs_of(const ir::Program& program, const Setting& setting) {
  const families::Context context{program, setting.machine, policy_of(setting, program), setting.frozen};
  std::vector<KernelCost> out;
  for (const ir::Kernel& kernel : program.kernels) {
    const families::Family* family = families::find_family(kernel.family);
    if (!family || !family->cost) return fail(Code::not_yet, "no cost model for family `" + kernel.family + "`");
    SOLSTICE_TRY(const families::Cost cost, family->cost(context, kernel));
    out.push_back({kernel.name, kernel.family, cost.time, cost.bound});
  }
  return out;
}

Result<Seconds> predict(const ir::Program& program, const Setting& setting) {
  SOLSTICE_TRY(const std::vector<KernelCost> costs, costs_of(program, setting));
  Seconds total;
  for (const KernelCost& cost : costs) total += cost.time;
  return total;
}

}  // namespace solstice::evaluate
