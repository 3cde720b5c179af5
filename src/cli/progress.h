// Progress of a long job as text: one live line on a terminal, plain lines elsewhere (logs, pipes, CI).
#pragma once

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "record/progress.h"

namespace solstice::cli {

// One line: "17/40 trials, best 412 us (3.94x), 1.28x of SOL, 31 s left". Unknown parts are left out.
std::string standing_text(const Standing& standing);

std::unique_ptr<Progress> plain_progress(std::FILE* out);
std::unique_ptr<Progress> terminal_progress(std::FILE* out, int width);

// The terminal's where `out` is one (and TERM is not "dumb"), else the plain one.
std::unique_ptr<Progress> progress_for(std::FILE* out);

// --quiet, of commands that show progress.
Parameter quiet_flag();
// Progress is no result: it goes to stderr, or with --quiet nowhere.
std::unique_ptr<Progress> progress_of(const Invocation& in);

}  // namespace solstice::cli
