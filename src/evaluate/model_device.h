// The model device: what can be found out about a candidate without a GPU. Equations are checked, generated code is
// compiled where a compiler is there, time is predicted by the families' cost models. Its results say `predicted`.
#pragma once

#include <map>
#include <optional>

#include "evaluate/build.h"
#include "evaluate/candidate.h"
#include "search/search.h"

namespace solstice::evaluate {

class ModelDevice : public search::Evaluator {
 public:
  // `compiler` may be null: then nothing is compiled, and the records say so.
  ModelDevice(const ir::Program& problem, Setting setting, toolchain::Compiler* compiler);
  void start(const search::Node& node) override;
  Result<search::Measurement> finish(const search::Node& node) override;

 private:
  struct Pending {
    Checked checked;
    std::optional<Error> refused;
    std::optional<PendingBuild> build;
  };

  const ir::Program& problem_;
  Setting setting_;
  toolchain::Compiler* compiler_;
  std::map<int, Pending> pending_;
};

}  // namespace solstice::evaluate
