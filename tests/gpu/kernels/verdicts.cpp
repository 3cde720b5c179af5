#include "gpu/kernels/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace solstice::random_kernels {
namespace {

struct Row {
  int64_t programs = 0, exact = 0, refused = 0, refused_knobs = 0, wrong = 0, crashed = 0, other = 0, elements = 0,
          unasked = 0;
  double worst = 0;
};

std::map<std::string, Row> rows_of(const std::vector<Verdict>& verdicts) {
  std::map<std::string, Row> out;
  for (const Verdict& v : verdicts) {
    Row& row = out[v.family];
    ++row.programs;
    row.exact += v.exact;
    row.refused_knobs += v.refused_knobs;
    row.refused += v.outcome == Outcome::kRefused;
    row.wrong += v.outcome == Outcome::kWrong;
    row.crashed += v.outcome == Outcome::kCrashed;
    row.other += is_failure(v.outcome) && v.outcome != Outcome::kWrong && v.outcome != Outcome::kCrashed;
    row.elements += v.elements;
    row.unasked += v.unasked;
    if (v.outcome == Outcome::kPassed) row.worst = std::max(row.worst, v.worst);
  }
  return out;
}

bool too_many_refused(const Row& row) {
  constexpr int64_t kFew = 20;
  return static_cast<double>(row.refused) > kMostRefused * static_cast<double>(std::max(row.programs, kFew));
}

}  // namespace

std::vector<const char*> enum_names(Outcome) {
  return {"passed", "refused", "wrong", "crashed", "not_compiled", "fault", "invalid"};
}

bool is_failure(Outcome outcome) { return outcome != Outcome::kPassed && outcome != Outcome::kRefused; }

std::string summary(const std::vector<Verdict>& verdicts, uint64_t seed, const std::string& sizes) {
  std::string out =
      fmt::format("{:8}{:>9}{:>8}{:>9}{:>7}{:>9}{:>7}{:>14}{:>10}{:>8}{:>15}\n", "family", "programs", "exact",
                  "refused", "wrong", "crashed", "other", "elements", "unasked", "worst", "refused knobs");
  for (const auto& [family, r] : rows_of(verdicts)) {
    out += fmt::format("{:8}{:>9}{:>8}{:>9}{:>7}{:>9}{:>7}{:>14}{:>10}{:>8.3f}{:>15}{}\n", family, r.programs, r.exact,
                       r.refused, r.wrong, r.crashed, r.other, r.elements, r.unasked, r.worst, r.refused_knobs,
                       too_many_refused(r) ? "  too many refused" : "");
  }
  for (const Verdict& v : verdicts) {
    if (v.outcome == Outcome::kRefused)
      out += fmt::format("refused {} {}: {}\n", v.family, v.number, v.why.substr(0, v.why.find('\n')));
  }
  for (const Verdict& v : verdicts) {
    if (!is_failure(v.outcome)) continue;
    out += fmt::format("\n{} {} {}: {}\nagain: test_random_kernels --seed {} --sizes {} --family {} --only {}\n{}",
                       enum_names(v.outcome)[static_cast<size_t>(v.outcome)], v.family, v.number, v.why, seed, sizes,
                       v.family, v.number, v.text);
    if (!v.shrunk.empty() && v.shrunk != v.text) out += "still fails:\n" + v.shrunk;
  }
  return out;
}

Json to_report(const std::vector<Verdict>& verdicts, uint64_t seed, const std::string& device) {
  Json families = Json::array();
  for (const auto& [family, r] : rows_of(verdicts)) {
    families.push(Json::object()
                      .set("family", family)
                      .set("programs", r.programs)
                      .set("exact", r.exact)
                      .set("refused", r.refused)
                      .set("refused_knobs", r.refused_knobs)
                      .set("wrong", r.wrong)
                      .set("crashed", r.crashed)
                      .set("other", r.other)
                      .set("elements", r.elements)
                      .set("unasked", r.unasked)
                      .set("worst", r.worst));
  }
  Json failures = Json::array();
  for (const Verdict& v : verdicts) {
    if (v.outcome != Outcome::kPassed) failures.push(solstice::to_json(v));
  }
  return Json::object()
      .set("seed", seed)
      .set("device", device)
      .set("ok", all_well(verdicts))
      .set("families", families)
      .set("not_passed", failures);
}

bool all_well(const std::vector<Verdict>& verdicts) {
  const bool failed =
      std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return is_failure(v.outcome); });
  const auto rows = rows_of(verdicts);
  return !failed &&
         std::none_of(rows.begin(), rows.end(), [](const auto& row) { return too_many_refused(row.second); });
}

}  // namespace solstice::random_kernels
