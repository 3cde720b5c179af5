// Elements of a product that need their row's results (softmax, layer norm, RMS norm after a product), in the kernel
// that multiplies. A cluster of blocks along N, or one block, has whole rows in its accumulators and goes over them in
// sweeps, as a kernel of family rows does: each sweep but the last finds reductions whose terms need results of sweeps
// before it alone (kernels/epilogue/row_resident.h: in the tile, then exchanged between the blocks), the last one gives
// the stored values. One value may be all that later sweeps need of an accumulator (x of a layer norm, exp(x - max) of
// a softmax): it takes its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/epilogue.h"
#include "families/tensor_core/row_shape.h"

namespace solstice::families::tensor_core {

inline constexpr int kMostRowBlocks = 8;  // of a cluster that has whole rows
// Partial results of a sweep times the blocks of an exchange (kernels/epilogue/row_resident.h).
inline constexpr int kMostExchanged = 15;

// Text of one sweep: statements over `batch`, `m` and the results before, once a row; then over `n`, and over `acc`,
// once an element. Loads that do not need the accumulator go ahead.
struct ResidentSweep {
  std::vector<reduction::Reduction> reductions;
  std::string row, load, element;
  std::vector<codegen::Field> fields;  // of `load` that the others use
  std::vector<std::string> values;     // reduced, or stored
  std::string kept;                    // takes the accumulator's place; empty: nothing does
};

struct RowResident {
  reduction::Shape shape;
  std::vector<ResidentSweep> sweeps;  // the last one stores
  std::string row_stores;             // of results with one value a row: statements over `batch`, `m` and all results
  std::vector<int> reads, row_writes;
  std::vector<std::string> names, row_names;  // of their pointers
  size_t reduction_count() const;
  size_t most_at_once() const;  // reductions of a sweep, which are exchanged together
};

// Errors: not_yet, naming the reduction that has no such form.
Result<RowResident> row_resident(const ir::Program& program, const Product& c,
                                 const codegen::ResidentEpilogue& epilogue);

// The members of the epilogue's functor that kernels/epilogue/row_resident.h asks for.
std::string resident_text(const Product& c, const RowResident& rows);

}  // namespace solstice::families::tensor_core
