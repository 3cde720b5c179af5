// Terms of the cost of a product that do not depend on how its operands reach the SMs.
#pragma once

#include <string>

#include "families/family.h"
#include "families/tensor_core/epilogue.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::tensor_core {

// Seconds: launches and the fixed cost, then passes over operands, then the longer of the other two.
struct CostTerms {
  double launch = 0, split = 0, compute = 0, memory = 0;
};
// `form`: of the kernel, for the report ("tiles").
Cost cost_of(const Product& product, const TileConfig& config, const CostTerms& terms, double traffic,
             std::string_view form);

// Time of the launch that folds the parts of rows; 0 without it.
double fold_time(const machine::Machine& machine, const Epilogue& epilogue);

double result_bytes(const ir::Program& program, const Product& product, const Epilogue& epilogue);

}  // namespace solstice::families::tensor_core
