// Diagnosis: from facts to ranked, bounded findings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "diagnose/open_question.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {

struct Diagnosis {
  Classified program;
  std::vector<std::pair<std::string, Classified>> kernels;  // by name, in the program's order
  std::vector<Finding> findings;                            // the largest bound first
  std::vector<OpenQuestion> open;
  std::vector<std::string> faults;  // tools that broke a rule, with what they said: their findings are left out
};

struct DiagnoseOptions {
  // Legality of a move. Actions that are refused become text; without it no move is offered.
  std::function<bool(const FindingAction&)> legal = {};
  std::vector<std::string> without = {};  // sources to leave out
  std::vector<const Tool*> tools = {};    // all_tools() by default
  // Of a tool: more than these together are a fault.
  size_t most_findings = 200, most_of_step = 2;
};

// Takes what only these sources said out of the facts.
void leave_out(const std::vector<std::string>& sources, Facts& facts);

// Of any facts that validate() accepts (record/diagnosis/facts.h).
Diagnosis diagnose(const Facts& facts, const machine::Machine& machine, const DiagnoseOptions& options = {});

}  // namespace solstice::diagnose
