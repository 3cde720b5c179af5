// Does a candidate compute its problem? Decided on the equations, before anything is compiled
// (docs/equivalence.md). `refuted` ends a candidate; the other verdicts go on to verification, which
// alone accepts.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

enum class Verdict { kProved, kTested, kRefuted, kUnknown };
std::string_view name_of(Verdict verdict);  // "proved"

// An element at which the two differ.
struct Counterexample {
  std::string tensor;
  std::vector<int64_t> index;
  double problem = 0;
  double candidate = 0;
  std::string family;  // of the inputs: "normal", "small integers", ...
  std::vector<std::pair<std::string, int64_t>> dims;
};

struct Equivalence {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;                                 // one sentence
  std::vector<Counterexample> counterexamples;        // of a refutation
  std::vector<std::pair<std::string, int64_t>> dims;  // shrunken dims of a test, empty at the real ones
  int families = 0;                                   // of inputs that were tried
  int64_t points = 0;                                 // of the real shapes that were compared
  int64_t unasked = 0;                 // elements that differ where the problem's value is infinite or NaN
  std::vector<std::string> uncovered;  // branches with a side that no test took
  std::vector<std::string> beyond;     // of them, those that large integers decide: such a pair is `unknown`
  std::vector<Diagnostic> warnings;    // W018; spans are the candidate's
};

struct EquivalenceOptions {
  Seconds budget{10};                     // of all of it
  int64_t point_operations = 40'000'000;  // at points of the real shapes
  int64_t most_operations = 200'000'000;  // of one instance at shrunken dims
};

// Refuted where the interface is not the problem's. Proved: every output and new buffer value has the same definition
// after locals, declared intermediates and views are inlined, up to the names of indices. Else tested: at points of the
// real shapes where their cones are affordable, else at shrunken dims that both programs' static rules accept. Values
// agree within 1e-9 of the sum of the problem's absolute terms, and of a few times what errors of that size do;
// integers exactly.
Equivalence same_meaning(const lang::Program& problem, const lang::Program& candidate,
                         const EquivalenceOptions& options = {});

// Smaller values for the dims, the same for both programs; empty if none that both accept were
// found before the deadline.
std::vector<std::pair<std::string, int64_t>> shrunken_dims(const lang::Program& problem, const lang::Program& candidate,
                                                           int attempt,
                                                           const std::optional<Deadline>& deadline = std::nullopt);

// Inputs of a program: one of several families of values, reproducible. Buffers with an assumed closed form hold it.
int input_families();
std::string_view input_family_name(int family);
TensorValues random_inputs(const Program& program, int family, uint64_t seed);

}  // namespace solstice::ir
