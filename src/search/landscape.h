// Made-up search problems, for comparing policies without a GPU: what a candidate takes, which moves lead from it, and
// what a cost model would say. One file in landscapes/ defines one `extern const Landscape solstice_landscapes_<stem>`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/random.h"

namespace solstice::search {

// A move to another candidate.
struct Step {
  std::string candidate;      // never "", which is the problem
  double predicted_gain = 0;  // by a cost model, log2 of the speedup; may be wrong
};

struct Landscape {
  std::string_view name;
  std::string_view kind;   // "needle", "plateau", "deceptive", "noisy", "failing"
  std::string_view about;  // in one line
  // A landscape is drawn from `seed`; everything below is a pure function of the seed and the candidate.
  //
  // Moves from a candidate ("": from the problem), at most some dozens, in the order in which a proposer would try
  // them. Different paths may lead to the same candidate. There must be thousands of candidates or more in all.
  std::vector<Step> (*moves)(uint64_t seed, const std::string& candidate) = nullptr;
  // log2 of its true speedup over the problem, which is 0; from about -4 to +4.
  double (*gain)(uint64_t seed, const std::string& candidate) = nullptr;
  // It compiles and is right.
  bool (*works)(uint64_t seed, const std::string& candidate) = nullptr;
  double noise =
      0;  // relative standard deviation of a rough measurement; a usual one has half of it, a precise one a quarter
};

const std::vector<const Landscape*>& all_landscapes();  // generated table

}  // namespace solstice::search
