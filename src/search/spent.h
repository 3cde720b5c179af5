// Costs of a search's trials, in the currencies that budgets are counted in.
#pragma once

#include <tuple>
#include <vector>

#include "record/fields.h"

namespace solstice::search {

enum class Currency { kTrials, kSeconds, kTokens };
std::vector<const char*> enum_names(Currency);

// Of trials that came in; each measurement counts, a repeated one too.
struct Spent {
  double trials = 0;
  double seconds = 0;  // of the trials' own wall time
  double tokens = 0;   // that their proposals took, and those which were not tried in between

  double in(Currency currency) const {
    return currency == Currency::kTrials ? trials : currency == Currency::kSeconds ? seconds : tokens;
  }
  Spent& operator+=(const Spent& o) {
    trials += o.trials, seconds += o.seconds, tokens += o.tokens;
    return *this;
  }
  friend Spent operator-(Spent a, const Spent& b) {
    return {a.trials - b.trials, a.seconds - b.seconds, a.tokens - b.tokens};
  }
  static auto fields() {
    return std::make_tuple(field("trials", &Spent::trials, "measurements that came in"),
                           field("seconds", &Spent::seconds, "wall time of these trials"),
                           field("tokens", &Spent::tokens, "that their proposals took"));
  }
};

}  // namespace solstice::search
