#include "evaluate/candidate.h"

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
}

void add_places(const std::vector<lang::Item>& items, KnobPlaces& places) {
  for (const lang::Item& item : items) {
    if (const auto* def = std::get_if<lang::Def>(&item.node)) add_places(def->items, places);
    const auto* kernel = std::get_if<lang::Kernel>(&item.node);
    if (!kernel) continue;
    for (const lang::Knob& knob : kernel->knobs) {
      for (const std::string& name : knob.names) places[{item.span.begin, name}] = knob.span;
    }
  }
}

KnobPlaces places_of(const lang::Program& tree) {
  KnobPlaces places;
  add_places(tree.items, places);
  return places;
}

// The schedules alone, of a program whose equations have errors.
void check_settings_of(lang::Program tree, Diagnostics& diagnostics) {
  const KnobPlaces places = places_of(tree);
  std::erase_if(tree.items, [](const lang::Item& item) {
    return !std::holds_alternative<lang::Kernel>(item.node) && !std::holds_alternative<lang::Dims>(item.node);
  });
  int number = 0;
  for (lang::Item& item : tree.items) {
    auto* kernel = std::get_if<lang::Kernel>(&item.node);
    if (!kernel) continue;
    kernel->items.clear();
    kernel->name = "kernel" + std::to_string(number++);  // two of one name are a mistake of their own
  }
  Diagnostics ignored;  // of what is left, the first pass has spoken
  const std::optional<ir::Program> skeleton = ir::bind(tree, ignored);
  if (!skeleton) return;
  for (const ir::Kernel& kernel : skeleton->kernels) check_settings(kernel, places, diagnostics);
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
    return out;
  }
  const families::Context context{*out.program, setting.machine, setting.numerics, setting.frozen};
  check_schedule(context, places_of(out.tree), out.diagnostics);
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
