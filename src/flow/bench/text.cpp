#include "flow/bench/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/time_text.h"
#include "flow/bench/figures.h"
#include "flow/bench/turns.h"
#include "flow/run/report/report_text.h"

namespace solstice::flow {
namespace {

using Cells = std::vector<std::vector<std::string>>;

std::string place_text(const std::map<std::string, std::string>& made) {
  std::string out;
  for (const char* name : {"solstice", "build", "device", "driver", "torch"}) {
    const auto found = made.find(name);
    if (found != made.end()) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, found->second);
  }
  return out.empty() ? "not recorded" : out;
}

// Rows that failed early know less; they are counted where they fit.
std::string places_text(const Bench& bench) {
  std::map<std::string, int> places;
  std::map<std::string, int> builds;
  for (const BenchRow& row : bench.rows) {
    if (row.failed()) continue;
    ++places[place_text(row.made_with)];
    if (const auto build = row.made_with.find("build"); build != row.made_with.end()) ++builds[build->second];
  }
  std::string out =
      builds.size() > 1 ? fmt::format("\n**Rows come from {} builds of Solstice.**\n\n", builds.size()) : "\n";
  for (const auto& [place, count] : places) out += fmt::format("- {} rows: {}\n", count, place);
  return out;
}

std::string time_or_dash(Seconds time) { return time.value > 0 ? time_text(time) : "-"; }
std::string factor(double value) { return value > 0 ? fmt::format("{:.2f}x", value) : "-"; }
std::string mean_text(const Ratios& ratios) { return fmt::format("{} ({})", factor(ratios.mean), ratios.count); }
std::string share(double value) { return fmt::format("{:.0f} %", 100 * value); }

// "all", "all, without flawed", "level 1", ...
struct Line {
  std::string title;
  int level;
  bool flawed;
};

std::vector<Line> lines_of(const Bench& bench) {
  std::vector<Line> out;
  const bool both = flaws_measured(bench);
  const auto add = [&](const std::string& title, int level) {
    out.push_back({title, level, true});
    if (both) out.push_back({title + ", without flawed", level, false});
  };
  add("all", 0);
  if (levels_of(bench).size() > 1) {
    for (const int level : levels_of(bench)) add(fmt::format("level {}", level), level);
  }
  return out;
}

std::string summary_of(const Bench& bench, const VariantName& variant) {
  Cells rows = {{"", "problems", "faster", "original kept", "unsupported", "failed", "supported", "complete", "lowest",
                 "slower", "faster only", "fast_1", "fast_2", "SOL score", "trial"}};
  constexpr size_t kPredicted = 4;  // column of a bench that has such
  const bool predicted = figures_of(bench, {variant, 0, true, ""}).outcomes.predicted > 0;
  if (predicted) rows[0].insert(rows[0].begin() + kPredicted, "predicted");
  for (const Line& line : lines_of(bench)) {
    const Figures f = figures_of(bench, {variant, line.level, line.flawed, ""});
    const OutcomeCounts& n = f.outcomes;
    rows.push_back({line.title, std::to_string(n.problems), std::to_string(n.faster), std::to_string(n.not_faster),
                    std::to_string(n.unsupported), std::to_string(n.failed), mean_text(f.supported),
                    mean_text(f.complete), factor(f.complete.least),
                    f.slower.count ? fmt::format("{} ({})", f.slower.count, factor(f.slower.least)) : "0",
                    factor(f.faster.mean), share(f.fast_1), share(f.fast_2),
                    f.sol.count ? fmt::format("{:.2f} ({})", f.sol.mean, f.sol.count) : "-", time_or_dash(f.trial)});
    if (predicted) rows.back().insert(rows.back().begin() + kPredicted, std::to_string(n.predicted));
  }
  return fmt::format("\n## {}\n\n", variant.text()) + markdown_table(rows);
}

std::string opponents_section(const Bench& bench, const std::vector<VariantName>& variants) {
  const std::vector<std::string> opponents = opponents_of(bench);
  if (opponents.empty()) return "";
  Cells rows = {{"against", "ours", "compared", "supported", "without flawed", "faster only", "fast_1", "fast_2"}};
  for (const std::string& opponent : opponents) {
    for (const VariantName& variant : variants) {
      const Figures f = figures_of(bench, {variant, 0, true, opponent});
      const Figures sound = figures_of(bench, {variant, 0, false, opponent});
      rows.push_back({opponent, variant.text(), std::to_string(f.supported.count), factor(f.supported.mean),
                      mean_text(sound.supported), factor(f.faster.mean), share(f.fast_1), share(f.fast_2)});
    }
  }
  return "\n## Against each opponent, side by side\n\n" + markdown_table(rows);
}

constexpr const char* kMeanings =
    "\nMeans are geometric, with the number of problems. *supported*: what is delivered over the original, 1x where "
    "the original stays; "
    "*complete*: headlines of verified candidates without a stage of PyTorch's that are at least 0.97x, and the "
    "*lowest* of them; *slower*: how "
    "many are below that, and the lowest, where the original is kept; fast_1 and fast_2: shares of all problems that "
    "are correct and more than 1x and 2x as fast; SOL score: 0.5 is the original, 1 the larger of "
    "the io and work bounds; trial: median over the problems of what one candidate takes (check, compile, equivalence, "
    "verification with all "
    "seeds and values, timing).\n";

// Reasons and notes below a table.
class Footnotes {
 public:
  // The mark of a note; the same text has one number.
  std::string mark(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    const auto number = found - texts_.begin() + 1;
    if (found == texts_.end()) texts_.push_back(text);
    return fmt::format("[{}]", number);
  }
  std::string text() const {
    std::string out = texts_.empty() ? "" : "\n";
    for (size_t i = 0; i < texts_.size(); ++i) out += fmt::format("{}. {}\n", i + 1, texts_[i]);
    return out;
  }

