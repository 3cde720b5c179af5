#include "cli/view/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/command_options.h"
#include "cli/harmless.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

using flow::ComparedGroup;
using flow::ComparedRun;
using flow::ProgressUnit;
using flow::RunComparison;
using flow::Spread;

constexpr size_t kBeside = 4;  // runs in one table
constexpr size_t kCell = 36;   // characters
constexpr size_t kMarks[] = {1, 2, 5, 10, 20, 40};

using Cells = std::vector<std::vector<std::string>>;
using Runs = std::vector<const ComparedRun*>;

std::string in_cell(const std::string& text) {
  return text.empty() ? "-" : clip(harmless(text.substr(0, text.find('\n'))), kCell);
}
std::string known_time(const std::optional<Seconds>& time) { return time ? show(*time) : "-"; }
std::string known_factor(const std::optional<double>& factor) { return factor ? show_factor(*factor) : "-"; }

std::string progress_text(const std::optional<double>& value, ProgressUnit unit) {
  if (!value) return "-";
  return unit == ProgressUnit::kSpeedup ? show_factor(*value) : show(Seconds(*value));
}

std::string version_cell(const ComparedRun& run, const std::string& what, size_t width) {
  const auto found = run.versions.find(what);
  return found == run.versions.end() ? "-" : found->second.substr(0, width);
}

template <typename Text>
void add_row(Cells& cells, const std::string& name, const Runs& runs, Text text) {
  cells.push_back({name});
  for (const ComparedRun* run : runs) cells.back().push_back(text(*run));
}

using Run = const ComparedRun&;

