#include "cli/view/fit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/view/table.h"

namespace solstice::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string ratio(double value) { return fmt::format("{:.2f}", value); }

// Machines, versions and days of the times.
std::string origin(const flow::Fit& fit) {
  std::set<std::string> devices, versions, dates;
  for (const flow::FitPoint& point : fit.points) {
    devices.insert(fmt::format("{} (machine {})", point.time.device, point.time.machine));
    versions.insert(point.time.version);
    dates.insert(point.time.date.substr(0, 10));
  }
  return fmt::format("measured on {}, solstice {}, {}", fmt::join(devices, ", "), fmt::join(versions, ", "),
                     fmt::join(dates, ", "));
}

std::string ratios_text(const flow::Fit& fit) {
  Rows rows = {{"family", "kernels", "mean", "10 %", "50 %", "90 %", "error", "farthest", "at"}};
  for (const flow::FitRatios& r : fit.ratios) {
    rows.push_back({r.form.empty() ? r.family : "  " + r.form, std::to_string(r.count), ratio(r.mean), ratio(r.low),
                    ratio(r.middle), ratio(r.high), percent(r.error), ratio(r.worst),
                    clip(r.problem + " " + r.schedule, 72)});
  }
  return table(rows);
}

std::string choices_text(const flow::Fit& fit) {
  Rows rows = {{"choice", "problems", "within 5 %", "mean loss", "most", "at"}};
  for (const flow::FitChoices& c : fit.choices) {
    rows.push_back({c.family, std::to_string(c.problems), percent(static_cast<double>(c.near) / c.problems),
                    percent(c.loss), percent(c.worst),
                    clip(fmt::format("{} {}, fastest {}", c.problem, c.chosen, c.fastest), 110)});
  }
  return table(rows);
}

std::string errors_text(const char* title, const std::vector<flow::OriginalErrors>& all) {
  Rows rows = {{title, "originals", "median error", "90 %", "farthest", "at"}};
  for (const flow::OriginalErrors& e : all) {
    rows.push_back(
        {e.what, std::to_string(e.count), percent(e.median), percent(e.high), ratio(e.worst), clip(e.problem, 60)});
  }
  return table(rows);
}

template <typename T>
Json array_of(const std::vector<T>& all, Json (*json_of)(const T&)) {
  Json out = Json::array();
  for (const T& one : all) out.push(json_of(one));
  return out;
}

Json errors_json(const flow::OriginalErrors& e) {
  return Json::object()
      .set("what", e.what)
      .set("originals", e.count)
      .set("median_error", e.median)
      .set("error_90_percent", e.high)
      .set("farthest", e.worst)
      .set("problem", e.problem);
}

Json ratios_json(const flow::FitRatios& r) {
  return Json::object()
      .set("family", r.family)
      .set("form", r.form)
      .set("kernels", r.count)
      .set("geometric_mean", r.mean)
      .set("quantile_10", r.low)
      .set("quantile_50", r.middle)
      .set("quantile_90", r.high)
      .set("median_error", r.error)
      .set("farthest", r.worst)
      .set("problem", r.problem)
      .set("schedule", r.schedule);
}

Json choices_json(const flow::FitChoices& c) {
  return Json::object()
      .set("family", c.family)
      .set("problems", c.problems)
      .set("within_5_percent", c.near)
      .set("mean_loss", c.loss)
      .set("most_loss", c.worst)
      .set("problem", c.problem)
      .set("chosen", c.chosen)
      .set("fastest", c.fastest);
}

Json point_json(const flow::FitPoint& p) {
  Json terms = Json::object();
  for (const auto& [name, time] : p.terms) terms.set(name, time.value);
  return Json::object()
      .set("problem", p.time.problem)
      .set("cut", enum_name(p.time.cut))
      .set("schedule", p.schedule)
      .set("family", p.family)
      .set("form", p.form)
      .set("predicted", p.predicted.value)
      .set("measured", p.time.measured.value)
      .set("net", p.net.value)
      .set("terms", terms);
}

Json original_json(const flow::OriginalPoint& p) {
  return Json::object()
      .set("problem", p.problem)
      .set("class", p.kind)
      .set("tf32", p.tf32)
      .set("held_out", p.held_out)
      .set("predicted", p.predicted.value)
      .set("measured", p.measured.value);
}

}  // namespace

std::string fit_text(const flow::Fit& fit, const std::string& source) {
  std::string out = fmt::format("{} programs, {}: {}\n\n", fit.points.size(), origin(fit), source);
  out += "predicted / measured (mean: geometric; error: median distance from 1, as a ratio)\n" + ratios_text(fit);
  if (!fit.choices.empty())
    out += "\nthe schedule (cuts: the cut into kernels) with the least prediction, against the fastest measured\n" +
           choices_text(fit);
  for (const std::string& dropped : fit.dropped) out += "left out: " + dropped + "\n";
  return out;
}

Json fit_json(const flow::Fit& fit, const std::string& source) {
  const Json dropped = text_list(fit.dropped);
  return Json::object()
      .set("source", source)
      .set("origin", origin(fit))
      .set("programs", fit.points.size())
      .set("ratios", array_of(fit.ratios, ratios_json))
      .set("choices", array_of(fit.choices, choices_json))
      .set("left_out", dropped)
      .set("points", array_of(fit.points, point_json));
}

std::string originals_text(const flow::OriginalFit& fit, const std::string& source) {
  return fmt::format(
             "predicted time of the original, predicted / measured (error: distance from 1, as a ratio)\n{}, {}\n",
             fit.origin, source) +
         errors_text("set", fit.sets) + "\n" + errors_text("class with the most time", fit.classes);
}

Json originals_json(const flow::OriginalFit& fit, const std::string& source) {
  return Json::object()
      .set("source", source)
      .set("origin", fit.origin)
      .set("sets", array_of(fit.sets, errors_json))
      .set("classes", array_of(fit.classes, errors_json))
      .set("points", array_of(fit.points, original_json));
}

}  // namespace solstice::cli
