#include "propose/moves/more_exact.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace solstice::propose {
namespace {

// The arithmetic of a group that wrong candidates had. A trial that was right clears it of what other trials found, for
// another kernel may be to blame, but not of a precise measurement, which looks at more values.
std::set<std::string> suspects(const Axis& axis, size_t at, const std::vector<Tried>& tried) {
  std::set<std::string> wrong, right, refused;
  for (const Tried& t : tried) {
    if (!t.node || !t.node->measurement) continue;
    const TrialState state = t.node->measurement->state;
    const std::string math = math_of(axis.options[t.choice[at]]);
    if (state == TrialState::kVerified) right.insert(math);
    if (state == TrialState::kWrong) (t.node->precision == search::Precision::kPrecise ? refused : wrong).insert(math);
  }
  for (const std::string& math : right) wrong.erase(math);
  wrong.merge(refused);
  wrong.erase("");
  return wrong;
}

}  // namespace

std::string math_of(const Schedule& schedule) { return schedule.knobs.name_or("math", ""); }

std::string math_in(const std::string& setting) {
  for (const char* before : {"(math=", " math="}) {
    const size_t at = setting.find(before);
    if (at == std::string::npos) continue;
    const size_t begin = at + std::string_view(before).size();
    return setting.substr(begin, setting.find_first_of(",)", begin) - begin);
  }
  return "";
}

std::optional<Choice> more_exact(const std::vector<Axis>& axes, const Alike& groups, const Choice& from,
                                 const std::vector<Tried>& tried) {
  Choice out = from;
  for (const std::vector<size_t>& group : groups) {
    const Axis& axis = axes[group[0]];
    const std::set<std::string> wrong = suspects(axis, group[0], tried);
    if (!wrong.contains(math_of(axis.options[from[group[0]]]))) continue;
    const auto next = std::find_if(axis.options.begin(), axis.options.end(),
                                   [&](const Schedule& option) { return !wrong.contains(math_of(option)); });
    if (next == axis.options.end()) continue;
    for (const size_t member : group) out[member] = static_cast<size_t>(next - axis.options.begin());
  }
  return out == from ? std::nullopt : std::optional(std::move(out));
}

}  // namespace solstice::propose
