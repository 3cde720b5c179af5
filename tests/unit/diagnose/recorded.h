// Facts that are kept with the tests: of the corpus of sick kernels, and one by hand that has every part.
#pragma once

#include <string>
#include <vector>

#include "record/diagnosis/facts.h"

namespace solstice::diagnose::testing {

struct Recorded {
  std::string name;
  Json json;
  Facts facts;
};

// In the order of their names; packed ones too. A file that cannot be read is a failure of the test.
const std::vector<Recorded>& recorded_facts();

}  // namespace solstice::diagnose::testing
