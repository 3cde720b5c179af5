// Memory across problems: what changes of a setting gained in other searches beyond what the cost models said of them,
// and what that lets expect here. It orders what is tried and predicts gains; it never says what is legal or right, and
// skips no check.
//
// The worth of a setting for a kernel is by how much (log2) it is faster than its cost model says, up to what all
// settings of the kernel share. It is a sum over features: the setting as a whole and each of its parts (the family,
// every knob), each for the kernel's kind, form and exact structure (record/fact.h). Their values are those of a ridge
// regression,
//
//   minimise  sum over facts of  w (surprise - (worth(to) - worth(from)))^2  +  sum over features of value^2
//
// with `surprise` the log2 of the kernel's own gain (the program's, by the kernel's share) less that which the cost
// models predicted, and w = 1 / (1 + (noise / 0.05)^2) its weight. Settings that were never compared directly are
// compared through others, a change counts backwards too, and what is common to many structures moves to the coarse
// features. Of the mean of n clean facts of one change of two knobs, n / (n + 1/6) is believed for the same structure,
// n / (n + 3/4) for the same form where each fact has other extents, n / (n + 5/2) for the same kind where each has
// another form; repeats on one structure never make it more than a third there. One lucky fact decides nothing.
//
// A candidate that failed counts as a surprise of -1, half the speed.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/fact.h"

namespace solstice::search {

// log2 of the gain of the changed kernel itself.
double own_gain(const Fact& fact);
// The part of its gain that the cost models did not predict; -1 of a failure.
double beyond_models(const Fact& fact);
// Uncertainty of `own_gain`, in the same unit.
double own_noise(const Fact& fact);

class Memory {
 public:
  Memory() = default;
  explicit Memory(const std::vector<Fact>& facts);

  bool empty() const { return facts_ == 0; }
  size_t facts() const { return facts_; }
  // 0 of what it knows nothing of.
  double worth(const Structure& structure, const std::string& setting) const;

  // Facts of such kernels that had this setting before or after, and of how many structures they are.
  struct Evidence {
    int facts = 0;
    int structures = 0;
  };
  Evidence evidence(const Structure& structure, const std::string& setting) const;

 private:
  size_t facts_ = 0;
  std::unordered_map<std::string, double> values_;              // of features
  std::map<std::string, std::map<std::string, int>> evidence_;  // by kind and setting: facts of each structure
};

// "gemm(math=fp16x3, tile=128x256x64)": gemm, math=fp16x3, tile=128x256x64.
std::vector<std::string> parts_of(const std::string& setting);

}  // namespace solstice::search
