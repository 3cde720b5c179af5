// solstice same: does one program compute what another does?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/named_module.h"
#include "cli/subject.h"
#include "cli/values.h"
#include "ir/equivalence.h"

namespace solstice::cli {
namespace {

constexpr int kMostSeconds = 3600;

Json dims_json(const std::vector<std::pair<std::string, int64_t>>& dims) {
  Json out = Json::object();
  for (const auto& [name, size] : dims) out.set(name, size);
  return out;
}

template <class T>
Json list_json(const std::vector<T>& list) {
  return Json(Json::Array(list.begin(), list.end()));
}

Json example_json(const ir::Counterexample& e) {
  return Json::object()
      .set("tensor", e.tensor)
      .set("index", list_json(e.index))
      .set("problem", e.problem)
      .set("candidate", e.candidate)
      .set("inputs", e.family)
      .set("dims", dims_json(e.dims));
}

Json meaning_json(const ir::Equivalence& meaning) {
  Json examples = Json::array();
  for (const ir::Counterexample& e : meaning.counterexamples) examples.push(example_json(e));
  return Json::object()
      .set("verdict", std::string(name_of(meaning.verdict)))
      .set("reason", meaning.reason)
      .set("counterexamples", std::move(examples))
      .set("dims", dims_json(meaning.dims))
      .set("families", meaning.families)
      .set("points", meaning.points)
      .set("unasked", meaning.unasked)
      .set("uncovered", list_json(meaning.uncovered));
}

void print_meaning(const ir::Equivalence& meaning) {
  fmt::print("{}: {}\n", name_of(meaning.verdict), meaning.reason);
  for (const ir::Counterexample& e : meaning.counterexamples) {
    std::vector<std::string> dims;
    for (const auto& [name, size] : e.dims) dims.push_back(fmt::format("{}={}", name, size));
    fmt::print("  {}[{}]: {:.9g} in the problem, {:.9g} in the candidate; inputs: {}{}{}\n", e.tensor,
               fmt::join(e.index, ","), e.problem, e.candidate, e.family, dims.empty() ? "" : "; at ",
               fmt::join(dims, ", "));
  }
  for (const std::string& branch : meaning.uncovered) fmt::print("  tests take only one side of: {}\n", branch);
}

Result<int> run_same(const Invocation& in) {
  SOLSTICE_TRY(const int seconds, parse_int("--seconds", in.get("--seconds"), 1, kMostSeconds));
  SOLSTICE_TRY(const ir::BoundText problem, load_subject(in.get("PROBLEM"), in));
  SOLSTICE_TRY(const ir::BoundText candidate, load_subject(in.get("CANDIDATE"), in));
  ir::EquivalenceOptions options;
  options.budget = Seconds{static_cast<double>(seconds)};
  const ir::Equivalence meaning = ir::same_meaning(problem.tree, candidate.tree, options);
  if (in.json()) {
    fmt::print("{}\n", meaning_json(meaning).dump(2));
  } else {
    print_meaning(meaning);
  }
  const bool passes = meaning.verdict == ir::Verdict::kProved || meaning.verdict == ir::Verdict::kTested;
  return passes ? 0 : exit_code(ErrorKind::kInput);
}

}  // namespace

extern const Command solstice_commands_same;
const Command solstice_commands_same = {
    .name = "same",
    .summary = "Decide if two programs are equivalent: proved, tested, refuted or unknown",
    .help =
        "Prints the verdict that a search gives a candidate before it compiles anything (docs/equivalence.md) "
        "and, if the programs differ, where. Both have to have the same inputs and outputs. Exit "
        "code: 0 proved or tested; 2 refuted or unknown.",
    .example = "solstice same examples/linear_gelu.py program.ucut",
    .parameters = {{"PROBLEM", "", kSubjectHelp, "", {}, true, false},
                   {"CANDIDATE", "", "another, with the same inputs and outputs", "", {}, true, false},
                   {"--seconds", "N", "time limit in seconds", "10", {}, false, false},
                   eval_flag(),
                   train_flag(),
                   json_flag()},
    .run = run_same,
};

}  // namespace solstice::cli
