// Cases in another GPU's memory: the oracle has its tensors on one, and a judge reads those of its own.
#pragma once

#include <vector>

#include "run/judge.h"

namespace solstice::run {

// Every tensor that a case points to, each address once: cases that share parameters go on sharing them.
std::vector<DeviceTensor> tensors_of(const std::vector<JudgeCase>& cases);

class CaseCopies {
 public:
  // From `from`'s GPU to `to`'s, which is current in this thread; done when it returns. `beside`: what has to stay free
  // there. Errors: too_large, with the figures; cuda_error.
  static Result<CaseCopies> make(const std::vector<JudgeCase>& cases, const Judge& from, const Judge& to, Bytes beside);
  // Valid while this object lives. Free it while `to` is current.
  const std::vector<JudgeCase>& cases() const { return cases_; }

 private:
  std::vector<DeviceBuffer> memory_;
  std::vector<JudgeCase> cases_;
};

}  // namespace solstice::run
