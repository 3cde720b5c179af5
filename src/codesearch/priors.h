// What a path says of a file before its text is asked: code for this architecture ranks before code for others, headers
// before the tests and tools around them, unless the question names what it wants.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codesearch/question.h"

namespace solstice::codesearch {

class Priors {
 public:
  Priors(std::string_view text, const Question& question);
  double of(std::string_view path) const;  // a factor of its score
  // A factor for a name that says what was asked for and nothing else: of two kernels the plain one, unless the
  // question has the other's words.
  double plainness(std::string_view path, std::string_view title) const;

 private:
  double share_asked(std::string_view name) const;
  std::set<std::string> words_;     // of the question and what stands for them
  std::vector<int> architectures_;  // that the question names: 100 of sm100 or Blackwell
};

}  // namespace solstice::codesearch
