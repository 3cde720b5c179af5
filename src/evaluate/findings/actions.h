// Actions of findings as programs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "evaluate/candidate.h"
#include "record/diagnosis/finding.h"

namespace solstice::evaluate {

// The program with the action taken. Errors: not_found (no such kernel), bad_argument (it is no move, or its knobs do
// not parse). Whether the result is legal is for check() to say.
Result<std::string> with_action(const std::string& program, const FindingAction& action);

// Moves of one program, which is read once.
class Moves {
 public:
  Moves(const std::string& program, const Setting& setting);

  // The program with the action taken passes every rule that needs no compiler, and some kernel runs otherwise: a knob
  // that is written as its family chooses it anyway is no move. Of a cut or a rewrite that its kernels, or the rewrite,
  // are there: whether some family can run what comes out is for its proposer to find.
  bool is_legal(const FindingAction& action);

 private:
  bool names_what_is_there(const FindingAction& action);
  bool is_legal_setting(const FindingAction& action);
  bool passes_whole(const FindingAction& action) const;

  std::string text_;
  const Setting& setting_;
  lang::Program tree_;
  std::optional<ir::Program> program_;  // nothing of a program with errors
  std::map<std::string, bool> known_;   // settings, by kernel and knobs
};

}  // namespace solstice::evaluate
