#include "ir/knobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::ir {

KnobValue KnobValue::of_int(int64_t v) {
  KnobValue out;
  out.integer = v;
  return out;
}

KnobValue KnobValue::of_name(std::string v) {
  KnobValue out;
  out.kind = Kind::kName;
  out.text = std::move(v);
  return out;
}

KnobValue KnobValue::of_size(std::vector<int64_t> v) {
  KnobValue out;
  out.kind = Kind::kSize;
  out.sizes = std::move(v);
  return out;
}

KnobValue KnobValue::of_string(std::string v) {
  KnobValue out;
  out.kind = Kind::kString;
  out.text = std::move(v);
  return out;
}

std::string to_text(const KnobValue& value) {
  using Kind = KnobValue::Kind;
  const auto list = [](const std::vector<KnobValue>& items) {
    std::string out;
    for (const KnobValue& item : items) out += (out.empty() ? "" : ", ") + to_text(item);
    return out;
  };
  switch (value.kind) {
    case Kind::kInt:
      return std::to_string(value.integer);
    case Kind::kReal: {
      std::string text = fmt::format("{}", value.real);
      return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
    case Kind::kName:
      return value.text;
    case Kind::kSize:
      return fmt::format("{}", fmt::join(value.sizes, "x"));
    case Kind::kString:
      return "\"" + value.text + "\"";
    case Kind::kTuple:
      return "(" + list(value.items) + ")";
    case Kind::kSet:
      return "{" + list(value.items) + "}";
    case Kind::kStruct:
      return value.text + "(" + to_text(Knobs{value.members}) + ")";
  }
  return "";
}

const KnobValue* Knobs::find(std::string_view name) const {
  for (const auto& [key, value] : items) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Knobs::set(std::string_view name, KnobValue value) {
  for (auto& [key, old] : items) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  items.emplace_back(std::string(name), std::move(value));
}

int64_t Knobs::int_or(std::string_view name, int64_t otherwise) const {
  const KnobValue* found = find(name);
  return found && found->kind == KnobValue::Kind::kInt ? found->integer : otherwise;
}

std::string Knobs::name_or(std::string_view name, std::string_view otherwise) const {
  const KnobValue* found = find(name);
  return found && found->kind == KnobValue::Kind::kName ? found->text : std::string(otherwise);
}

std::vector<int64_t> Knobs::size_or(std::string_view name, std::vector<int64_t> otherwise) const {
  const KnobValue* found = find(name);
  if (!found) return otherwise;
  if (found->kind == KnobValue::Kind::kSize) return found->sizes;
  if (found->kind == KnobValue::Kind::kInt) return {found->integer};
  return otherwise;
}

std::vector<std::string> tied_knobs(const std::string& name) {
  if (!name.starts_with('(')) return {name};
  std::vector<std::string> out;
  for (size_t at = 1; at < name.size();) {
    const size_t end = std::min(name.find(',', at), name.find(')', at));
    out.push_back(name.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

bool is_space(const Knobs& knobs) {
  return std::any_of(knobs.items.begin(), knobs.items.end(),
                     [](const auto& knob) { return knob.second.kind == KnobValue::Kind::kSet; });
}

size_t count_settings(const Knobs& space) {
  constexpr size_t kMost = size_t{1} << 31;
  size_t out = 1;
  for (const auto& [name, value] : space.items) {
    if (value.kind == KnobValue::Kind::kSet) out = std::min(kMost, out * value.items.size());
  }
  return out;
}

std::vector<Knobs> settings_of(const Knobs& space, size_t most) {
  std::vector<Knobs> out;
  const size_t count = std::min(most, count_settings(space));
  for (size_t n = 0; n < count; ++n) {
    Knobs one;
    size_t rest = n;
    for (auto knob = space.items.rbegin(); knob != space.items.rend(); ++knob) {
      const bool set = knob->second.kind == KnobValue::Kind::kSet;
      const KnobValue& value = set ? knob->second.items[rest % knob->second.items.size()] : knob->second;
      if (set) rest /= knob->second.items.size();
      const std::vector<std::string> names = tied_knobs(knob->first);
      const bool tied = names.size() > 1 && value.kind == KnobValue::Kind::kTuple;
      for (size_t i = names.size(); i-- > 0;) one.items.emplace_back(names[i], tied ? value.items[i] : value);
    }
    std::reverse(one.items.begin(), one.items.end());
    out.push_back(std::move(one));
  }
  return out;
}

std::string to_text(const Knobs& knobs) {
  std::string out;
  for (const auto& [name, value] : knobs.items) {
    if (!out.empty()) out += ", ";
    out += name.empty() ? to_text(value) : name + "=" + to_text(value);
  }
  return out;
}

}  // namespace solstice::ir
