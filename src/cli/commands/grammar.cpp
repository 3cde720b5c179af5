// solstice grammar: the language on one page, for people and for prompts.
#include <fmt/format.h>

#include "cli/command.h"
#include "lang/grammar_page.h"

namespace solstice::cli {
namespace {

Result<int> run_grammar(const Invocation&) {
  fmt::print("{}", lang::grammar_page());
  return 0;
}

}  // namespace

extern const Command solstice_commands_grammar;
const Command solstice_commands_grammar = {
    .name = "grammar",
    .summary = "Print the language of programs on one page (docs/grammar.md)",
    .help = "The page has all that a person or a language model needs to write programs, in at most 2,500 tokens.",
    .example = "solstice grammar",
    .parameters = {},
    .run = run_grammar,
};

}  // namespace solstice::cli
