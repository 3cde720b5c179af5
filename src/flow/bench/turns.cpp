#include "flow/bench/turns.h"

#include <fmt/format.h>

#include <cmath>

#include "base/counted.h"
#include "base/time_text.h"
#include "flow/run/report/report_text.h"

namespace solstice::flow {
namespace {

// Geometric means over the problems of which both are known.
struct Compared {
  int problems = 0;
  double shared = 0, fixed = 0;

  void add(const BenchTurns& turns) {
    if (turns.speedup <= 0 || !turns.fixed) return;
    ++problems;
    shared += std::log(turns.speedup);
    fixed += std::log(*turns.fixed);
  }
  std::string text(int all) const {
    if (problems == 0) return "What the fixed split would have given is not known of any problem.";
    return fmt::format(
        "By the times of the search, {:.2f}x where the fixed split has {:.2f}x, over the {} of {} problems of which "
        "that is known.",
        std::exp(shared / problems), std::exp(fixed / problems), problems, all);
  }
};

std::string value_of(const Bench& bench, const std::string& option) {
  const auto found = bench.options.find(option);
  return found == bench.options.end() ? "" : found->second;
}

constexpr const char* kMeaning =
    " *Fixed split*: what the search's best was after the same share for every problem; a problem that had fewer "
    "trials than that is not known "
    "there, it would have had at least what it has. *Why no more*: `shared` is the schedule's word, all else ended the "
    "search by itself.\n";

}  // namespace

std::string turns_section(const Bench& bench) {
  std::vector<std::vector<std::string>> cells = {
      {"", "trials", "their time", "search's best", "fixed split", "why no more"}};
  Compared compared;
  int trials = 0;
  Seconds spent{0};
  const auto factor = [](double value) { return value > 0 ? fmt::format("{:.2f}x", value) : "-"; };
  for (const BenchRow& row : bench.rows) {
    if (row.variants.empty() || !row.variants[0].turns) continue;
    const BenchTurns& turns = *row.variants[0].turns;
    compared.add(turns);
    trials += turns.trials;
    spent += turns.spent;
    cells.push_back({row.id, std::to_string(turns.trials), time_text(turns.spent), factor(turns.speedup),
                     factor(turns.fixed.value_or(0)), turns.stop});
  }
  if (cells.size() == 1) return "";
  const int problems = static_cast<int>(cells.size()) - 1;
  return fmt::format("\n## One budget for all: {} by {}\n\n", value_of(bench, "total"), value_of(bench, "schedule")) +
         markdown_table(cells) +
         fmt::format("\n{} in {}. {}{}", counted(trials, "trial"), time_text(spent), compared.text(problems), kMeaning);
}

}  // namespace solstice::flow
