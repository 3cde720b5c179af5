#include "record/finding.h"

#include <fmt/format.h>

#include <cmath>

namespace solstice {
namespace {

constexpr double kMostGain = 1e9;  // no advice brings more

bool is_bound(double gain) { return gain >= 1 && gain < kMostGain; }

}  // namespace

std::vector<const char*> enum_names(FindingSeverity) { return {"note", "low", "medium", "high"}; }
std::vector<const char*> enum_names(Confidence) { return {"low", "medium", "high"}; }
std::vector<const char*> enum_names(ActionKind) { return {"text", "knobs", "cut", "rewrite", "math", "once", "code"}; }

std::string knobs_text(const FindingAction& action) {
  std::string out;
  for (const auto& [name, value] : action.knobs) out += (out.empty() ? "" : ", ") + name + "=" + value;
  return out;
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
