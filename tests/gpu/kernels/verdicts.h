// What became of each program, and of all of them.
#pragma once

#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice::random_kernels {

enum class Outcome { kPassed, kRefused, kWrong, kCrashed, kNotCompiled, kFault, kInvalid };
std::vector<const char*> enum_names(Outcome);
bool is_failure(Outcome outcome);

struct Verdict {
  std::string family;
  int64_t number = 0;
  Outcome outcome = Outcome::kPassed;
  std::string why;     // it did not pass
  std::string text;    // of a failure: the program
  std::string shrunk;  // and what is left of it that still fails
  bool exact = false;
  double worst = 0;  // error in units of the limit
  int64_t elements = 0, unasked = 0;
  int refused_knobs = 0;

  static auto fields() {
    return std::make_tuple(
        field("family", &Verdict::family, "kernel family"), field("number", &Verdict::number, "in the seed's sequence"),
        field("outcome", &Verdict::outcome, "what became of it"), field("why", &Verdict::why, "it did not pass"),
        field("text", &Verdict::text, "the program, of a failure"),
        field("shrunk", &Verdict::shrunk, "what is left of it and still fails"),
        field("exact", &Verdict::exact, "compared for equality"),
        field("worst", &Verdict::worst, "largest error in units of its limit"),
        field("elements", &Verdict::elements, "compared"),
        field("unasked", &Verdict::unasked, "of them without a limit"),
        field("refused_knobs", &Verdict::refused_knobs, "settings drawn that rules refuse"));
  }
};

constexpr double kMostRefused = 0.05;  // of a family's programs; more and the generator is not within its reach

// A table, then each failure with its program and the command that repeats it.
std::string summary(const std::vector<Verdict>& verdicts, uint64_t seed, const std::string& sizes);
Json to_report(const std::vector<Verdict>& verdicts, uint64_t seed, const std::string& device);
bool all_well(const std::vector<Verdict>& verdicts);

}  // namespace solstice::random_kernels