// A table of unlike cells below each other: every cell is left-aligned.
std::string left_table(const Cells& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

// A row each option that one of them was given.
void add_options(Cells& cells, const Runs& runs) {
  std::set<std::string> names;
  for (const ComparedRun* run : runs) {
    for (const auto& [name, value] : options_of(run->command)) names.insert(name);
  }
  for (const std::string& name : names) {
    add_row(cells, "  " + name, runs, [&](Run run) {
      const auto given = options_of(run.command);
      const auto found = given.find(name);
      return found == given.end() ? "-" : in_cell(found->second);
    });
  }
}

void add_circumstances(Cells& cells, const Runs& runs) {
  add_row(cells, "problem", runs, [](Run run) { return in_cell(run.problem); });
  add_row(cells, "machine", runs, [](Run run) { return in_cell(run.machine); });
  add_row(cells, "device", runs, [](Run run) { return in_cell(run.device); });
  add_row(cells, "solstice", runs,
          [](Run run) { return version_cell(run, "solstice", kCell) + " " + version_cell(run, "build", 8); });
  add_options(cells, runs);
  add_row(cells, "policy", runs, [](Run run) { return in_cell(run.policy); });
  add_row(cells, "agent", runs, [](Run run) { return in_cell(run.agent); });
  add_row(cells, "seed", runs, [](Run run) { return std::to_string(run.seed); });
}

void add_times(Cells& cells, const Runs& runs) {
  add_row(cells, "original", runs, [](Run run) { return known_time(run.original); });
  add_row(cells, "best", runs, [](Run run) { return known_time(run.best) + (run.predicted ? " predicted" : ""); });
  add_row(cells, "speedup", runs, [](Run run) { return known_factor(run.speedup); });
  add_row(cells, "of forward", runs, [](Run run) { return known_factor(run.headline); });
}

// States in which no trial of any run ended have no row.
void add_trials(Cells& cells, const Runs& runs) {
  const auto add_state = [&](const char* state, const std::string& title) {
    if (std::none_of(runs.begin(), runs.end(), [&](const ComparedRun* run) { return run->states.contains(state); }))
      return;
    add_row(cells, title, runs, [&](Run run) {
      const auto found = run.states.find(state);
      return std::to_string(found == run.states.end() ? 0 : found->second);
    });
  };
  add_row(cells, "trials", runs, [](Run run) { return std::to_string(run.trials); });
  for (const char* state : {"verified", "predicted", "wrong", "crashed", "hung", "not compiled", "illegal"})
    add_state(state, std::string("  ") + state);
  add_state("without a result", "without a result");
  add_row(cells, "not tried", runs, [](Run run) { return std::to_string(run.skipped); });
}

void add_progress(Cells& cells, const Runs& runs, const RunComparison& of) {
  size_t longest = 0;
  for (const ComparedRun* run : runs) longest = std::max(longest, run->curve.size());
  for (const size_t mark : kMarks) {
    if (mark >= longest) break;
    add_row(cells, fmt::format("best after {}", mark), runs,
            [&](Run run) { return progress_text(progress_at(run, mark, of.unit), of.unit); });
  }
  if (!of.goal) return;
  const std::string goal = fmt::format("to {}", progress_text(of.goal, of.unit));
  add_row(cells, goal + ": trials", runs,
          [](Run run) { return run.reached ? fmt::format("{:.0f}", run.reached->trials) : "-"; });
  add_row(cells, goal + ": spent", runs, [](Run run) { return run.reached ? show(run.reached->spent) : "-"; });
}

std::string side_by_side(const Runs& runs, const RunComparison& of) {
  Cells cells;
  add_row(cells, "run", runs, [](Run run) { return run.id; });
  add_circumstances(cells, runs);
  add_times(cells, runs);
  add_trials(cells, runs);
  add_row(cells, "spent on trials", runs, [](Run run) { return show(run.spent); });
  add_row(cells, "took", runs, [](Run run) { return known_time(run.took); });
  add_row(cells, "tokens", runs, [](Run run) { return std::to_string(run.tokens); });
  add_row(cells, "ended", runs, [](Run run) { return in_cell(run.ended); });
  add_row(cells, "because", runs, [](Run run) { return in_cell(run.reason); });
  add_progress(cells, runs, of);
  return left_table(cells);
}

template <typename Text>
std::string spread_text(const Spread& spread, size_t of, Text text) {
  if (spread.runs == 0) return "-";
  std::string out = text(spread.median);
  if (spread.low < spread.high) out += fmt::format(" ({} .. {})", text(spread.low), text(spread.high));
  if (static_cast<size_t>(spread.runs) < of) out += fmt::format(", {} of {}", spread.runs, of);
  return out;
}

std::string count_text(double count) { return fmt::format("{:.6g}", count); }
std::string seconds_text(double seconds) { return show(Seconds(seconds)); }

// The language model stands beside the policy that it works under.
std::string who_searched(const std::string& policy, const std::string& agent) {
  return agent.empty() ? in_cell(policy) : harmless(policy + ", " + agent);
}

std::string groups_text(const RunComparison& of) {
  Cells cells = {{"policy", "device", "runs", "best", "speedup", "trials", "spent", "tokens"}};
  if (of.goal) {
    const std::string goal = fmt::format("to {}", progress_text(of.goal, of.unit));
    cells[0].insert(cells[0].end(), {goal + ": trials", goal + ": spent"});
  }
  for (const ComparedGroup& g : of.groups) {
    const size_t n = g.runs.size();
    cells.push_back({who_searched(g.policy, g.agent), in_cell(g.device), std::to_string(n),
                     spread_text(g.best, n, seconds_text), spread_text(g.speedup, n, show_factor),
                     spread_text(g.trials, n, count_text), spread_text(g.spent, n, seconds_text),
                     spread_text(g.tokens, n, count_text)});
    if (!of.goal) continue;
    cells.back().push_back(spread_text(g.goal_trials, n, count_text));
    cells.back().push_back(spread_text(g.goal_seconds, n, seconds_text));
  }
  return table(cells);
}

std::string group_curves_text(const RunComparison& of) {
  size_t longest = 0;
  for (const ComparedGroup& group : of.groups) longest = std::max(longest, group.curve.size());
  Cells cells = {{"best after"}};
  for (const ComparedGroup& group : of.groups) cells.push_back({who_searched(group.policy, group.agent)});
  for (const size_t mark : kMarks) {
    if (mark >= longest) break;
    cells[0].push_back(std::to_string(mark));
    for (size_t i = 0; i < of.groups.size(); ++i) {
      const std::vector<Spread>& curve = of.groups[i].curve;
      const auto text = [&](double value) { return progress_text(value, of.unit); };
      cells[i + 1].push_back(
          curve.empty() ? "-" : spread_text(curve[std::min(mark, curve.size() - 1)], of.groups[i].runs.size(), text));
    }
  }
  return table(cells);
}

std::string runs_text(const std::vector<ComparedRun>& runs) {
  Cells cells = {{"run", "policy", "seed", "device", "best", "speedup", "trials", "spent", "ended"}};
  for (Run run : runs) {
    cells.push_back({run.id, who_searched(run.policy, run.agent), std::to_string(run.seed), in_cell(run.device),
                     known_time(run.best) + (run.predicted ? " predicted" : ""), known_factor(run.speedup),
                     std::to_string(run.trials), show(run.spent), in_cell(run.ended)});
  }
  return table(cells);
}

std::string programs_text(const flow::ComparedPrograms& programs) {
  if (programs.diff.empty())
    return fmt::format("the best programs of {} and {} are the same text\n", programs.before, programs.after);
  return fmt::format("--- best of {}\n+++ best of {}\n{}", programs.before, programs.after,
                     harmless_lines(programs.diff));
}

}  // namespace

std::string comparison_text(const RunComparison& comparison) {
  std::string out;
  for (const std::string& caution : comparison.cautions) out += wrap("caution: " + harmless(caution), 120, 2) + "\n";
  if (!out.empty()) out += "\n";
  if (!comparison.groups.empty()) {
    out += groups_text(comparison) + "\n" + group_curves_text(comparison) + "\n" + runs_text(comparison.runs) + "\n";
  }
  for (size_t i = 0; comparison.groups.empty() && i < comparison.runs.size(); i += kBeside) {
    Runs runs;
    for (size_t j = i; j < std::min(i + kBeside, comparison.runs.size()); ++j) runs.push_back(&comparison.runs[j]);
    out += side_by_side(runs, comparison) + "\n";
  }
  if (comparison.programs) return out + programs_text(*comparison.programs);
  return out + "fewer than two of the runs have a best program\n";
}

}  // namespace solstice::cli
