// Facts in sums, for people: what a move gained, how often, and how far that spreads.
#pragma once

#include <string>
#include <vector>

#include "record/fact.h"

namespace solstice::search {

struct FactSum {
  std::string machine;
  std::string kind;  // of the kernels
  std::string move;  // "rows: threads=128 -> threads=256": what differs
  int facts = 0;
  int structures = 0;  // that they are of
  int failed = 0;      // of the facts
  double beyond = 0;   // of `gain`, what the cost models did not predict, the mean
  double gain = 0;     // log2 of the kernels' own gain, the mean of those that worked
  double spread = 0;   // its standard deviation
  std::string last;    // UTC, of the newest
  static auto fields() {
    return std::make_tuple(
        field("machine", &FactSum::machine, "name"), field("kind", &FactSum::kind, "of the kernels"),
        field("move", &FactSum::move, "what differs"), field("facts", &FactSum::facts, "how many"),
        field("structures", &FactSum::structures, "that they are of"), field("failed", &FactSum::failed, "of them"),
        field("gain", &FactSum::gain, "log2 of the kernels' own gain, mean of those that worked"),
        field("beyond", &FactSum::beyond, "of that, what the cost models did not predict"),
        field("spread", &FactSum::spread, "its standard deviation"), field("last", &FactSum::last, "UTC"));
  }
};

// "rows: threads=128 -> threads=256" where one family has other knobs; "gemm(..) -> map(..)" where the family is
// another.
std::string move_text(const std::string& from, const std::string& to);

// By machine, kind and move; those of most facts first.
std::vector<FactSum> sums_of(const std::vector<Fact>& facts);

}  // namespace solstice::search