 private:
  std::vector<std::string> texts_;
};

std::string outcome_text(const BenchVariant& v) {
  if (v.outcome == RunOutcome::kNone) return "failed";
  if (v.outcome == RunOutcome::kNotFaster) return "original kept, 1x";
  if (v.outcome == RunOutcome::kPredicted) return "predicted, not measured";
  return enum_name(v.outcome);
}

// "faster 4.03x [3.89, 4.08]", "original kept, 1x (candidate 0.66x [0.58, 0.69])"
std::string variant_text(const BenchVariant* v, Footnotes& notes) {
  if (!v) return "-";
  std::string out = outcome_text(*v), found;
  if (v->speedup > 0) found += fmt::format(" {:.3g}x", v->speedup);
  if (v->speedup_low > 0) found += fmt::format(" [{:.3g}, {:.3g}]", v->speedup_low, v->speedup_high);
  if (v->outcome == RunOutcome::kFaster) {
    out += found;
  } else if (!found.empty()) {
    out += " (candidate" + found + ")";
  }
  if (v->ran() && !v->kernels.empty() && !v->complete()) out += ", mixed";
  if (v->parts)
    out += fmt::format(", {} of {} parts ours, {:.0f} % of the time", v->parts->ours, v->parts->all,
                       100 * v->parts->share);
  if (!v->rewritten.empty())
    out += " " + notes.mark("its equations were also searched as rewritten by " + v->rewritten);
  if (!v->check.empty()) out += " " + notes.mark(v->check + "; not counted in fast_1 and fast_2");
  return v->reason.empty() ? out : out + " " + notes.mark(v->reason);
}

// Time and error: "2.69 ms, 4.1e-07"
std::string side_text(const BenchSide* side, Footnotes& notes) {
  if (!side) return "-";
  if (!side->time) return side->note.empty() ? "-" : notes.mark(side->name + ": " + side->note);
  return time_text(side->time->median) + (side->error ? fmt::format(", {:.1e}", *side->error) : "");
}

std::string peak_text(const BenchRow& row, const BenchVariant& v) {
  const std::optional<Bytes> original = row.opponents.empty() ? std::nullopt : row.opponents.front().peak,
                             ours = v.beside.peak;
  const auto text = [](const std::optional<Bytes>& bytes) { return bytes ? bytes_text(*bytes) : std::string("-"); };
  return original || ours ? text(original) + " / " + text(ours) : "-";
}

std::string flaws_text(const BenchFlaws& flaws, Footnotes& notes) {
  if (!flaws.measured) return flaws.note.empty() ? "?" : "? " + notes.mark("flaws were not measured: " + flaws.note);
  std::vector<std::string> found;
  if (flaws.constant_output) found.push_back("constant " + notes.mark("passes KernelBench's check: " + flaws.constant));
  if (!flaws.unseen.empty())
    found.push_back("unseen " +
                    notes.mark(fmt::format("removal passes KernelBench's check: {}", fmt::join(flaws.unseen, ", "))));
  if (flaws.original_off) found.push_back(fmt::format("original off {:.2g}", flaws.off.value_or(0)));
  return fmt::format("{}", fmt::join(found, ", "));
}

std::vector<std::string> header_of(const std::vector<VariantName>& variants,
                                   const std::vector<std::string>& opponents) {
  std::vector<std::string> out = {"id", "problem", "flaws"};
  for (const VariantName& v : variants) out.push_back(v.text());
  out.insert(out.end(), opponents.begin(), opponents.end());
  for (const VariantName& v : variants) {
    for (const char* what : {"drop-in, ", "SOL, ", "verified, "}) out.push_back(what + v.text());
  }
  for (const char* name : {"io", "practical", "peak, original / ours"}) out.push_back(name);
  return out;
}

std::vector<std::string> cells_of(const BenchRow& row, const std::vector<VariantName>& variants,
                                  const std::vector<std::string>& opponents, Footnotes& notes) {
  std::vector<std::string> out = {row.id, row.name, flaws_text(row.flaws, notes)};
  if (!row.opponents_note.empty()) out[2] += " " + notes.mark(row.opponents_note);
  for (const VariantName& v : variants) out.push_back(variant_text(find_variant(row, v), notes));
  for (const std::string& name : opponents) out.push_back(side_text(find_opponent(row, name), notes));
  for (const VariantName& name : variants) {
    const BenchVariant* const v = find_variant(row, name);
    const std::optional<double> score = v ? sol_score(*v) : std::nullopt;
    out.push_back(v ? side_text(&v->beside, notes) : "-");
    out.push_back(score ? fmt::format("{:.2f}", *score) : "-");
    out.push_back(v && v->worst > 0 ? fmt::format("{:.1e} (PyTorch {:.1e})", v->worst, v->worst_eager) : "-");
  }
  const BenchVariant none, &first = row.variants.empty() ? none : row.variants.front();
  out.insert(out.end(), {time_or_dash(first.io), time_or_dash(first.practical), peak_text(row, first)});
  return out;
}

std::string level_section(const Bench& bench, const std::vector<VariantName>& variants, int level) {
  Footnotes notes;
  const std::vector<std::string> opponents = opponents_of(bench);
  Cells rows = {header_of(variants, opponents)};
  for (const BenchRow& row : bench.rows) {
    if (level_of(row) == level) rows.push_back(cells_of(row, variants, opponents, notes));
  }
  return fmt::format("\n## {}\n\n", level ? fmt::format("Level {}", level) : "Problems") + markdown_table(rows) +
         notes.text();
}

}  // namespace

std::string render_bench(const Bench& bench) {
  const std::vector<VariantName> variants = variants_of(bench);
  std::string out = fmt::format("# Bench\n\nsolstice {}, started {}\n", bench.version, bench.started);
  out += places_text(bench);
  out += "\nOptions:";
  for (const auto& [name, value] : bench.options) out += fmt::format(" {}={}", name, value.empty() ? "auto" : value);
  out += "\n";
  for (const VariantName& variant : variants) out += summary_of(bench, variant);
  out += kMeanings;
  out += turns_section(bench);
  out += opponents_section(bench, variants);
  for (const int level : levels_of(bench)) out += level_section(bench, variants, level);
  return out;
}

}  // namespace solstice::flow
