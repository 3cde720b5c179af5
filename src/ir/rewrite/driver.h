// Finds and applies rewrites. What a rewrite changes is printed, parsed and bound as a program of its own, and the
// result as a whole, so that every static rule (ranges, cover, order) is proved for it; a site that the rules refuse is
// no site.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "ir/rewrite/cost.h"
#include "ir/rewrite/rewrite.h"
#include "lang/tree.h"

namespace solstice::ir {

// A program as text and as meaning, always in step.
struct BoundText {
  lang::Program tree;
  Program program;
};
// Error program_invalid: all diagnostics.
Result<BoundText> bound_text(const std::string& text, const std::string& file);

// The program with calls of definitions written out, as everything below takes it. Error not_yet: the program has
// kernels, which name what they compute and whose knobs fit that: problems are rewritten, not schedules.
Result<BoundText> rewritable(BoundText subject);

struct Site {
  const Rewrite* rewrite = nullptr;
  int equation = -1;        // of the program
  std::string where;        // the equation as text
  std::string comment;      // of its line: module path and source line, as the importer writes them
  std::string description;  // of the change
  Cost saved;
  std::string target;  // of the equation, and which of that tensor's equations it is, from 0
  int piece = 0;
};

// Sites at which `rewrite` applies, null: every rewrite. `saved` is that of the equations it changes.
Result<std::vector<Site>> find_sites(const BoundText& subject, const Rewrite* rewrite = nullptr);

// The program after one rewrite at one equation. Error bad_argument: it does not apply there;
// program_invalid: the result breaks a static rule.
Result<BoundText> apply(const BoundText& subject, const Rewrite& rewrite, int equation);

struct RewriteOptions {
  const Rewrite* only = nullptr;   // null: all
  bool whatever_it_costs = false;  // applies also what saves nothing; for tests
  bool keep_nonfinite = false;     // only those that keep NaN and infinities (Rewrite::keeps_nonfinite)
  int most_steps = 100;
  // Equations of the programs that were made for a look, those that saved nothing as well: what the time goes into
  // (some seconds), yet the same on every machine, so that the same problem has the same steps.
  long most_equations = 500'000;
  StopTest stop = {};  // asked for each equation that is looked at
};

struct RewriteResult {
  BoundText result;
  std::vector<Site> steps;  // in the order they were applied; equations number as they did then
  bool finished = true;     // false: a limit was reached
};

// Applies whatever saves time and costs no operation more (a rewrite named by `only` also if it is structural), rewrite
// by rewrite from the top of the program, until nothing does.
Result<RewriteResult> rewrite_all(BoundText subject, const RewriteOptions& options = {});

}  // namespace solstice::ir
