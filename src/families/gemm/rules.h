// Legality of the family's own kernels (kernels/gemm, `backend=lean`) as data, for the checker, the
// settings that are searched, `solstice list rules` and docs/legality.md. Rules of tiles on the tensor cores are
// tensor_core/tile_rules.h's.
#pragma once

#include <vector>

#include "families/gemm/config.h"

namespace solstice::families::gemm {

const std::vector<Rule<GemmConfig>>& gemm_rules();

// The config of settings without written knobs.
GemmConfig unwritten_config(const Context& context, const Problem& problem, const Settings& settings);
bool is_legal(const Context& context, const Problem& problem, const Settings& settings);

// Takes the knobs in that only `backend=cutlass` has.
void set_written(const ir::Knobs& knobs, GemmConfig& config);

}  // namespace solstice::families::gemm
