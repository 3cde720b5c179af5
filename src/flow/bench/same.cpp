#include "flow/bench/same.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace solstice::flow {
namespace {

int number_of(const BenchRow& row) {
  const size_t slash = row.id.find('/');
  return slash == std::string::npos ? 0 : std::atoi(row.id.c_str() + slash + 1);
}

template <std::string VariantName::*part>
std::string listed(const std::vector<VariantName>& variants) {
  std::vector<std::string> seen;
  std::string out;
  for (const VariantName& v : variants) {
    if (std::find(seen.begin(), seen.end(), v.*part) != seen.end()) continue;
    seen.push_back(v.*part);
    out += (out.empty() ? "" : ",") + v.*part;
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> options_of(const BenchOptions& options) {
  const OptimizeOptions& o = options.each;
  std::map<std::string, std::string> out = {
      {"device", o.place.device},
      {"machine", o.place.machine},
      {"numerics", listed<&VariantName::numerics>(options.variants)},
      {"rewrites", listed<&VariantName::rewrites>(options.variants)},
      {"weights", o.terms.frozen ? "frozen" : "live"},
      {"budget", fmt::format("{} s", o.search.budget.value)},
      {"trials", std::to_string(o.search.trials)},
      {"opponents", options.opponents ? fmt::format("within {} s{}", options.deadline.value,
                                                    options.opponents_of_all ? "" : " where supported")
                                      : "none"}};
  if (o.place.gpus.given()) out["devices"] = o.place.gpus.text();
  if (!o.search.memory) out["memory"] = "off";
  if (!o.search.findings) out["findings"] = "off";
  if (options.shared) out["total"] = options.shared->total_text, out["schedule"] = options.shared->schedule_text;
  return out;
}

std::string differences(const std::map<std::string, std::string>& first,
                        const std::map<std::string, std::string>& second, const std::string& then,
                        const std::string& now) {
  std::map<std::string, std::array<std::string, 2>> values;
  for (const auto& [name, value] : first) values[name][0] = value;
  for (const auto& [name, value] : second) values[name][1] = value;
  std::string out;
  for (const auto& [name, pair] : values) {
    if (pair[0] == pair[1]) continue;
    const auto shown = [](const std::string& value) { return value.empty() ? "not given" : value; };
    out += fmt::format("{}{} ({} {}, {} {})", out.empty() ? "" : ", ", name, shown(pair[0]), then, shown(pair[1]), now);
  }
  return out;
}

std::string place_difference(const BenchRow& first, const BenchRow& second, const std::string& then,
                             const std::string& now) {
  static constexpr std::array kSameForAll = {"device", "driver", "torch"};
  for (const char* name : kSameForAll) {
    const auto a = first.made_with.find(name), b = second.made_with.find(name);
    if (a == first.made_with.end() || b == second.made_with.end() || a->second == b->second) continue;
    return fmt::format("{} {} {}, {} {}", name, a->second, then, b->second, now);
  }
  return "";
}

bool before(const BenchRow& first, const BenchRow& second) {
  return std::pair(level_of(first), number_of(first)) < std::pair(level_of(second), number_of(second));
}

}  // namespace solstice::flow
