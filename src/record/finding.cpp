#include "record/finding.h"

namespace solstice {

std::vector<const char*> enum_names(FindingSeverity) { return {"note", "low", "medium", "high"}; }
std::vector<const char*> enum_names(Confidence) { return {"low", "medium", "high"}; }
std::vector<const char*> enum_names(ActionKind) { return {"text", "knobs", "cut", "rewrite", "math", "once", "code"}; }

std::string knobs_text(const FindingAction& action) {
  std::string out;
  for (const auto& [name, value] : action.knobs) out += (out.empty() ? "" : ", ") + name + "=" + value;
  return out;
}

Result<std::vector<Finding>> findings_of_record(const Json& record) {
  std::vector<Finding> out;
  for (const Json& item : record.at("findings").items()) {
    SOLSTICE_TRY(Finding finding, from_json<Finding>(item));
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace solstice
