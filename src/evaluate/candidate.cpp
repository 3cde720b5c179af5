#include "evaluate/candidate.h"

#include <algorithm>
#include <set>

#include "ir/bind.h"
#include "lang/parse.h"

namespace solstice::evaluate {
namespace {

// What an error has left out may be missed elsewhere; such complaints would send a reader astray.
bool may_follow(const Diagnostic& d) { return d.code == "E005" || d.code == "E010" || d.message.starts_with("unknown tensor"); }

void add_independent(const Diagnostics& found, Diagnostics& into) {
  for (const Diagnostic& d : found.all()) {
    if (!may_follow(d)) into.add(d);
  }
  into.add_omitted(found.omitted());
}

void add_places(const std::vector<lang::Item>& items, KnobPlaces& places) {
  for (const lang::Item& item : items) {
    if (const auto* def = std::get_if<lang::Def>(&item.node)) add_places(def->items, places);
    const auto* kernel = std::get_if<lang::Kernel>(&item.node);
    if (!kernel) continue;
    for (const lang::Knob& knob : kernel->knobs) {
      for (const std::string& name : knob.names) places.emplace(std::pair(item.span.begin, name), knob.span);
    }
  }
}

KnobPlaces places_of(const lang::Program& tree) {
  KnobPlaces places;
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
  std::set<std::vector<std::string>> seen;
  std::erase_if(knobs, [&](const lang::Knob& knob) {
    return mentions(knob.value, bad_dims) || (!knob.names.empty() && !seen.insert(knob.names).second);
  });
}

// The schedules alone, of a program whose equations have errors; each kernel by itself, so that none hides another's.
void check_settings_of(const lang::Program& tree, Diagnostics& diagnostics) {
  const KnobPlaces places = places_of(tree);
  const UsableDims dims = usable_dims(tree);
  for (lang::Item item : tree.items) {
    auto* kernel = std::get_if<lang::Kernel>(&item.node);
    if (!kernel) continue;
    kernel->items.clear();
    keep_usable(kernel->knobs, dims.bad);
    const std::optional<ir::Program> skeleton = bind_only({dims.good, item});
    if (skeleton) check_settings(skeleton->kernels.front(), places, diagnostics);
  }
}

// What else is wrong where the grammar is: one look at the list should be enough.
void check_the_rest(const lang::Program& tree, Diagnostics& diagnostics) {
  Diagnostics later;
  (void)ir::bind(tree, later);
  add_independent(later, diagnostics);
}

}  // namespace

Checked check(const std::string& text, const Setting& setting) {
  Checked out;
  out.tree = lang::parse(text, out.diagnostics);
  if (out.diagnostics.has_errors()) {
    check_the_rest(out.tree, out.diagnostics);
  } else {
    out.program = ir::bind(out.tree, out.diagnostics);
  }
  if (!out.ok()) {
    check_settings_of(out.tree, out.diagnostics);
    out.diagnostics.sort();
    return out;
  }
  const families::Context context{*out.program, setting.machine, setting.numerics, setting.frozen};
  check_schedule(context, places_of(out.tree), out.diagnostics);
  out.diagnostics.sort();
  return out;
}

Result<Lowered> lower_text(const std::string& text, const Setting& setting) {
  const Checked checked = check(text, setting);
  if (!checked.ok()) return fail(Code::program_invalid, render_text(checked.diagnostics, text, setting.file));
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
