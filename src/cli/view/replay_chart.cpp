#include "cli/view/replay_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/html.h"

namespace solstice::cli {
namespace {

constexpr double kPanel = 400, kHeight = 300, kLeft = 60, kTop = 64, kBetween = 80, kLine = 18;

constexpr const char* kStyle = R"(<style>
  text { font: 11px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 14px; font-weight: 600; }
  .paper { fill: #ffffff; }
  .grid { stroke: #d0d7de; }
  .setting { fill: #8c959f; } .front { fill: #0072b2; } .optimal { fill: #009e73; } .schedule { fill: #e69f00; }
  .line { fill: none; stroke-width: 1.5; }
  .line0 { stroke: #0072b2; } .line1 { stroke: #cc79a7; stroke-dasharray: 6 3; })"
                               R"( .line2 { stroke: #9a6700; stroke-dasharray: 2 2; }
  .line3 { stroke: #009e73; stroke-dasharray: 8 3 2 3; } .line4 { stroke: #6f42c1; stroke-dasharray: 1 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .paper { fill: #0d1117; }
    .grid { stroke: #30363d; }
    .setting { fill: #6e7681; } .front { fill: #388bfd; } .optimal { fill: #2dd4a7; } .schedule { fill: #f0b429; }
    .line0 { stroke: #388bfd; } .line1 { stroke: #f0a6d0; } .line2 { stroke: #e3c565; } .line3 { stroke: #2dd4a7; }
    .line4 { stroke: #b392f0; }
  }
</style>
)";

// The largest of 1, 2, 5 times a power of ten that cuts `range` into at least three.
double round_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 3)));
  const double times = range / 3 / power;
  return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

// A panel's axes; values to places.
class Axes {
 public:
  Axes(double left, double x_low, double x_high, double y_low, double y_high)
      : left_(left), x_low_(x_low), x_high_(x_high), y_low_(y_low), y_high_(y_high) {}
  double x(double value) const { return left_ + kPanel * (value - x_low_) / (x_high_ - x_low_); }
  double y(double value) const { return kTop + kHeight * (y_high_ - value) / (y_high_ - y_low_); }

  std::string draw(const std::string& x_name, const std::string& y_name, const char* unit, double scale) const {
    std::string out =
        fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", left_ - 44, kTop - 14, html_escaped(y_name));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", left_ + kPanel,
                       kTop + kHeight + 34, html_escaped(x_name));
    const double x_step = round_step(x_high_ - x_low_), y_step = round_step(y_high_ - y_low_);
    for (double v = std::ceil(x_low_ / x_step) * x_step; v <= x_high_ + x_step * 1e-6; v += x_step) {
      out += fmt::format(
          "<path class=\"grid\" d=\"M{0:.1f} {1:.0f}V{2:.0f}\"/><text x=\"{0:.1f}\" y=\"{3:.0f}\" "
          "text-anchor=\"middle\">{4:.4g}</text>\n",
          x(v), kTop, kTop + kHeight, kTop + kHeight + 16, shown(v, scale));
    }
    for (double v = std::ceil(y_low_ / y_step) * y_step; v <= y_high_ + y_step * 1e-6; v += y_step) {
      out += fmt::format(
          "<path class=\"grid\" d=\"M{0:.0f} {1:.1f}H{2:.0f}\"/><text x=\"{3:.0f}\" y=\"{4:.1f}\" "
          "text-anchor=\"end\">{5:.4g}{6}</text>\n",
          left_, y(v), left_ + kPanel, left_ - 6, y(v) + 4, shown(v, scale), unit);
    }
    return out;
  }

 private:
  static double shown(double v, double scale) { return std::abs(v) < 1e-9 ? 0 : v * scale; }
  double left_, x_low_, x_high_, y_low_, y_high_;
};

struct Mark {
  double saved, retention;
  std::string kind, text;
};

class Savings {
 public:
  explicit Savings(const search::Comparison& c) : fixed_(c.stops.front().spent.in(c.currency)), currency_(c.currency) {
    for (const search::Judged& row : c.stops) {
      add(row, row.rule == search::kHindsight ? "optimal" : row.front ? "front" : "setting");
    }
    for (const search::Judged& row : c.schedules) add(row, row.policy == search::kHindsight ? "optimal" : "schedule");
    for (const Mark& m : marks_) {
      low_ = std::min(low_, m.retention);
      least_ = std::min(least_, m.saved);
    }
  }

  std::string draw() const {
    const double margin = std::max(0.005, (1 - low_) * 0.08);
    const Axes axes(kLeft, least_, 1, low_ - margin, 1 + margin);
    const char* what = enum_name(currency_);
    std::string out = axes.draw(fmt::format("{} saved, %", what), "retention", "%", 100);
    std::vector<Mark> front;
    std::copy_if(marks_.begin(), marks_.end(), std::back_inserter(front),
                 [](const Mark& m) { return m.kind == "front"; });
    std::sort(front.begin(), front.end(), [](const Mark& a, const Mark& b) { return a.saved < b.saved; });
    std::string path;
    for (const Mark& m : front)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", axes.x(m.saved), axes.y(m.retention));
    out += fmt::format("<path class=\"line line0\" d=\"{}\"/>\n", path);
    for (const Mark& m : marks_) {
      out += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}</title></circle>\n",
                         m.kind, axes.x(m.saved), axes.y(m.retention), html_escaped(m.text));
    }
    return out + legend();
  }

 private:
  void add(const search::Judged& row, const std::string& kind) {
    const double saved = 1 - row.spent.in(currency_) / fixed_;
    marks_.push_back({saved, row.retention, kind,
                      fmt::format("{}, {}: {:.1f} % saved, {:.1f} % retained", row.policy, row.rule, saved * 100,
                                  row.retention * 100)});
  }

  std::string legend() const {
    std::string out;
    double x = kLeft;
    for (const auto& [kind, text] : {std::pair("front", "Pareto front"),
                                     {"setting", "other settings"},
                                     {"schedule", "shared budgets"},
                                     {"optimal", "hindsight-optimal"}}) {
      const bool there =
          std::any_of(marks_.begin(), marks_.end(), [k = std::string(kind)](const Mark& m) { return m.kind == k; });
      if (!there) continue;
      const double y = kTop + kHeight + 56;
      out += fmt::format(
          "<circle class=\"{}\" cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"4\"/><text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", kind,
          x, y - 4, x + 8, y, text);
      x += 108;
    }
    return out;
  }

  double fixed_;
  search::Currency currency_;
  std::vector<Mark> marks_;
  double low_ = 1, least_ = 0;
};

std::string curves_panel(const std::vector<search::Curve>& curves) {
  double longest = 1, most = 1;
  for (const search::Curve& c : curves) {
    longest = std::max(longest, static_cast<double>(c.speedup.size()) - 1);
    most = std::max(most, *std::max_element(c.speedup.begin(), c.speedup.end()));
  }
  const double left = kLeft + kPanel + kBetween;
  const Axes axes(left, 0, longest, 1, most > 1 ? most * 1.02 : 2);
  std::string out = axes.draw("trials", "best so far, geometric mean", "x", 1);
  for (size_t i = 0; i < curves.size(); ++i) {
    std::string path;
    for (size_t k = 0; k < curves[i].speedup.size(); ++k) {
      const double x = axes.x(static_cast<double>(k)), y = axes.y(curves[i].speedup[k]);
      path += k == 0 ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
    }
    const double row = kTop + kHeight + 56 + kLine * static_cast<double>(i);
    out += fmt::format("<path class=\"line line{}\" d=\"{}\"><title>{}</title></path>\n", i % 5, path,
                       html_escaped(curves[i].policy));
    out += fmt::format(
        "<path class=\"line line{0}\" d=\"M{1:.0f} {2:.0f}h24\"/><text x=\"{3:.0f}\" y=\"{4:.0f}\">{5}</text>\n", i % 5,
        left, row - 4, left + 32, row, html_escaped(curves[i].policy));
  }
  return out;
}

}  // namespace

std::string replay_chart(const search::Comparison& comparison) {
  const double width = kLeft + 2 * kPanel + kBetween + 24;
  const double height = kTop + kHeight + 64 + kLine * static_cast<double>(comparison.curves.size());
  const std::string title =
      fmt::format("{} recorded {} decided again", comparison.runs.size(), comparison.runs.size() == 1 ? "run" : "runs");
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n",
      width, height);
  out += fmt::format("<title>{}</title>\n{}<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", title, kStyle,
                     width, height);
  out += fmt::format("<text class=\"title\" x=\"12\" y=\"24\">{}</text>\n", title);
  return out + Savings(comparison).draw() + curves_panel(comparison.curves) + "</svg>\n";
}

}  // namespace solstice::cli
