// The model device: what can be found out about a candidate without a GPU. Its text is checked, generated code is
// compiled where a compiler is there, time is predicted by the families' cost models. Its results say `predicted` and
// are never mixed with measured ones.
#pragma once

#include <map>

#include "evaluate/findings/diagnosis.h"
#include "evaluate/preparation.h"
#include "search/search.h"

namespace solstice::evaluate {

class ModelDevice : public search::InOrder {
 public:
  // `compiler` may be null: then nothing is compiled. `bounds`, which outlive it, may be null too.
  ModelDevice(Setting setting, toolchain::Compiler* compiler, DiagnosisOptions diagnosis = {},
              const sol::SolReport* bounds = nullptr)
      : setting_(std::move(setting)), compiler_(compiler), diagnosis_(diagnosis), bounds_(bounds) {}

 protected:
  void begin(const search::Node& node) override;
  Result<search::Measurement> finish(int node) override;

 private:
  void diagnose(const Preparation& candidate, search::Measurement& out) const;

  Setting setting_;
  toolchain::Compiler* compiler_;
  DiagnosisOptions diagnosis_;
  const sol::SolReport* bounds_;
  std::map<int, Preparation> pending_;
};

}  // namespace solstice::evaluate
