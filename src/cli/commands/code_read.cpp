// solstice code read: prints lines of a file that `code search` finds.
#include <fmt/format.h>

#include "cli/code_index.h"
#include "cli/command.h"
#include "cli/harmless.h"
#include "cli/values.h"

namespace solstice::cli {
namespace {

constexpr int kMostLines = 5000;

Result<int> run_code_read(const Invocation& in) {
  SOLSTICE_TRY(const codesearch::Place place, codesearch::parse_place(in.get("PATH")));
  codesearch::ReadLimits limits;
  SOLSTICE_TRY(const int lines, parse_int("--limit", in.get("--limit"), 1, kMostLines));
  limits.lines = static_cast<size_t>(lines);
  SOLSTICE_TRY(codesearch::CodeIndex index, code_index());
  SOLSTICE_TRY(const codesearch::Passage passage, index.read(place, limits));
  if (in.json()) {
    fmt::print("{}\n", solstice::to_json(passage).dump(2));
    return 0;
  }
  fmt::print("{}:{}-{} of {}\n", harmless(passage.path), passage.first, passage.last, passage.of);
  if (!passage.about.empty()) fmt::print("    {}\n", harmless(passage.about));
  print_lines(passage.lines);
  if (passage.cut)
    fmt::print("cut here; `solstice code read {}:{}-..` goes on\n", harmless(passage.path), passage.last + 1);
  return 0;
}

}  // namespace

extern const Command solstice_commands_code_read;
const Command solstice_commands_code_read = {
    .name = "code read",
    .summary = "Print lines of a file that `code search` finds",
    .help =
        "PATH:FROM-TO as `code search` prints it; PATH:LINE for a line and what is around it, PATH for a file from "
        "its beginning. Only files of the index can be read.",
    .example = "solstice code read cutlass/include/cute/arch/copy_sm90_tma.hpp:40-80",
    .parameters = {{"PATH", "", "path and lines", "", {}, true, false},
                   {"--limit", "N", "print at most N lines", "400", {}, false, false},
                   json_flag()},
    .run = run_code_read,
};

}  // namespace solstice::cli
