// From a candidate's text to something that can be compiled: parse, bind, check the schedule, lower. Everything a
// text can be wrong in is found here, before any compiler or device is asked.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "base/stop.h"
#include "evaluate/lower.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::evaluate {

class Meaning;

struct Setting {
  const machine::Machine& machine;
  std::string numerics = "reference";  // of the run, which no program loosens (E016); "": what the program says
  bool frozen = false;
  Meaning* meaning = nullptr;      // of the problem that candidates must compute; null where there is none
  std::string file = "candidate";  // the name of the text in diagnostics
  StopTest stop = {};              // from then on no code is generated or compiled: times are predicted without
};

struct Checked {
  lang::Program tree;                  // the part that parsed
  std::optional<ir::Program> program;  // absent where it does not bind
  Diagnostics diagnostics;             // of the text and of its schedule
  bool ok() const { return program && !diagnostics.has_errors(); }
};

// The policy of the setting, else of the program.
std::string policy_of(const Setting& setting, const ir::Program& program);

Checked check(const std::string& text, const Setting& setting);

// A part of the language that no family runs yet is no mistake of the program: notes, N100. `compile` answers not_yet.
void add_not_yet(const ir::Program& program, Diagnostics& diagnostics);

// Error program_invalid with the rendered diagnostics, else what lower() reports.
Result<Lowered> lower_text(const std::string& text, const Setting& setting);

// The cost models' times of each kernel, in the program's order.
struct KernelCost {
  std::string kernel, family;
  Seconds time;
  std::string bound;  // "memory", "tensor", "simt", "latency"
};
Result<std::vector<KernelCost>> costs_of(const ir::Program& program, const Setting& setting);
// Their sum.
Result<Seconds> predict(const ir::Program& program, const Setting& setting);

}  // namespace solstice::evaluate
