// A verdict: what the judge found about one candidate (schema solstice.verdict/1). A candidate that fails is data.
//
// Errors are relative. Normwise: ||x - o|| / ||o|| over the elements where both are finite. Elementwise: the largest
// |x - o| / scale, with scale = max(|o|, rms of o along the innermost dimensions that together have 64 elements or
// more, in runs of at most 65536): an error is measured against what its row holds, so that a zero that comes out of
// cancellation is not held to its own size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

enum class Outcome {
  kPassed,
  kWrongResult,  // an error exceeds its limit
  kNanMismatch,  // NaN or infinity where there should be none, or the other way round
  kNotWritten,   // elements still hold what was put there before the launch
  kWroteInput,   // an input, parameter or read-only state changed
  kRedZone,      // memory outside every buffer changed
  kCrashed,      // the GPU reported an error, or the process died
  kHung,         // not done at the deadline
  kLoadFailed,   // the plan or a cubin was refused
  kOutOfMemory,
};
std::vector<const char*> enum_names(Outcome);

struct OutputVerdict {
  std::string output;
  int64_t elements = 0;
  double normwise = 0, elementwise = 0;                         // the candidate's errors
  std::optional<double> pytorch_normwise, pytorch_elementwise;  // PyTorch's own
  double limit_normwise = 0, limit_elementwise = 0;
  std::string limit_because;
  int64_t class_mismatches = 0;  // NaN, +inf, -inf, finite
  int64_t poison_left = 0;
  int64_t undetermined = 0;  // elements that the inputs do not determine at this precision: no error above is theirs
  int64_t left_out =
      0;               // numbers where PyTorch has none: zeros of a mask met NaN or infinity, which PyTorch multiplies
  int64_t worst = -1;  // element of the largest error, row-major
  double got = 0, expected = 0;  // there
  Outcome outcome = Outcome::kPassed;
  std::string message;
  static auto fields() {
    return std::make_tuple(
        field("output", &OutputVerdict::output, "plan buffer"), field("elements", &OutputVerdict::elements, "compared"),
        field("normwise", &OutputVerdict::normwise, "the candidate's error"),
        field("elementwise", &OutputVerdict::elementwise, "its largest error against the row's scale"),
        optional_field("pytorch_normwise", &OutputVerdict::pytorch_normwise, "PyTorch's own error"),
        optional_field("pytorch_elementwise", &OutputVerdict::pytorch_elementwise, "the same, elementwise"),
        field("limit_normwise", &OutputVerdict::limit_normwise, "allowed"),
        field("limit_elementwise", &OutputVerdict::limit_elementwise, "allowed"),
        optional_field("limit_because", &OutputVerdict::limit_because, "what the limit comes from"),
        optional_field("class_mismatches", &OutputVerdict::class_mismatches, "NaN or infinity in the wrong places"),
        optional_field("poison_left", &OutputVerdict::poison_left, "elements that were not written"),
        optional_field("undetermined", &OutputVerdict::undetermined, "elements that the inputs do not determine"),
        optional_field("left_out", &OutputVerdict::left_out, "numbers where PyTorch's 0 * NaN is NaN"),
        optional_field("worst", &OutputVerdict::worst, "element of the largest error, row-major"),
        optional_field("got", &OutputVerdict::got, "the candidate's value there"),
        optional_field("expected", &OutputVerdict::expected, "the oracle's value there"),
        field("outcome", &OutputVerdict::outcome, "verdict"),
        optional_field("message", &OutputVerdict::message, "why"));
  }
};

struct CaseVerdict {
  std::string name;  // of the case: seed and value family
  int pass = 0;      // every case runs in two passes, over differently poisoned memory
  Outcome outcome = Outcome::kPassed;
  std::string message;
  std::vector<OutputVerdict> outputs;
  Seconds wall;  // host time of the run with synchronisation
  static auto fields() {
    return std::make_tuple(
        field("name", &CaseVerdict::name, "seed and value family"), field("pass", &CaseVerdict::pass, "0 or 1"),
        field("outcome", &CaseVerdict::outcome, "verdict"), optional_field("message", &CaseVerdict::message, "why"),
        field("outputs", &CaseVerdict::outputs, "compared"),
        optional_field("wall", &CaseVerdict::wall, "host seconds of the run"));
  }
};

struct Verdict {
  static constexpr const char* kSchema = "solstice.verdict/1";
  Outcome outcome = Outcome::kPassed;
  std::string message;             // of the first failure
  std::vector<CaseVerdict> cases;  // up to the first failure
  std::string policy;              // numerics policy of the limits
  Bytes memory;                    // device memory of the plan: code, workspace, one copy of every tensor
  int slots = 1;
  Seconds prepare;  // host time of the prepare phase
  Json sandbox;     // parts that the runner's sandbox enforced
  bool passed() const { return outcome == Outcome::kPassed; }
  static auto fields() {
    return std::make_tuple(field("outcome", &Verdict::outcome, "verdict"),
                           optional_field("message", &Verdict::message, "of the first failure"),
                           field("cases", &Verdict::cases, "up to the first failure"),
                           field("policy", &Verdict::policy, "numerics policy"),
                           optional_field("memory", &Verdict::memory, "device bytes of workspace and tensors"),
                           optional_field("slots", &Verdict::slots, "copies of the tensors"),
                           optional_field("prepare", &Verdict::prepare, "seconds of the prepare phase"),
                           optional_field("sandbox", &Verdict::sandbox, "what was enforced"));
  }
};

}  // namespace solstice
