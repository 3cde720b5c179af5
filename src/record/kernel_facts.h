// Facts about a candidate's kernels in a trial's record, for the next proposal: what was left to their families, and
// what they have to do.
#pragma once

#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

// Need of a kernel for one resource by its equations, whatever a family makes of it. Resources overlap.
struct ResourceNeed {
  std::string resource;  // "dram", "l2", "tensor.f16", "simt.f32", "sfu", "simt.i32"
  std::string how;       // on tensor cores: the math at whose rate products count ("fp16x3"); "" elsewhere
  std::string unit;      // "B", "FLOP", "op"
  double amount = 0;
  Seconds time;  // at the machine's measured ceiling
  static auto fields() {
    return std::make_tuple(field("resource", &ResourceNeed::resource, "what it keeps busy"),
                           optional_field("how", &ResourceNeed::how, "math at whose rate products count"),
                           field("unit", &ResourceNeed::unit, "B, FLOP or op"),
                           field("amount", &ResourceNeed::amount, "bytes or operations"),
                           field("time", &ResourceNeed::time, "seconds at the machine's ceiling"));
  }
};

struct KernelFacts {
  std::string kernel;               // name in the program
  std::string chosen;               // by its family, of what the program does not say: "threads=256, vector=4"
  std::vector<ResourceNeed> needs;  // none of a kernel that runs at load
  static auto fields() {
    return std::make_tuple(field("kernel", &KernelFacts::kernel, "name in the program"),
                           optional_field("chosen", &KernelFacts::chosen, "knobs that its family chose"),
                           optional_field("needs", &KernelFacts::needs, "bytes and operations, by resource"));
  }
};

// The kernel facts of a trial's record (Measurement::record). None if an older Solstice wrote the record, or if it is
// damaged: no decision depends on facts.
std::vector<KernelFacts> kernel_facts_of(const Json& record);

}  // namespace solstice
