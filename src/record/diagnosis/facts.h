// Facts about a program on a machine, from which tools diagnose (schema solstice.facts/1): saved, mailed, and diagnosed
// elsewhere. Each part is the word of one source; `sources` says which were there, and why others were not. A part
// that is absent or empty was not asked for or could not be read: no tool takes it for zero.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/diagnosis/sass_facts.h"
#include "record/fields.h"
#include "record/kernel_facts.h"
#include "record/plan.h"
#include "record/timing.h"

namespace solstice {

const std::vector<std::string>& source_names();  // ptxas, cubin, sass, plan, trace, counters

// One of them.
struct SourceState {
  std::string name;
  bool there = false;
  std::string why = {};                             // it is not, or only in part
  std::string opens = {};                           // the one line that would open it
  std::map<std::string, std::string> missing = {};  // steps that it says nothing of, and why: it was read in part
  static auto fields() {
    return std::make_tuple(field("name", &SourceState::name, "ptxas, cubin, sass, plan, trace or counters"),
                           field("there", &SourceState::there, "it was read"),
                           optional_field("why", &SourceState::why, "it was not, or only in part"),
                           optional_field("opens", &SourceState::opens, "the one line that would open it"),
                           optional_field("missing", &SourceState::missing, "steps that it says nothing of, and why"));
  }
};

// A place in machine code where the sampler found warps, by what they waited for.
struct HotSpot {
  int64_t address = 0;
  int line = 0;               // of the program, or of given code; 0: not known
  std::string equation = {};  // text
  std::string part = {};      // of generated code
  std::string file = {};      // of given code
  std::string instruction = {};
  std::map<std::string, int64_t> samples;  // by stall reason
  static auto fields() {
    return std::make_tuple(field("address", &HotSpot::address, "in the function"),
                           optional_field("line", &HotSpot::line, "of the program or of given code"),
                           optional_field("equation", &HotSpot::equation, "its text"),
                           optional_field("part", &HotSpot::part, "of generated code"),
                           optional_field("file", &HotSpot::file, "of given code"),
                           optional_field("instruction", &HotSpot::instruction, "its text"),
                           field("samples", &HotSpot::samples, "by stall reason"));
  }
};

// By ncu, of one launch; values in ncu's base units (bytes, seconds, cycles, shares of 1 for percentages).
struct CounterFacts {
  std::map<std::string, double> metrics;  // by ncu's names
  // Share of warp samples by reason, `selected` included; of the hardware's own counts where nothing was sampled.
  // Reasons are those of diagnose/counters/stall_reasons.h: "long_scoreboard".
  std::map<std::string, double> stalls;
  std::vector<HotSpot> hot = {};  // the most sampled, descending
  std::string of = {};            // the step whose launch was read, which is alike in all but its data; "": its own
  // Each pass begins with empty caches, as the first launch of a timed call does. This one is a later launch: in a call
  // L2 has what the launches before it left.
  bool cold = false;
  int64_t passes = 0;  // over the launch; 0: not known
  static auto fields() {
    return std::make_tuple(field("metrics", &CounterFacts::metrics, "by ncu's names"),
                           optional_field("stalls", &CounterFacts::stalls, "share of warp samples by reason"),
                           optional_field("hot", &CounterFacts::hot, "the most sampled places"),
                           optional_field("of", &CounterFacts::of, "the step alike whose launch was read"),
                           optional_field("cold", &CounterFacts::cold, "a later launch, read with empty caches"),
                           optional_field("passes", &CounterFacts::passes, "over the launch"));
  }
};

// Resident blocks and warps of a launch, and what keeps more of them away.
struct OccupancyFacts {
  int64_t blocks_per_sm = 0;
  int64_t warps_per_sm = 0;
  std::string limited_by = {};  // "registers", "shared", "threads", "blocks"
  double waves = 0;             // blocks over those that are resident at once
  static auto fields() {
    return std::make_tuple(field("blocks_per_sm", &OccupancyFacts::blocks_per_sm, "resident"),
                           field("warps_per_sm", &OccupancyFacts::warps_per_sm, "resident"),
                           field("limited_by", &OccupancyFacts::limited_by, "registers, shared, threads or blocks"),
                           field("waves", &OccupancyFacts::waves, "of the grid"));
  }
};

// One launch, memset or copy of the plan.
struct StepFacts {
  std::string step;   // its name
  std::string entry;  // function; "" of memsets and copies
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  bool cooperative = false, pdl = false;
  bool fallback = false;  // of a guard: does nothing on usual operands
  bool prepare = false;   // once, at load
  // ptxas: bytes a thread, and a block for shared memory, static and dynamic together
  std::optional<int64_t> registers = {}, spill_stores = {}, spill_loads = {}, stack_bytes = {}, shared_bytes = {};
  std::vector<std::string> notes = {};
  std::optional<OccupancyFacts> occupancy = {};
  std::optional<SassFacts> sass = {};
  std::optional<Seconds> measured = {};  // trace: median
  std::optional<CounterFacts> counters = {};
  // It runs on every call and works on usual operands.
  bool is_usual() const { return !prepare && !fallback; }
  static auto fields() {
    return std::make_tuple(
        field("step", &StepFacts::step, "name in the plan"), field("entry", &StepFacts::entry, "function"),
        optional_field("grid", &StepFacts::grid, "blocks"), optional_field("block", &StepFacts::block, "threads"),
        optional_field("cluster", &StepFacts::cluster, "blocks a cluster"),
        optional_field("cooperative", &StepFacts::cooperative, "all blocks resident"),
        optional_field("pdl", &StepFacts::pdl, "programmatic dependent launch"),
        optional_field("fallback", &StepFacts::fallback, "of a guard"),
        optional_field("prepare", &StepFacts::prepare, "once, at load"),
        optional_field("registers", &StepFacts::registers, "a thread"),
        optional_field("spill_stores", &StepFacts::spill_stores, "bytes a thread"),
        optional_field("spill_loads", &StepFacts::spill_loads, "bytes a thread"),
        optional_field("stack_bytes", &StepFacts::stack_bytes, "a thread"),
        optional_field("shared_bytes", &StepFacts::shared_bytes, "a block, static and dynamic"),
        optional_field("notes", &StepFacts::notes, "of ptxas"),
        optional_field("occupancy", &StepFacts::occupancy, "resident blocks and warps"),
        optional_field("sass", &StepFacts::sass, "static machine code"),
        optional_field("measured", &StepFacts::measured, "seconds, median"),
        optional_field("counters", &StepFacts::counters, "by ncu"));
  }
};

struct CostTerm {
  std::string name;
  Seconds time;
  static auto fields() {
    return std::make_tuple(field("name", &CostTerm::name, "addend of the cost model"),
                           field("time", &CostTerm::time, "seconds"));
  }
};

struct EquationFacts {
  std::string text;
  int line = 0;  // in the program's text
  static auto fields() {
    return std::make_tuple(field("text", &EquationFacts::text, "as the program has it"),
                           field("line", &EquationFacts::line, "in the program"));
  }
};

// Bytes that a kernel has to read or write of a tensor, and whose it is.
struct TensorFacts {
  std::string name;
  std::string kind;  // "input", "param", "state", "output", "intermediate"
  std::string dtype;
  bool written = false;
  Bytes bytes;
  static auto fields() {
    return std::make_tuple(field("name", &TensorFacts::name, "in the program"),
                           field("kind", &TensorFacts::kind, "input, param, state, output or intermediate"),
                           field("dtype", &TensorFacts::dtype, "as it is stored"),
                           field("written", &TensorFacts::written, "by the kernel"),
                           field("bytes", &TensorFacts::bytes, "of the tensor"));
  }
};

struct KernelSheet {
  std::string kernel;  // name in the program
  std::string family;
  std::string schedule;                           // its clause: "gemm(math=fp16x3)"
  std::string computes = {};                      // in a line
  std::string missing = {};                       // what it does without a family for it
  std::string math = {};                          // of its products
  std::map<std::string, std::string> knobs = {};  // each with the value it has, written or chosen
  std::vector<EquationFacts> equations = {};
  std::vector<TensorFacts> tensors = {};
  std::vector<ResourceNeed> needs = {};
  std::optional<Seconds> bound = {};  // the longest of its needs, and no less than a kernel takes
  std::optional<Seconds> predicted = {};
  std::string limited_by = {};  // by the cost model
  std::string form = {};
  std::vector<CostTerm> terms = {};
  bool once = false;
  std::optional<Seconds> measured = {};  // trace: of its steps together
  std::vector<StepFacts> steps = {};
  // Steps of each call, fallbacks included, which are launched to do nothing; at least 1.
  size_t launches() const;
  static auto fields() {
    return std::make_tuple(
        field("kernel", &KernelSheet::kernel, "name in the program"), field("family", &KernelSheet::family, "runs it"),
        field("schedule", &KernelSheet::schedule, "its clause"),
        optional_field("computes", &KernelSheet::computes, "in a line"),
        optional_field("missing", &KernelSheet::missing, "what it does without a family for it"),
        optional_field("math", &KernelSheet::math, "of its products"),
        optional_field("knobs", &KernelSheet::knobs, "as written or chosen"),
        optional_field("equations", &KernelSheet::equations, "that it computes"),
        optional_field("tensors", &KernelSheet::tensors, "read and written"),
        optional_field("needs", &KernelSheet::needs, "by its equations alone"),
        optional_field("bound", &KernelSheet::bound, "seconds, by its equations, and no less than a kernel takes"),
        optional_field("predicted", &KernelSheet::predicted, "seconds by the cost model"),
        optional_field("limited_by", &KernelSheet::limited_by, "by the cost model"),
        optional_field("form", &KernelSheet::form, "which of the family's ways"),
        optional_field("terms", &KernelSheet::terms, "addends of the cost model"),
        optional_field("once", &KernelSheet::once, "runs at load"),
        optional_field("measured", &KernelSheet::measured, "seconds"),
        optional_field("steps", &KernelSheet::steps, "launches, memsets and copies"));
  }
};

// One activity of one call, from the call's first.
struct TimelineEntry {
  std::string step;
  Seconds start, end;
  static auto fields() {
    return std::make_tuple(field("step", &TimelineEntry::step, "name in the plan"),
                           field("start", &TimelineEntry::start, "seconds from the first"),
                           field("end", &TimelineEntry::end, "seconds from the first"));
  }
};

// Of the whole program.
struct BoundFacts {
  std::optional<Seconds> io = {}, work = {}, practical = {};
  std::string practical_by = {};  // what the practical bound consists of mostly
  static auto fields() {
    return std::make_tuple(optional_field("io", &BoundFacts::io, "seconds, sound"),
                           optional_field("work", &BoundFacts::work, "seconds of the equations"),
                           optional_field("practical", &BoundFacts::practical, "seconds, measured ceilings"),
                           optional_field("practical_by", &BoundFacts::practical_by, "its largest term"));
  }
};

struct Facts {
  static constexpr const char* kSchema = "solstice.facts/1";
  std::string program;  // its text
  std::string numerics;
  std::string machine;       // name of the description
  std::string device = {};   // the driver's name; "": nothing ran
  std::string version = {};  // of solstice
  bool frozen = false;
  BoundFacts bounds;
  std::optional<Seconds> measured = {};     // of a call, cold L2
  std::optional<Seconds> predicted = {};    // with launches
  std::optional<Seconds> host_launch = {};  // host time of a launch call
  std::optional<double> error = {};         // normwise, over the policy's limit
  std::optional<ClockReading> clocks = {};  // right after the timed calls; zeros where NVML does not answer
  std::vector<KernelSheet> kernels = {};    // in the program's order
  std::vector<TimelineEntry> timeline = {};
  std::vector<SourceState> sources = {};
  static auto fields() {
    return std::make_tuple(field("program", &Facts::program, "its text"),
                           field("numerics", &Facts::numerics, "accuracy policy"),
                           field("machine", &Facts::machine, "description"),
                           optional_field("device", &Facts::device, "the GPU that ran it"),
                           optional_field("version", &Facts::version, "of solstice"),
                           optional_field("frozen", &Facts::frozen, "parameters may be packed once"),
                           optional_field("bounds", &Facts::bounds, "of the whole program"),
                           optional_field("measured", &Facts::measured, "seconds of a call"),
                           optional_field("predicted", &Facts::predicted, "seconds by the cost models"),
                           optional_field("host_launch", &Facts::host_launch, "host seconds of a launch call"),
                           optional_field("error", &Facts::error, "over the policy's limit"),
                           optional_field("clocks", &Facts::clocks, "right after the timed calls"),
                           field("kernels", &Facts::kernels, "in the program's order"),
                           optional_field("timeline", &Facts::timeline, "of one call"),
                           field("sources", &Facts::sources, "which were there"));
  }
};

// Instead of the state that the source had, if any.
void set_source(SourceState state, Facts& facts);
// The facts of a step, wherever it stands; null: no kernel has it.
StepFacts* step_named(const std::string& step, Facts& facts);

// Facts whose numbers make sense: reals are finite, times, bytes and counts not negative, extents of launches those of
// launches, loops in order. Whatever is read from a file or from another program is held to it; diagnosis relies on it.
// Error bad_record: where the first fault is, and what is legal there.
Status validate(const Facts& facts);

// Errors bad_record, as from_json() and validate().
Result<Facts> read_facts(const Json& json);

}  // namespace solstice
