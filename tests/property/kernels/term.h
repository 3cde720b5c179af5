// Expressions as text, with what is known of their values: how large they are, and whether a kernel that computes in
// fp32 gets them exactly, in whatever order it adds. Of exact terms a test may ask for equality, and only they are
// compared, rounded or cast: what rounding changes there would change a result by more than rounding.
#pragma once

#include <cstdint>
#include <string>

#include "property/kernels/random.h"

namespace solstice::random_kernels {

inline constexpr int kAnyStep = 200;     // `below` of what a format holds, whatever its exponent
inline constexpr int kSignificand = 24;  // of fp32, the least that kernels compute in
inline constexpr int kLargest = 12;      // `above` of terms that others are made of

struct Term {
  std::string text;
  bool exact = true;
  int above = 0;         // |value| < 2^above
  int below = 0;         // of exact terms: the value is a multiple of 2^-below
  bool integer = false;  // the language knows that it is one

  bool operator==(const Term&) const = default;
};

int bits_of(int64_t count);  // the least b with count <= 2^b

Term number(Random& random);                    // a multiple of 1/4
Term sum_of(Term a, const char* sign, Term b);  // "+", "-"
Term product_of(Term a, Term b);
Term extremum_of(const char* function, Term a, Term b);  // "max", "min"
Term choice_of(const std::string& condition, Term a, Term b);
Term negated(Term a);
Term clamped(Term a, int above);           // where it may be 2^above or more
Term repeated(Term a, int64_t count);      // what a sum of so many is known to be; the text stays
Term applied(Random& random, Term a);      // a function that does not jump
Term stepped(Random& random, Term exact);  // one that may: floor, sign, a cast ...

}  // namespace solstice::random_kernels
