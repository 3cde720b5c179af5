#include "flow/fit/originals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "flow/fit/record_lines.h"
#include "machine/machine.h"
#include "sol/eager/predict.h"

namespace solstice::flow {
namespace {

using OriginalFilter = std::function<bool(const OriginalPoint&)>;

std::string largest_kind(const PredictedOriginal& predicted) {
  std::map<std::string, Seconds> by_kind;
  for (const OperatorTime& each : predicted.operators) by_kind[each.kind] += each.time;
  if (predicted.time > predicted.device) return "dispatch";
  const auto most = std::max_element(by_kind.begin(), by_kind.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_kind.end() ? "nothing" : most->first;
}

Result<OriginalPoint> point_of(const OriginalTime& original, const machine::Machine& machine, bool tf32) {
  const sol::EagerFlags flags{.matmul_tf32 = tf32, .conv_tf32 = original.graph.semantics.cudnn_tf32};
  SOLSTICE_TRY(const PredictedOriginal predicted, sol::predict_original(original.graph, machine, flags));
  return OriginalPoint{original.problem,  largest_kind(predicted), tf32,
                       original.held_out, predicted.time,          tf32 ? *original.tf32 : *original.measured};
}

double share(const std::vector<double>& sorted, double at) {
  return sorted[static_cast<size_t>(at * static_cast<double>(sorted.size() - 1) + 0.5)];
}

OriginalErrors errors_of(std::string what, const std::vector<OriginalPoint>& points, const OriginalFilter& chosen) {
  OriginalErrors out;
  out.what = std::move(what);
  std::vector<double> errors;
  for (const OriginalPoint& point : points) {
    if (!chosen(point)) continue;
    errors.push_back(std::exp(std::fabs(std::log(point.ratio()))) - 1);
    if (errors.size() > 1 && errors.back() <= std::exp(std::fabs(std::log(out.worst))) - 1) continue;
    out.worst = point.ratio();
    out.problem = point.problem;
  }
  out.count = static_cast<int>(errors.size());
  if (errors.empty()) return out;
  std::sort(errors.begin(), errors.end());
  out.median = share(errors, 0.5);
  out.high = share(errors, 0.9);
  return out;
}

void add_errors(OriginalFit& fit) {
  const auto add = [&](std::vector<OriginalErrors>& to, std::string what, const OriginalFilter& chosen) {
    OriginalErrors errors = errors_of(std::move(what), fit.points, chosen);
    if (errors.count > 0) to.push_back(std::move(errors));
  };
  add(fit.sets, "default flags", [](const OriginalPoint& p) { return !p.tf32 && !p.held_out; });
  add(fit.sets, "TF32 allowed", [](const OriginalPoint& p) { return p.tf32 && !p.held_out; });
  add(fit.sets, "held out of the fit", [](const OriginalPoint& p) { return p.held_out; });
  std::set<std::string> kinds;
  for (const OriginalPoint& point : fit.points) kinds.insert(point.kind);
  for (const std::string& kind : kinds)
    add(fit.classes, kind, [&](const OriginalPoint& p) { return !p.tf32 && !p.held_out && p.kind == kind; });
}

}  // namespace

Result<std::vector<OriginalTime>> read_originals(const std::filesystem::path& file) {
  return read_record_lines<OriginalTime>(file, "`bench/families/originals.py` writes such files");
}

Result<OriginalFit> judge_originals(const std::vector<OriginalTime>& originals) {
  OriginalFit out;
  std::map<std::string, machine::Machine> machines;
  std::set<std::string> places, sources;
  for (const OriginalTime& original : originals) {
    if (!machines.contains(original.machine)) {
      SOLSTICE_TRY(machines[original.machine], machine::load_machine(original.machine));
    }
    places.insert(fmt::format("{} (machine {}), torch {}", original.device, original.machine, original.torch));
    sources.insert(original.source);
    for (const bool tf32 : {false, true}) {
      if (!(tf32 ? original.tf32 : original.measured)) continue;
      SOLSTICE_TRY(OriginalPoint point, point_of(original, machines.at(original.machine), tf32));
      out.points.push_back(std::move(point));
    }
  }
  out.origin = fmt::format("{}; times: {}", fmt::join(places, "; "), fmt::join(sources, ", "));
  add_errors(out);
  return out;
}

}  // namespace solstice::flow
