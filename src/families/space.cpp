#include "families/space.h"

#include <algorithm>
#include <optional>

namespace solstice::families {
namespace {

constexpr size_t kMostTried = 1000;

// Illegal settings of a space, and what is said of the first.
struct Dropped {
  size_t tried = 0, illegal = 0;
  ir::Knobs setting;
  Diagnostic why;
};

Dropped dropped_of(const Family& family, const Context& context, const ir::Kernel& kernel) {
  Dropped out;
  ir::Kernel one = kernel;
  for (ir::Knobs& setting : ir::settings_of(kernel.knobs, kMostTried)) {
    one.knobs = std::move(setting);
    Diagnostics found;
    family.check(context, one, found);
    ++out.tried;
    const auto error = std::find_if(found.all().begin(), found.all().end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::kError; });
    if (error == found.all().end()) continue;
    if (out.illegal++ == 0) out.why = *error, out.setting = one.knobs;
  }
  return out;
}

// The knobs of a setting that the set leaves open.
std::string open_knobs(const ir::Knobs& space, const ir::Knobs& setting) {
  ir::Knobs out;
  for (const auto& [name, value] : space.items) {
    if (value.kind != ir::KnobValue::Kind::kSet) continue;
    for (const std::string& each : ir::tied_knobs(name)) out.items.emplace_back(each, *setting.find(each));
  }
  return ir::to_text(out);
}

}  // namespace

void check_rules_of(const Family& family, const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  if (!family.check) return;
  if (!ir::is_space(kernel.knobs)) {
    family.check(context, kernel, diagnostics);
    return;
  }
  const Dropped dropped = dropped_of(family, context, kernel);
  if (dropped.illegal == 0) return;
  const size_t all = ir::count_settings(kernel.knobs);
  const std::string first =
      fmt::format("`{}`: {} ({})", open_knobs(kernel.knobs, dropped.setting), dropped.why.message, dropped.why.code);
  if (dropped.illegal == all) {
    const std::string none = all == 1 ? "the only setting" : fmt::format("none of the {} settings", all);
    diagnostics.error(
        "E104", kernel.span,
        fmt::format("{} of kernel `{}` is {}, {}", none, kernel.name, all == 1 ? "illegal" : "legal; the first", first),
        dropped.why.hint);
    return;
  }
  const std::string of =
      dropped.tried < all ? fmt::format("the first {} of {}", dropped.tried, all) : fmt::format("{}", all);
  diagnostics.add({"N104",
                   Severity::kNote,
                   fmt::format("{} of {} settings of kernel `{}` are illegal and skipped; the first, {}",
                               dropped.illegal, of, kernel.name, first),
                   kernel.span,
                   {},
                   dropped.why.hint,
                   ""});
}

}  // namespace solstice::families
