// What a path says of a file before its text is asked: code for this architecture ranks before code for others, headers
// before the tests and tools around them, unless the question names what it wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::codesearch {

class Priors {
 public:
  explicit Priors(std::string_view question);
  double of(std::string_view path) const;  // a factor of its score

 private:
  std::vector<int> architectures_;  // that the question names: 100 of sm100 or Blackwell
};

}  // namespace solstice::codesearch
