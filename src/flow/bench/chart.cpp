#include "flow/bench/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/html.h"
#include "flow/bench/figures.h"

namespace solstice::flow {
namespace {

// The opponents' own speedups are lines, each sorted by itself. No script and no font of its own; colours follow the
// reader's scheme.
constexpr double kLeft = 52, kTop = 80, kHeight = 320, kPitch = 11, kBar = 8, kLeast = 840;

// Plain rules, no variables: more programs than browsers draw it.
constexpr const char* kStyle = R"(<style>
  text { font: 11px system-ui, sans-serif; fill: #24292f; }
  .small { font-size: 8px; }
  .title { font-size: 14px; font-weight: 600; }
  .paper { fill: #ffffff; }
  .grid { stroke: #d0d7de; }
  .one { stroke: #24292f; }
  .faster { fill: #0072b2; } .slower { fill: #e69f00; } .none { fill: #8c959f; } .lost { fill: #d1242f; }
  .line { fill: none; stroke-width: 1.5; }
  .line0 { stroke: #009e73; } .line1 { stroke: #cc79a7; stroke-dasharray: 6 3; }
  .line2 { stroke: #9a6700; stroke-dasharray: 2 2; } .line3 { stroke: #6f42c1; stroke-dasharray: 8 3 2 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .paper { fill: #0d1117; }
    .grid { stroke: #30363d; }
    .one { stroke: #e6edf3; }
    .faster { fill: #388bfd; } .slower { fill: #f0b429; } .none { fill: #6e7681; } .lost { fill: #ff7b72; }
    .line0 { stroke: #2dd4a7; } .line1 { stroke: #f0a6d0; } .line2 { stroke: #e3c565; } .line3 { stroke: #b392f0; }
  }
</style>
)";

struct Bar {
  const BenchRow* row;
  std::string kind;  // CSS class
  int order;         // unsupported and failed ones first
  double ratio;      // 1: nothing was measured
  std::string text;
};

Bar bar_of(const BenchRow& row, const BenchVariant& v) {
  const auto with = [&](const char* kind, int order, double ratio, const std::string& what) {
    return Bar{&row, kind, order, ratio, fmt::format("{} {}: {}", row.id, row.name, what)};
  };
  if (v.failed) return with("lost", 0, 1, "failed");
  if (!v.ran()) return with("none", 1, 1, "unsupported");
  if (v.outcome != RunOutcome::kFaster) {
    return with("slower", 2, 1,
                v.speedup > 0 ? fmt::format("original kept (candidate {:.3g}x)", v.speedup) : "original kept");
  }
  return with("faster", 3, delivered(v), fmt::format("{:.3g}x", v.speedup));
}

std::vector<Bar> bars_of(const Bench& bench, const VariantName& variant) {
  std::vector<Bar> out;
  for (const BenchRow& row : bench.rows) {
    if (const BenchVariant* v = find_variant(row, variant); v && !v->predicted) out.push_back(bar_of(row, *v));
  }
  std::stable_sort(out.begin(), out.end(), [](const Bar& a, const Bar& b) {
    return std::tuple(a.order, a.ratio) < std::tuple(b.order, b.ratio);
  });
  return out;
}

// Speedups over eager, sorted, of whatever has one.
struct Curve {
  std::string name;
  std::vector<double> ratios;
};

std::vector<Curve> curves_of(const Bench& bench, const std::vector<VariantName>& variants) {
  std::vector<Curve> out;
  for (size_t i = 1; i < variants.size(); ++i) {
    Curve curve{"ours, " + variants[i].text(), {}};
    for (const BenchRow& row : bench.rows) {
      if (const BenchVariant* v = find_variant(row, variants[i]); v && v->ran() && !v->predicted)
        curve.ratios.push_back(delivered(*v));
    }
    out.push_back(std::move(curve));
  }
  const std::vector<std::string> opponents = opponents_of(bench);
  for (size_t i = 1; i < opponents.size(); ++i) {
    Curve curve{opponents[i], {}};
    for (const BenchRow& row : bench.rows) {
      const BenchSide *eager = find_opponent(row, opponents[0]), *other = find_opponent(row, opponents[i]);
      if (eager && other && eager->time && other->time)
        curve.ratios.push_back(eager->time->median / other->time->median);
    }
    out.push_back(std::move(curve));
  }
  std::erase_if(out, [](const Curve& c) { return c.ratios.empty(); });
  for (Curve& curve : out) std::sort(curve.ratios.begin(), curve.ratios.end());
  return out;
}

class Chart {
 public:
  Chart(std::string title, std::vector<Bar> bars, std::vector<Curve> curves)
      : title_(std::move(title)), bars_(std::move(bars)), curves_(std::move(curves)) {
    for (const Bar& bar : bars_) include(bar.ratio);
    for (const Curve& curve : curves_) include(curve.ratios.front()), include(curve.ratios.back());
    low_ = std::exp2(std::floor(std::log2(low_)));
    high_ = std::exp2(std::ceil(std::log2(high_)));
    width_ = std::max(kLeft + kPitch * static_cast<double>(bars_.size()) + 16, kLeast);
  }

  std::string draw() const {
    const double height = kTop + kHeight + below();
    std::string out =
        fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" )"
                    R"(height="{1:.0f}" role="img">)",
                    width_, height);
    out += fmt::format("\n<title>{}</title>\n{}", html_escaped(title_), kStyle);
    out += fmt::format(R"(<rect class="paper" width="{:.0f}" height="{:.0f}"/>)", width_, height);
    out += fmt::format("\n<text class=\"title\" x=\"12\" y=\"20\">{}</text>\n", html_escaped(title_));
    return out + legend() + grid() + drawn_bars() + drawn_curves() + "</svg>\n";
  }

 private:
  void include(double ratio) {
    low_ = std::min(low_, ratio);
    high_ = std::max(high_, ratio);
  }
  double y(double ratio) const {
    return kTop + kHeight * (std::log2(high_) - std::log2(ratio)) / (std::log2(high_) - std::log2(low_));
  }
  // Room for the names.
  double below() const {
    size_t longest = 0;
    for (const Bar& bar : bars_) longest = std::max(longest, bar.row->id.size());
    return 36 + 5 * static_cast<double>(longest);
  }
  double right() const { return width_ - 16; }

  std::string legend() const {
    std::string out;
    double x = 12, line = 40;
    const auto entry = [&](const std::string& mark, const std::string& text) {
      out += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">{}<text x=\"18\" y=\"4\">{}</text></g>\n", x, line,
                         mark, html_escaped(text));
      x += 34 + 6.2 * static_cast<double>(text.size());
    };
    for (const auto& [kind, text] :
         {std::pair("faster", "faster"), {"slower", "original kept"}, {"none", "unsupported"}, {"lost", "failed"}}) {
      const bool there =
          std::any_of(bars_.begin(), bars_.end(), [k = std::string(kind)](const Bar& b) { return b.kind == k; });
      if (there) entry(fmt::format("<rect class=\"{}\" y=\"-5\" width=\"12\" height=\"10\"/>", kind), text);
    }
    x = 12, line = 58;
    for (size_t i = 0; i < curves_.size(); ++i)
      entry(fmt::format("<path class=\"line line{}\" d=\"M0 0H14\"/>", i % 4), curves_[i].name);
    if (!curves_.empty())
      out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">(each line is sorted by itself)</text>\n", x, line + 4);
    return out;
  }

  // Powers of two.
  std::string grid() const {
    std::string out;
    for (double ratio = low_; ratio <= high_ * 1.001; ratio *= 2) {
      out += fmt::format(
          "<path class=\"{}\" d=\"M{:.0f} {:.1f}H{:.0f}\"/><text x=\"{:.0f}\" y=\"{:.1f}\" "
          "text-anchor=\"end\">{:.4g}x</text>\n",
          ratio == 1 ? "one" : "grid", kLeft, y(ratio), right(), kLeft - 6, y(ratio) + 4, ratio);
    }
    return out;
  }

  std::string drawn_bars() const {
    constexpr double kFlat = 3;  // a bar without height stays visible
    std::string out;
    for (size_t i = 0; i < bars_.size(); ++i) {
      const Bar& bar = bars_[i];
      const double x = kLeft + kPitch * static_cast<double>(i) + 2, top = std::min(y(bar.ratio), y(1) - kFlat);
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\"><title>{}</title></rect>",
          bar.kind, x, top, kBar, y(1) - top, html_escaped(bar.text));
      out += fmt::format(
          "<text class=\"small\" text-anchor=\"end\" transform=\"translate({:.1f} {:.0f}) rotate(-90)\">{}</text>\n",
          x + kBar - 1, kTop + kHeight + 8, html_escaped(bar.row->id));
    }
    return out;
  }

  // The best on the right, like the bars: what has no figure is missing on the left.
  std::string drawn_curves() const {
    std::string out;
    for (size_t i = 0; i < curves_.size(); ++i) {
      const std::vector<double>& ratios = curves_[i].ratios;
      const double first =
          kLeft + 2 + kBar / 2 + kPitch * (static_cast<double>(bars_.size()) - static_cast<double>(ratios.size()));
      std::string path;
      for (size_t k = 0; k < ratios.size(); ++k) {
        path += fmt::format("{}{:.0f} {:.1f}", k ? "L" : "M", first + kPitch * static_cast<double>(k), y(ratios[k]));
      }
      if (ratios.size() == 1) path += "h4";
      out += fmt::format("<path class=\"line line{}\" d=\"{}\"><title>{}</title></path>\n", i % 4, path,
                         html_escaped(curves_[i].name));
    }
    return out;
  }

  std::string title_;
  std::vector<Bar> bars_;
  std::vector<Curve> curves_;
  double low_ = 1, high_ = 2, width_ = 0;
};

}  // namespace

std::string render_chart(const Bench& bench) {
  const std::vector<VariantName> variants = variants_of(bench);
  std::vector<Bar> bars = variants.empty() ? std::vector<Bar>() : bars_of(bench, variants[0]);
  if (bars.empty()) return "";
  const auto device = bench.rows.front().made_with.find("device");
  std::string title = fmt::format("Speedup over PyTorch eager, --numerics {}", variants[0].text());
  if (device != bench.rows.front().made_with.end()) title += ", " + device->second;
  return Chart(std::move(title), std::move(bars), curves_of(bench, variants)).draw();
}

}  // namespace solstice::flow
