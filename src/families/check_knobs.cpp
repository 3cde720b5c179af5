// A clause against its family's table: what can be said of knobs without the kernel's equations.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "families/family.h"

namespace solstice::families {
namespace {

using Kind = ir::KnobValue::Kind;

constexpr int64_t kMostInt = int64_t{1} << 31;     // families keep knobs as int
constexpr int64_t kMostExtent = int64_t{1} << 20;  // of a size

// A number alone is a size of one extent.
bool is_size_of(const KnobSpec& spec, const ir::KnobValue& value) {
  std::vector<int64_t> extents = value.sizes;
  if (value.kind == Kind::kInt) extents = {value.integer};
  if (value.kind != Kind::kInt && value.kind != Kind::kSize) return false;
  const auto rank = static_cast<int64_t>(extents.size());
  if (spec.most > 0 && (rank < spec.least || rank > spec.most)) return false;
  return std::all_of(extents.begin(), extents.end(),
                     [](int64_t extent) { return extent > 0 && extent <= kMostExtent; });
}

bool is_int_of(const KnobSpec& spec, const ir::KnobValue& value) {
  if (value.kind != Kind::kInt || value.integer >= kMostInt || value.integer < -kMostInt) return false;
  return spec.most == 0 || (spec.least <= value.integer && value.integer <= spec.most);
}

bool type_fits(const KnobSpec& spec, const ir::KnobValue& value) {
  if (spec.type == "name") return value.kind == Kind::kName;
  if (spec.type == "bool") return value.kind == Kind::kName && (value.text == "true" || value.text == "false");
  if (spec.type == "int") return is_int_of(spec, value);
  if (spec.type == "size") return is_size_of(spec, value);
  if (spec.type == "string") return value.kind == Kind::kString;
  return spec.type == "tuple";
}

bool value_fits(const KnobSpec& spec, const ir::KnobValue& value) {
  if (value.is_auto()) return !spec.otherwise.empty();
  if (!type_fits(spec, value)) return false;
  return spec.values.empty() ||
         std::find(spec.values.begin(), spec.values.end(), ir::to_text(value)) != spec.values.end();
}

std::string legal_text(const KnobSpec& spec) {
  if (!spec.values.empty()) return fmt::format("legal: {}", fmt::join(spec.values, ", "));
  return spec.range.empty() ? "a " + spec.type : "legal: " + spec.range;
}

class Checking {
 public:
  Checking(const Family& family, const ir::Kernel& kernel, const KnobPlaces& places, Diagnostics& diagnostics)
      : family_(family), specs_(family.knobs()), kernel_(kernel), places_(places), diagnostics_(diagnostics) {}

  ir::Knobs run() {
    ir::Knobs out;
    for (const auto& [name, value] : kernel_.knobs.items) {
      const std::vector<std::string> names = ir::tied_knobs(name);
      const auto place = places_.find({kernel_.span.begin, names.front()});
      span_ = place == places_.end() ? kernel_.span : place->second;
      out.items.emplace_back(name, names.size() > 1 ? tied(names, value) : one(name, value));
    }
    return out;
  }

 private:
  // The value, or what is left of it.
  ir::KnobValue one(const std::string& name, const ir::KnobValue& value) {
    const KnobSpec* const spec = spec_of(name);
    if (!spec) return unknown(name), value;
    if (value.kind != Kind::kSet) return checked(*spec, value) ? value : ir::KnobValue::of_name("auto");
    ir::KnobValue left = value;
    std::erase_if(left.items, [&](const ir::KnobValue& member) { return !checked(*spec, member); });
    return left.items.empty() ? ir::KnobValue::of_name("auto") : left;
  }

  // `(tile, cluster)={(128x256, 2x1), ...}`: every value is a tuple of one value a knob.
  ir::KnobValue tied(const std::vector<std::string>& names, const ir::KnobValue& value) {
    ir::KnobValue left = value;
    if (value.kind != Kind::kSet) left.kind = Kind::kSet, left.items = {value};
    const auto no_tuple = std::find_if(left.items.begin(), left.items.end(), [&](const ir::KnobValue& member) {
      return member.kind != Kind::kTuple || member.items.size() != names.size();
    });
    if (no_tuple != left.items.end()) {
      diagnostics_.error("E102", span_,
                         fmt::format("`{}` is not a value of {} tied knobs", ir::to_text(*no_tuple), names.size()),
                         fmt::format("a set of tuples of {} values: `({})={{(.., ..), (.., ..)}}`", names.size(),
                                     fmt::join(names, ", ")));
      return ir::KnobValue::of_name("auto");
    }
    std::set<size_t> bad;
    for (size_t n = 0; n < names.size(); ++n) {
      const KnobSpec* const spec = spec_of(names[n]);
      if (!spec) unknown(names[n]);
      for (size_t i = 0; spec && i < left.items.size(); ++i) {
        if (!checked(*spec, left.items[i].items[n])) bad.insert(i);
      }
    }
    for (auto i = bad.rbegin(); i != bad.rend(); ++i)
      left.items.erase(left.items.begin() + static_cast<std::ptrdiff_t>(*i));
    return left.items.empty() ? ir::KnobValue::of_name("auto") : left;
  }

  const KnobSpec* spec_of(const std::string& name) const {
    const auto found =
        std::find_if(specs_.begin(), specs_.end(), [&](const KnobSpec& spec) { return spec.name == name; });
    return found == specs_.end() ? nullptr : &*found;
  }

  bool checked(const KnobSpec& spec, const ir::KnobValue& value) {
    if (value_fits(spec, value)) return true;
    diagnostics_.error("E102", span_,
                       fmt::format("`{}={}` is not a value of {}", spec.name, ir::to_text(value), of_family(spec.name)),
                       legal_text(spec));
    return false;
  }

  std::string of_family(const std::string& name) const {
    return fmt::format("knob `{}` of family `{}`", name, family_.name);
  }

  void unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const KnobSpec& spec : specs_) {
      if (!spec.name.empty()) names.push_back(spec.name);
    }
    const std::string near = closest(name, names);
    diagnostics_.error(
        "E101", span_, fmt::format("family `{}` has no knob `{}`", family_.name, name),
        near.empty() ? fmt::format("knobs: {}", fmt::join(names, ", ")) : fmt::format("closest: `{}`", near));
  }

  const Family& family_;
  const std::vector<KnobSpec>& specs_;
  const ir::Kernel& kernel_;
  const KnobPlaces& places_;
  Diagnostics& diagnostics_;
  Span span_;
};

}  // namespace

ir::Knobs check_knobs(const Family& family, const ir::Kernel& kernel, const KnobPlaces& places,
                      Diagnostics& diagnostics) {
  return Checking(family, kernel, places, diagnostics).run();
}

void check_required(const Family& family, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  std::set<std::string> written;
  for (const auto& knob : kernel.knobs.items) {
    for (const std::string& name : ir::tied_knobs(knob.first)) written.insert(name);
  }
  for (const KnobSpec& spec : family.knobs()) {
    if (!spec.otherwise.empty() || written.count(spec.name)) continue;
    const std::string what = spec.name.empty() ? spec.range : fmt::format("knob `{}`: {}", spec.name, spec.help);
    diagnostics.error("E105", kernel.span,
                      fmt::format("kernel `{}` by `{}` lacks the {}", kernel.name, family.name, what),
                      spec.name.empty() ? "write it first, in quotes" : fmt::format("`{}=...`", spec.name));
  }
}

}  // namespace solstice::families
