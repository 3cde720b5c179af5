#include "flow/run/state/options.h"

namespace solstice::flow {

std::string name_of_problem(const OptimizeOptions& options) {
  if (!options.module.name.empty()) return options.module.name;
  return options.module.file.empty() ? "module" : options.module.file.stem().string();
}

}  // namespace solstice::flow
