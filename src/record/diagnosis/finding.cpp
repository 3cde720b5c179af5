#include "record/diagnosis/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace solstice {
namespace {

constexpr double kMostGain = 1e9;  // no advice brings more

bool is_bound(double gain) { return gain >= 1 && gain < kMostGain; }

}  // namespace

std::vector<const char*> enum_names(FindingSeverity) { return {"note", "low", "medium", "high"}; }
std::vector<const char*> enum_names(Confidence) { return {"low", "medium", "high"}; }
std::vector<const char*> enum_names(ActionKind) { return {"text", "knobs", "cut", "rewrite", "math", "once", "code"}; }

namespace {

constexpr size_t kMostOfAnEquation = 55;  // characters: its beginning says which it is

std::string quoted_equation(const std::string& text) {
  return "`" + (text.size() <= kMostOfAnEquation ? text : text.substr(0, kMostOfAnEquation) + " ..") + "`";
}

}  // namespace

std::string place_text(const FindingPlace& place) {
  if (place.kernel.empty()) return "program";
  const std::string kernel = "`" + place.kernel + "`";
  std::string out = place.part.empty() ? kernel : place.part + " of " + kernel;
  if (!place.file.empty()) out = "`" + place.file + "` in " + out;
  if (place.file.empty() && !place.equation.empty()) out = quoted_equation(place.equation) + ", " + out;
  return place.line > 0 ? out + ", line " + std::to_string(place.line) : out;
}

std::string knobs_text(const FindingAction& action) {
  std::string out;
  for (const auto& [name, value] : action.knobs) out += (out.empty() ? "" : ", ") + name + "=" + value;
  return out;
}

std::vector<ActionGroup> grouped_actions(const Finding& finding) {
  std::vector<ActionGroup> out;
  for (const FindingAction& action : finding.actions) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const ActionGroup& group) {
      const FindingAction& one = *group.first;
      return one.kind == action.kind && one.text == action.text && one.knobs == action.knobs &&
             one.rewrite == action.rewrite && one.with == action.with;
    });
    if (same == out.end())
      out.push_back({&action});
    else
      ++same->more;
  }
  return out;
}

std::string more_text(const ActionGroup& group) {
  return group.more > 0 ? fmt::format(", and the same for {} more", group.more) : "";
}

Status validate(const Finding& finding) {
  const auto bad = [](const std::string& what) { return Status(fail(Code::bad_record, what)); };
  if (finding.cause.empty()) return bad("a finding without a cause");
  if (finding.evidence.empty()) return bad("a finding without evidence");
  for (const Evidence& each : finding.evidence) {
    if (!std::isfinite(each.value)) return bad(fmt::format("evidence `{}` of {}", each.what, each.value));
  }
  for (const double gain : {finding.gain.program, finding.gain.kernel}) {
    if (!is_bound(gain)) return bad(fmt::format("a bound of {}; legal are 1 to {:g}", gain, kMostGain));
  }
  return success();
}

Result<std::vector<Finding>> findings_of_record(const Json& record) {
  std::vector<Finding> out;
  for (const Json& item : record.at("findings").items()) {
    SOLSTICE_TRY(Finding finding, from_json<Finding>(item));
    SOLSTICE_CHECK(validate(finding));
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace solstice
