#include "families/family.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families {
namespace {

using Kind = ir::KnobValue::Kind;

bool type_fits(const KnobSpec& spec, const ir::KnobValue& value) {
  if (value.kind == Kind::kName && (value.text == "auto" || spec.type == "name")) return true;
  if (spec.type == "bool") return value.kind == Kind::kName && (value.text == "true" || value.text == "false");
  if (spec.type == "int") return value.kind == Kind::kInt;
  if (spec.type == "size") return value.kind == Kind::kSize || value.kind == Kind::kInt;
  if (spec.type == "string") return value.kind == Kind::kString;
  return spec.type == "tuple";
}

bool value_fits(const KnobSpec& spec, const ir::KnobValue& value) {
  if (!type_fits(spec, value)) return false;
  if (spec.values.empty() || (value.kind == Kind::kName && value.text == "auto")) return true;
  return std::find(spec.values.begin(), spec.values.end(), ir::to_text(value)) != spec.values.end();
}

std::string legal_text(const KnobSpec& spec) {
  if (!spec.values.empty()) return fmt::format("legal: {}", fmt::join(spec.values, ", "));
  return spec.range.empty() ? "a " + spec.type : "legal: " + spec.range;
}

void check_value(const Family& family, const ir::Kernel& kernel, const KnobSpec& spec, const ir::KnobValue& value,
                 Diagnostics& diagnostics) {
  if (value.kind == Kind::kSet) {
    for (const ir::KnobValue& item : value.items) check_value(family, kernel, spec, item, diagnostics);
    return;
  }
  if (value_fits(spec, value)) return;
  diagnostics.error("E102", kernel.span,
                    fmt::format("`{}={}` is no value of knob `{}` of family `{}`", spec.name, ir::to_text(value), spec.name, family.name),
                    legal_text(spec));
}

void check_knob(const Family& family, const ir::Kernel& kernel, const std::vector<KnobSpec>& specs, const std::string& name,
                const ir::KnobValue& value, Diagnostics& diagnostics) {
  const auto spec = std::find_if(specs.begin(), specs.end(), [&](const KnobSpec& s) { return s.name == name; });
  if (spec != specs.end()) {
    check_value(family, kernel, *spec, value, diagnostics);
    return;
  }
  std::vector<std::string> names;
  for (const KnobSpec& s : specs) {
    if (!s.name.empty()) names.push_back(s.name);
  }
  const std::string near = closest(name, names);
  diagnostics.error("E101", kernel.span, fmt::format("family `{}` has no knob `{}`", family.name, name),
                    near.empty() ? fmt::format("knobs: {}", fmt::join(names, ", ")) : fmt::format("closest: `{}`", near));
}

// The values of the n-th of several tied knobs, as a set.
ir::KnobValue tied_values(const ir::KnobValue& value, size_t n) {
  if (value.kind == Kind::kTuple) return value.items[n];
  ir::KnobValue out;
  out.kind = Kind::kSet;
  for (const ir::KnobValue& item : value.items) out.items.push_back(tied_values(item, n));
  return out;
}

// `(tile, cluster)={(128x256, 2x1), ...}`: every value is a tuple of one value a knob.
void check_tied(const Family& family, const ir::Kernel& kernel, const std::vector<KnobSpec>& specs, const std::vector<std::string>& names,
                const ir::KnobValue& value, Diagnostics& diagnostics) {
  const std::vector<ir::KnobValue> one = {value};
  for (const ir::KnobValue& item : value.kind == Kind::kSet ? value.items : one) {
    if (item.kind == Kind::kTuple && item.items.size() == names.size()) continue;
    diagnostics.error("E102", kernel.span, fmt::format("`{}` is no value for {} tied knobs", ir::to_text(item), names.size()),
                      fmt::format("a set of tuples of {} values: `({})={{(.., ..), (.., ..)}}`", names.size(), fmt::join(names, ", ")));
    return;
  }
  for (size_t n = 0; n < names.size(); ++n) check_knob(family, kernel, specs, names[n], tied_values(value, n), diagnostics);
}

}  // namespace

const Family* find_family(std::string_view name) {
  for (const Family* family : all_families()) {
    if (family->name == name) return family;
  }
  return nullptr;
}

void check_knobs(const Family& family, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  const std::vector<KnobSpec> specs = family.knobs ? family.knobs() : std::vector<KnobSpec>{};
  for (const auto& [name, value] : kernel.knobs.items) {
    const std::vector<std::string> names = ir::tied_knobs(name);
    if (names.size() > 1) {
      check_tied(family, kernel, specs, names, value, diagnostics);
    } else {
      check_knob(family, kernel, specs, name, value, diagnostics);
    }
  }
}

}  // namespace solstice::families
