// solstice memory show: what moves gained in earlier searches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.h"
#include "cli/named_store.h"
#include "cli/values.h"
#include "cli/view/table.h"
#include "search/fact_sums.h"
#include "store/store.h"

namespace solstice::cli {
namespace {

std::string percent_of(double log_gain) { return fmt::format("{:+.1f} %", 100 * (std::exp2(log_gain) - 1)); }

void print_sums(const std::vector<search::FactSum>& sums, size_t most) {
  std::vector<std::vector<std::string>> rows = {
      {"kernels", "move", "facts", "structures", "failed", "gain", "beyond models", "spread", "last seen"}};
  for (size_t i = 0; i < std::min(most, sums.size()); ++i) {
    const search::FactSum& s = sums[i];
    const bool worked = s.facts > s.failed;
    rows.push_back({clip(s.kind, 40), clip(s.move, 70), std::to_string(s.facts), std::to_string(s.structures),
                    std::to_string(s.failed), worked ? percent_of(s.gain) : "-", worked ? percent_of(s.beyond) : "-",
                    s.facts - s.failed > 1 ? fmt::format("{:.1f} %", 100 * (std::exp2(s.spread) - 1)) : "-",
                    s.last.substr(0, 10)});
  }
  fmt::print("{}", table(rows));
  if (sums.size() > most) fmt::print("and {} more; --limit shows them\n", sums.size() - most);
}

Result<int> run_memory_show(const Invocation& in) {
  SOLSTICE_TRY(store::Store store, named_store(in));
  SOLSTICE_TRY(const int most, parse_int("--limit", in.get("--limit"), 1, 1000000));
  SOLSTICE_TRY(std::vector<Fact> facts, store.facts(in.get("--machine")));
  const std::string wanted = in.get("--structure");
  std::erase_if(facts, [&](const Fact& fact) {
    return fact.structure.kind.find(wanted) == std::string::npos &&
           fact.structure.form.find(wanted) == std::string::npos;
  });
  if (in.flag("--facts")) {
    Json all = Json::array();
    for (const Fact& fact : facts) all.push(to_json(fact));
    fmt::print("{}\n", all.dump(2));
    return 0;
  }
  const std::vector<search::FactSum> sums = search::sums_of(facts);
  if (in.json()) {
    Json all = Json::array();
    for (const search::FactSum& sum : sums) all.push(to_json(sum));
    fmt::print("{}\n", all.dump(2));
  } else if (sums.empty()) {
    fmt::print("no facts{} in {}\n", wanted.empty() ? "" : " of such kernels", store.folder().string());
  } else {
    print_sums(sums, static_cast<size_t>(most));
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_memory_show;
const Command solstice_commands_memory_show = {
    .name = "memory show",
    .summary = "Print the gains of moves in earlier searches, which order the moves of later ones",
    .help =
        "A fact is the measured gain of one move on one kernel; facts name no problem and are never removed. A "
        "row aggregates the facts of a move on one kind of kernel on one machine: number of facts, number of "
        "different structures, number of failures, the kernel's gain and the part of it that the cost models did "
        "not predict (means over the moves that worked), the standard deviation of the gain, and the date of the "
        "last fact. --facts prints each fact as JSON, with its run and node.",
    .example = "solstice memory show --structure contraction",
    .parameters = {{"--structure", "TEXT", "only kernels whose kind or equations contain TEXT", "", {}, false, false},
                   {"--machine", "NAME", "only facts of this machine", "", {}, false, false},
                   {"--limit", "COUNT", "rows to print, most facts first", "40", {}, false, false},
                   {"--facts", "", "print every fact as JSON", "", {}, false, false},
                   {"--store", "DIR", "run store [default: yours]", "", {}, false, false},
                   json_flag()},
    .run = run_memory_show,
};

}  // namespace solstice::cli
