// A kernel family: what it matches, its knobs, legality, cost model and generator. One folder a family:
// families/NAME/NAME.cpp defines `extern const Family solstice_families_NAME;` and the build's table lists it.
//
// A family never decides what is computed: it reads a kernel's equations (ir::Program, ir::Kernel) and emits CUDA
// source and launch steps that compute them. Everything it needs to know of the machine is in Context.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "base/units.h"
#include "families/rule.h"
#include "ir/program.h"
#include "machine/machine.h"
#include "record/plan.h"
#include "record/source_line.h"

namespace solstice::families {

// One knob as data: it drives checking, `--help`, the documentation and the search space.
struct KnobSpec {
  std::string name;
  std::string type;                 // "size", "int", "name", "bool", "string", "tuple"
  std::vector<std::string> values;  // legal values as text; empty: described by `range`
  std::string range;                // "1..8", "multiples of 64"
  std::string otherwise;            // value when the knob is not written ("auto": the family chooses); "": it must be
  std::string help;
  int64_t least = 0,
          most = 0;  // of an int; of a size: of the number of its extents; most = 0: rules of the family decide
  std::vector<std::string> later = {};  // of `values`: those that no kernel is built for yet
};

// An int with these bounds.
KnobSpec int_knob(std::string name, int64_t least, int64_t most, std::string otherwise, std::string help);

struct Context {
  const ir::Program& program;
  const machine::Machine& machine;
  std::string numerics = "reference";  // reference | high | medium
  bool frozen = false;                 // weights may be packed once, at load
};

struct Match {
  bool ok = false;
  std::string reason;  // why not: names the equation and what the family wants
  bool built = true;   // false: right for the family, which cannot run it yet; cost and generate answer not_yet
};

// A kernel that the family can make something of matches, today or once what is missing is built (error not_yet);
// any other error is a reason why not.
template <class T>
Match match_of(const Result<T>& made) {
  if (made.ok()) return {true, "", true};
  const bool missing = made.error().code == Code::not_yet;
  return {missing, made.error().sentence(), !missing};
}

// Time by the family's model, with what bounds it; `terms` are the model's addends, for reports.
struct Cost {
  Seconds time;
  std::string bound;  // "memory", "tensor", "simt", "latency"
  Bytes traffic;
  Flops work;
  std::vector<std::pair<std::string, Seconds>> terms;
  std::string form;  // which of the family's ways to run a kernel, for reports: "cluster, registers"
};

// A setting worth trying, with the time that the family's model has of a kernel with these knobs.
struct Proposed {
  ir::Knobs knobs;
  Seconds time;
};

// One translation unit for NVRTC. `source` includes headers of kernels/ by their path below it.
struct Source {
  std::string name;  // becomes the plan's module name
  std::string code;
  std::vector<std::string> options = {};  // beyond the standard ones
  std::string file = "";                  // of given code: what messages call it; "": generated
  std::vector<SourceLine> lines = {};     // of generated code: one a line
  // Its name in messages and line tables.
  std::string file_name() const { return file.empty() ? name + ".cu" : file; }
};

// The output for a kernel: sources, steps in order, and the workspace they need. Buffers of the program's own tensors
// are named as the tensors; workspace is prefixed with the kernel's name ("up-planes").
struct Emission {
  std::vector<Source> sources;
  std::vector<Step> steps;
  std::vector<PlanBuffer> workspace;
};

struct Family {
  std::string_view name;
  std::string_view help;
  bool available = true;                              // false: declared, with its knobs; compiling answers "not yet"
  const std::vector<KnobSpec>& (*knobs)() = nullptr;  // every family has it, and every call the same table
  Match (*match)(const ir::Program&, const ir::Kernel&) = nullptr;
  // Rules beyond knob types (codes E101 and up), each with the nearest legal value.
  void (*check)(const Context&, const ir::Kernel&, Diagnostics&) = nullptr;
  std::vector<RuleText> (*rules)() = nullptr;  // those of them that are kept as data; null: none
  Result<Cost> (*cost)(const Context&, const ir::Kernel&) = nullptr;
  // The knobs that bear on how the kernel runs, each with the value that it has: as it is written, or as the family
  // chooses where it is not. Null: nothing is chosen.
  Result<ir::Knobs> (*settle)(const Context&, const ir::Kernel&) = nullptr;
  // Settings worth trying for this kernel, best first by the cost model, all legal. Null: a kernel is of this family
  // only where a program says so.
  Result<std::vector<Proposed>> (*propose)(const Context&, const ir::Kernel&) = nullptr;
  Result<Emission> (*generate)(const Context&, const ir::Kernel&) = nullptr;
};

const std::vector<const Family*>& all_families();  // generated table
const Family* find_family(std::string_view name);

// Places of written knobs, by the begin of their kernel's span and by name. A diagnostic of a knob that is not in it
// underlines the kernel.
using KnobPlaces = std::map<std::pair<int, std::string>, Span>;

// Names, types and values of a clause against the family's table (E101 unknown knob, E102 bad value).
// Returns the knobs for further rules: a value that is none is `auto` there, and a set without its bad members.
ir::Knobs check_knobs(const Family& family, const ir::Kernel& kernel, const KnobPlaces& places,
                      Diagnostics& diagnostics);

// The knobs that have no value of their own are written (E105).
void check_required(const Family& family, const ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace solstice::families
