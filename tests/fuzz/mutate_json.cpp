#include "mutate_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace solstice::fuzz {
namespace {

constexpr std::array<int64_t, 14> kNumbers = {
    0,  1,       2,         3,         -1,        -2,           7,
    16, 1 << 20, 1LL << 31, 1LL << 40, 1LL << 62, -(1LL << 62), std::numeric_limits<int64_t>::max()};

// Not finite ones are words in JSON.
constexpr std::array<double, 12> kReals = {
    0.0, -0.0, 1.0, 0.5, -1.0, 1e-300, 1e18, 1e300, -1e300, std::numeric_limits<double>::denorm_min(), INFINITY, NAN};

// All values of a document, each with the key it stands under ("" in an array).
struct Place {
  std::string key;
  const Json* value;
};

void add_places(const std::string& key, const Json& value, std::vector<Place>& out) {
  out.push_back({key, &value});
  for (const Json& item : value.items()) add_places("", item, out);
  for (const auto& [name, member] : value.members()) add_places(name, member, out);
}

// `root` with `to` in place of the value `from`, by address.
Json with(const Json& root, const Json* from, const Json& to) {
  if (&root == from) return to;
  if (root.is_array()) {
    Json out = Json::array();
    for (const Json& item : root.items()) out.push(with(item, from, to));
    return out;
  }
  if (!root.is_object()) return root;
  Json::Object out;
  for (const auto& [name, member] : root.members()) out.emplace_back(name, with(member, from, to));
  return out;
}

class Mutator {
 public:
  Mutator(const Json& document, std::mt19937& random) : document_(document), random_(random) {
    add_places("", document, places_);
  }

  Json run() {
    const Place& place = places_[number(places_.size())];
    return with(document_, place.value, number(4) == 0 ? alike(place) : changed(*place.value));
  }

 private:
  size_t number(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }

  // A value that stands under the same key elsewhere.
  Json alike(const Place& place) {
    std::vector<const Json*> others;
    for (const Place& each : places_) {
      if (each.key == place.key) others.push_back(each.value);
    }
    return *others[number(others.size())];
  }

  Json changed(const Json& value) {
    if (value.is_bool()) return !value.as_bool();
    if (value.is_int()) return changed_number(value.as_int());
    if (value.is_number()) return changed_real(value.as_double());
    if (value.is_array()) return changed_array(value.items());
    if (value.is_object() && value.size() > 0) return changed_object(value.members());
    return *places_[number(places_.size())].value;
  }

  Json changed_number(int64_t value) {
    switch (number(4)) {
      case 0:
        return kNumbers[number(kNumbers.size())];
      case 1:
        return value < std::numeric_limits<int64_t>::max() ? value + 1 : value;
      case 2:
        return value > std::numeric_limits<int64_t>::min() ? value - 1 : value;
      default:
        return static_cast<double>(value) * 0.5;
    }
  }

  Json changed_real(double value) {
    switch (number(3)) {
      case 0:
        return kReals[number(kReals.size())];
      case 1:
        return value * std::exp2(static_cast<double>(number(41)) - 20);
      default:
        return -value;
    }
  }

  Json changed_array(Json::Array items) {
    if (items.empty()) return Json::array().push(*places_[number(places_.size())].value);
    const size_t at = number(items.size());
    switch (number(4)) {
      case 0:
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), Json(items[number(items.size())]));
        break;
      case 2:
        std::swap(items[at], items[number(items.size())]);
        break;
      default:
        items.resize(at);
    }
    return items;
  }

  Json changed_object(Json::Object members) {
    const size_t at = number(members.size());
    if (number(2) == 0) {
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      std::swap(members[at].second, members[number(members.size())].second);
    }
    return members;
  }

  const Json& document_;
  std::mt19937& random_;
  std::vector<Place> places_;
};

}  // namespace

Json mutated(const Json& document, std::mt19937& random) { return Mutator(document, random).run(); }

}  // namespace solstice::fuzz
