#include "flow/run/stages/finals/finalist.h"

#include <fmt/format.h>

#include <set>

namespace solstice::flow {

void refuse(Report& report, Finalist& finalist, std::string why) {
  finalist.refused = std::move(why);
  report.warnings.push_back(finalist.refused);
}

std::string cases_text(const Verdict& verdict) {
  std::set<std::string> names;
  for (const CaseVerdict& one : verdict.cases) names.insert(one.name);
  return fmt::format("{} cases, each twice", names.size());
}

}  // namespace solstice::flow
