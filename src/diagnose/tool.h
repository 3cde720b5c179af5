// A diagnosis tool: one file in a group of diagnose/tools/ that defines `extern const Tool solstice_tools_NAME`, or any
// program (diagnose/external.h). It reads facts and answers findings; it decides nothing else.
//
// Every tool whose classes match and whose sources are there runs, always: nobody chooses among them. Tools see facts
// alone, so the same facts give the same findings in any order of the tools.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "diagnose/classify.h"
#include "diagnose/place.h"
#include "diagnose/product_shape.h"
#include "machine/machine.h"
#include "record/diagnosis/facts.h"
#include "record/diagnosis/finding.h"

namespace solstice::diagnose {

// A number that a tool decides by: a share of one of the machine's ceilings or limits, or derived; never a figure of
// one GPU. `origin`: the paper and section, or the derivation.
struct Threshold {
  std::string name;
  double value = 0;
  std::string unit;  // "share", "x", "count"
  std::string origin;
  static auto fields() {
    return std::make_tuple(field("name", &Threshold::name, "of the number"),
                           field("value", &Threshold::value, "number"), field("unit", &Threshold::unit, "share, x, .."),
                           field("origin", &Threshold::origin, "paper and section, or derivation"));
  }
};

// A kernel as tools see it.
struct KernelView {
  const Facts& facts;
  const KernelSheet& kernel;
  const machine::Machine& machine;
  Class limited;                             // stage 1
  double share;                              // of the program's time, 0 to 1
  std::optional<ProductShape> product = {};  // of its equations, if they are one product

  // Measured, else predicted; 0: neither is known.
  Seconds time() const;
  // Steps that run on every call and do work on usual operands.
  std::vector<const StepFacts*> steps() const;
  // Of the program's time if this kernel became `kernel_gain` times as fast (Amdahl).
  GainBound gain(double kernel_gain, std::string because) const;
  // The same if one of its steps became so much faster: by the step's share of the kernel's time, where it was
  // measured.
  GainBound gain_of(const StepFacts& step, double step_gain, std::string because) const;
  // Its time over its bound; nothing where either is not known.
  std::optional<double> over_bound() const;
  // Of a tool that sees what is wrong and not what it costs: up to the bound of the equations. Where that is not known,
  // a bound that is `open`.
  GainBound gain_to_bound(std::string because) const;
  GainBound gain_to_bound(const StepFacts& step, std::string because) const;
  // The kernel's gain at most: the same where it was measured. A predicted time may know nothing of what is wrong, so
  // it holds no bound down.
  double most() const;
  // Seconds that a step's tensor cores need for 2*m*n*k operations on one SM, at the machine's measured ceiling and in
  // the kernel's math; nothing where either is not known.
  std::optional<Seconds> tensor_time(double m, double n, double k) const;
  // The first of these values of a knob with which the kernel is another one, and legal; without anyone who knows what
  // is legal the first that is written otherwise. Nothing where the kernel has no such knob, or none of them is.
  std::optional<FindingAction> setting(const std::string& knob, const std::vector<std::string>& values,
                                       std::string text) const;
  const std::function<bool(const FindingAction&)>* legal = nullptr;  // null: nobody knows
};

struct ProgramView {
  const Facts& facts;
  const machine::Machine& machine;
  std::vector<KernelView> kernels;

  Seconds time() const;                                   // measured, else predicted
  std::optional<double> over_bound() const;               // time over `practical`, else over `work`; nothing: not known
  const KernelView* kernel(std::string_view name) const;  // null: there is none
};

// How far a tool's findings are from what has to change. A cause takes in what is observed on its step and follows from
// it (settle.h); what no cause explains is of medium severity at most.
enum class Says {
  kCause,    // what in the program or its code costs time
  kUnit,     // which unit is idle or full: SMs, schedulers, tensor cores, memory
  kSymptom,  // that warps wait, or that it takes longer than it should
};

struct Tool {
  std::string name;                  // "register spill"
  std::string question;              // "Do values of a thread go to local memory?"
  std::vector<std::string> sources;  // all of which it needs
  std::vector<Class> classes;        // of kernels that it looks at; none: of every class
  std::vector<Threshold> thresholds = {};
  std::string paper = {};  // the published tool that it corresponds to
  // One of these.
  void (*of_kernel)(const Tool&, const KernelView&, std::vector<Finding>&) = nullptr;
  void (*of_program)(const Tool&, const ProgramView&, std::vector<Finding>&) = nullptr;
  std::function<Result<std::vector<Finding>>(const Facts&)> elsewhere = {};  // a program (diagnose/external.h)
  Says says = Says::kCause;
  std::vector<std::string> shows_as = {};  // stall reasons of warps that meet the cause; none: it has no such
  std::vector<std::string> explains = {};  // tools whose findings on the same place follow from this one's
  // Counters that it needs, by ncu's names: a launch without one of them leaves its question open. `or_counters`: it
  // reads them where they are there.
  std::vector<std::string> counters = {}, or_counters = {};
  bool warp_states = false;  // it needs what warps wait for

