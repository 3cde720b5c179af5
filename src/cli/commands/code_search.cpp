// solstice code search: finds code of CUTLASS, CCCL, CUDA and our own kernels by words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/code_index.h"
#include "cli/command.h"
#include "cli/harmless.h"
#include "cli/values.h"

namespace solstice::cli {
namespace {

constexpr int kMostHits = 100;

void print_hit(const codesearch::Hit& hit) {
  fmt::print("{}:{}-{}{}\n", harmless(hit.path), hit.first, hit.last,
             hit.title.empty() ? "" : "  " + harmless(hit.title));
  if (!hit.about.empty()) fmt::print("    {}\n", harmless(hit.about));
  print_lines(hit.lines);
  fmt::print("    holds: {}{}\n", fmt::join(hit.why, ", "),
             hit.lacks.empty() ? "" : fmt::format("; not: {}", fmt::join(hit.lacks, ", ")));
}

Result<int> run_code_search(const Invocation& in) {
  codesearch::SearchLimits limits;
  if (in.has("--limit")) {
    SOLSTICE_TRY(const int hits, parse_int("--limit", in.get("--limit"), 1, kMostHits));
    limits.hits = static_cast<size_t>(hits);
  }
  SOLSTICE_TRY(codesearch::CodeIndex index, code_index());
  SOLSTICE_TRY(const codesearch::Answer answer,
               index.search(fmt::format("{}", fmt::join(in.all("QUERY"), " ")), limits));
  if (in.json()) {
    fmt::print("{}\n", solstice::to_json(answer).dump(2));
    return 0;
  }
  for (const codesearch::Hit& hit : answer.hits) print_hit(hit);
  if (!answer.unknown.empty())
    fmt::print("\nno code has anything like: {}\n", harmless(fmt::format("{}", fmt::join(answer.unknown, ", "))));
  if (!answer.hits.empty())
    fmt::print("\n`solstice code read {}:{}-{}` prints the first\n", harmless(answer.hits[0].path),
               answer.hits[0].first, answer.hits[0].last);
  return 0;
}

}  // namespace

extern const Command solstice_commands_code_search;
const Command solstice_commands_code_search = {
    .name = "code search",
    .summary = "Find code of CUTLASS, CCCL, CUDA's headers, kernels/ and examples/ by words",
    .help =
        "Prints the best places, a file once: path, lines, what is declared there, the lines that tell most, and which "
        "words of the question they hold. Words of the field that mean the same are one (wgmma and GMMA, stmatrix and "
        "STSM); quotes and operators have no meaning. Code for other architectures ranks behind unless it is named.\n"
        "The first search builds an index in the cache folder (SOLSTICE_CACHE), which takes seconds; later ones index "
        "again what has changed (docs/code-search.md).",
    .example = "solstice code search \"stmatrix epilogue\"",
    .parameters = {{"QUERY", "", "what the code is called or does, in a few words", "", {}, true, true},
                   {"--limit", "N", "print at most N files", "8", {}, false, false},
                   json_flag()},
    .run = run_code_search,
};

}  // namespace solstice::cli
