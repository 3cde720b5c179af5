// Stage 1 of a diagnosis: which unit of the machine bounds a kernel or a program, by arithmetic and by measurement.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

enum class Class { kTensor, kSimt, kSfu, kIssue, kDram, kL2, kLatency, kLaunch, kMixed };
std::vector<const char*> enum_names(Class);

struct ClassShare {
  Class unit;
  Seconds time;  // that the work takes on it, at the machine's ceilings
};

struct Classified {
  Class analytic = Class::kMixed;
  std::vector<ClassShare> needs;       // descending
  std::optional<Class> measured = {};  // by counters, where they are there
  double measured_share = 0;           // utilisation of that unit, 0 to 1
  // The analytic one, also where the measured one differs; `conflict` says so with both numbers.
  Class of() const { return analytic; }
  std::string conflict = {};
};

// Of ncu, that measure a class.
std::vector<std::string> class_metrics();

// From the kernel's needs, launches and (where there) counters. Without needs: kMixed.
Classified classify(const KernelSheet& kernel, const machine::Machine& machine);
// From the kernels' together and the bounds.
Classified classify(const Facts& facts, const machine::Machine& machine);

}  // namespace solstice::diagnose