  double threshold(std::string_view which) const;
};

const std::vector<const Tool*>& all_tools();  // generated table

// What these tools read, and what measures a class, in the order of the table. Of programs, which may read any
// (Tool::elsewhere), all.
std::vector<std::string> counters_to_ask(const std::vector<const Tool*>& tools);

bool is_among(const std::vector<std::string>& names, std::string_view name);

// By the bound of the gain of the whole program; `medium` where it is open.
FindingSeverity severity_of(const GainBound& gain);

// What its equations take without the start of a kernel; 0: not known.
Seconds longest_need(const KernelSheet& kernel);
// Of the kernel's time, where both were measured; else 1.
double share_of_kernel(const KernelView& view, const StepFacts& step);
// 1/(1-s): what code gains at most without a share s of its time. Finite for s = 1 too; what holds it down then is the
// bound of the equations, or of the program.
double gain_without(double share);
// Of a finding whose gain nothing that is known holds down.
GainBound open_bound(std::string why);
// Of a tool that knows no cost: low, until warps were sampled, whose share of waiting holds the bound down (settle.h).
Confidence confidence_of_guess(const StepFacts& step);

// A finding of this tool on this kernel: tool, place, sources; severity by its gain.
Finding finding_on(const Tool& tool, const KernelView& view, std::string cause, GainBound gain);
Finding finding_on(const Tool& tool, std::string cause, GainBound gain);

// A counter of a step, in base units; nullopt: it was not read.
std::optional<double> counter(const StepFacts& step, std::string_view metric);
// Share of the warps' samples that waited for this, 0 to 1; nullopt: they were not sampled.
std::optional<double> stall(const StepFacts& step, std::string_view reason);

// Where a step spends its time, as far as its machine code tells: the innermost loop of most instructions that does not
// only wait, else the whole function. Null: there is no machine code.
const SassMix* hot_code(const StepFacts& step);
// Instructions of this kind of work (record/diagnosis/sass_facts.h).
double count_of(const SassMix& mix, const std::string& kind);
// The same of accesses of global memory: the innermost loop that has most of them, the whole function if it has no
// loop. Null as well where its loops have none.
const SassMix* access_code(const StepFacts& step, bool store);
// Accesses of this space and direction: how many, and their mean width in bits.
struct MeanAccess {
  double count = 0, bits = 0;
};
MeanAccess mean_access(const SassMix& mix, std::string_view space, bool store);

// Seconds of a round trip of a loaded memory: one barrier over all SMs, which is two trips to L2 and back, takes about
// as long. Nothing where the machine file has no such measurement.
std::optional<Seconds> memory_latency(const machine::Machine& machine);

// What instructions wait for that only need to be issued and computed, not memory.
std::vector<std::string> stalls_of_instructions();
// What accesses of global memory wait for.
std::vector<std::string> stalls_of_memory();
// The same where there are more requests than bytes ask for: they fill the queue before memory too, which stores of 31
// sectors a warp were seen to wait for a third of their time (tests/sick/partial_columns, H200).
std::vector<std::string> stalls_of_requests();
std::vector<std::string> stalls_of_narrow_accesses();  // both
std::vector<std::string> stalls_of_atomics();          // memory, and the queue that they share with shared memory

Evidence evidence(std::string what, double value, std::string unit, std::string source);
FindingAction change_knobs(const KernelView& view, std::map<std::string, std::string> knobs, std::string text);
FindingAction advice(std::string text);

}  // namespace solstice::diagnose
