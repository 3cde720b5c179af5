// Facts about a candidate, from everything that preparing and measuring it brought (record/diagnosis/facts.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/sass/disassemble.h"
#include "evaluate/build.h"
#include "evaluate/candidate.h"
#include "evaluate/kernel_facts.h"
#include "record/diagnosis/facts.h"
#include "record/kernel_table.h"
#include "run/judge.h"
#include "sol/report.h"

namespace solstice::evaluate {

struct FactsOfCandidate {
  const std::string& text;
  const Checked& checked;
  const Setting& setting;
  const KernelTable& table;
  const std::vector<KernelFacts>& needs;
  const Built* built = nullptr;            // null: nothing was compiled
  const sol::SolReport* bounds = nullptr;  // null: not known
};

// By the sources `plan`, `ptxas` and `cubin`; the others are marked as not asked.
Facts facts_of(const FactsOfCandidate& from);

// By the source `trace`: times of steps and the timeline of a call. `traced` is a block of Tracer::kCupti that passed,
// `trace` is by_kernel() of it. Errors: those of steps_that_ran().
Status add_trace(const Plan& plan, const run::TimedBlock& traced, const KernelTrace& trace, Facts& facts);
// What was read of the machine code of a module.
struct SassOfModule {
  Result<std::map<std::string, SassFacts>> code;  // by function
  std::string no_places = {};                     // why there are none, where they were asked for
};
// A cubin that runs, and the text that its lines are of.
struct CodeOfModule {
  std::string cubin;
  diagnose::SassOptions options;
};
std::vector<CodeOfModule> code_of(const Built& built);  // in the order of the plan's modules
// Disassembles each, side by side; the cache keeps what was read. Without places in the program.
std::vector<SassOfModule> read_code(const std::vector<CodeOfModule>& code);
// The source `sass` of what was read, in the order of the plan's modules. A cubin that could not be read costs its own
// kernels alone: they are `missing` in the source.
void take_sass(const Plan& plan, const std::vector<SassOfModule>& read, Facts& facts);
// Both, with the places in the program that machine code comes from, by profile builds (profile_build.h) of `lines`;
// without places `why` of the source says why. Null: they are not asked for. Sampled addresses of add_counters() get
// these places.
void add_sass(const Built& built, toolchain::Compiler* lines, Facts& facts);

}  // namespace solstice::evaluate
