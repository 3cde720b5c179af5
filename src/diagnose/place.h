// Names the place of a finding in the program: the equation, part of the kernel or line of given code that its evidence
// comes from, where facts say it (profile builds; docs/machine-code.md). Without, a finding keeps the place it has.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "record/diagnosis/facts.h"
#include "record/diagnosis/finding.h"

namespace solstice::diagnose {

// Of the instruction at an address; null: not known.
const CodePlace* place_at(const SassFacts& sass, int64_t address);

// Places of what was sampled: machine code of a profile build has the addresses of that which ran.
void name_hot_places(const SassFacts& sass, CounterFacts& counters);

// How much of what a finding is about stands in a piece of code.
using Weight = std::function<double(const SassMix&)>;

Weight instructions();
Weight of_kind(std::string kind);       // of work: "fp64" (record/diagnosis/sass_facts.h)
Weight of_opcode(std::string name);     // of SassMix::named: "BAR.SYNC"
Weight accesses_of(std::string space);  // loads and stores
// By the bits that they lack to 128.
Weight narrow_accesses(std::string space, bool store);
Weight slow_paths();  // calls of the compiler's divisions and roots

// The place with most weight in `code`: the step's whole machine code or one of its loops (hot_code()).
void name_place(const StepFacts& step, const SassMix* code, const Weight& weight, Finding& finding);
// That of the instruction at an address.
void name_place(const StepFacts& step, int64_t address, Finding& finding);
// That of the instruction where most warps waited so.
void name_stalled_place(const StepFacts& step, std::string_view reason, Finding& finding);

}  // namespace solstice::diagnose
