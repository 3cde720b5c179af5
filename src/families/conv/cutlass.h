// CUTLASS's convolutions as a front end must know them: those for sm_90a (collective builders of conv), and the 2.x
// kernels for the problems that those refuse. docs/legality.md lists the rules.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "families/rule.h"
#include "families/tensor_core/collective_epilogue.h"
#include "ir/program.h"

namespace solstice::families::conv {

enum class Direction { kForward, kDataGradient, kWeightGradient };  // a transposed convolution is a data gradient
enum class Generation { kSm90, kSm80 };                             // copy engine and wgmma; or cp.async and mma.sync

struct CutlassConv {
  // The problem.
  Direction direction = Direction::kForward;
  DType dtype = DType::kF16;
  int rank = 2;                                     // dimensions of the image
  int64_t groups = 1, channels = 64, filters = 64;  // of all groups
  int64_t stride = 1, dilation = 1;                 // the largest of all dimensions
  int64_t pad = 0, extent = 3;                      // of the filter, the largest of all dimensions
  int64_t largest_bytes = 0;                        // of the tensors
  tensor_core::CollectiveEpilogue epilogue = {DType::kF16};
  // The knobs.
  Generation generation = Generation::kSm90;
  int tile_m = 128, tile_n = 128, tile_k = 64;
  int cluster_m = 1, cluster_n = 1, cluster_k = 1;
  int stages = 0;  // 0: as many as fit

  std::vector<std::pair<std::string, std::string>> knobs() const;
  static std::vector<KnobAxis<CutlassConv>> axes();           // their legal values, for the search of the nearest ones
  int accumulators() const { return tile_m * tile_n / 128; }  // registers a thread: one warpgroup has the whole tile
  int k_instruction() const { return 32 / size_of(dtype); }
  int64_t stage_bytes() const;
  int64_t epilogue_bytes() const;
  bool is_depthwise() const { return groups > 1 && groups == channels; }
};

const std::vector<Rule<CutlassConv>>& cutlass_rules();

// A kernel with `backend=cutlass`. Where its equations are no convolution that is read here (convolution.h), its knobs
// with a usual problem.
CutlassConv cutlass_config(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::families::conv
