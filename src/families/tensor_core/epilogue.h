// Epilogue of a product on the tensor cores: the equations of a kernel that use an accumulator, the reductions along
// the product's rows that they ask for, and the ways in which their results may be stored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/epilogue.h"
#include "families/tensor_core/row_resident.h"
#include "families/tensor_core/row_results.h"

namespace solstice::families::tensor_core {

struct Epilogue {
  codegen::EpilogueCode code;
  std::optional<RowResults> rows;       // reductions along N, of parts of rows
  std::optional<RowResident> resident;  // elements need reductions along N; `rows` is none then
  double instructions = 0;              // of an element, estimated

  bool reduces() const { return rows || resident; }
  // So many instructions of an element that a loop over them costs less than their text for every element: measured,
  // docs/gemm.md.
  bool is_long() const { return instructions >= (resident ? 32 : 16); }
};

// Limits of the kernel that takes the epilogue, in words for the diagnostics; empty: none.
struct EpilogueScope {
  std::optional<codegen::SecondAnchor> second;  // another sum of the same elements
  std::string_view unreduced;     // the product whose rows its kernel does not reduce: "a grouped product"
  std::string_view not_resident;  // why elements cannot need their row's results
  double instructions = 0;        // of an element whose row is not reduced: instructions_after()
};

// Errors: not_yet, naming the equation that asks for more. `turned`: reductions run along M, so that nothing is written
// here before operands are exchanged.
Result<Epilogue> epilogue_of(const ir::Program& program, const ir::Kernel& kernel, const Product& product,
                             const EpilogueScope& scope, bool& turned);

// Instructions per element, without those that vary with a summed index.
Result<double> instructions_after(const ir::Program& program, const ir::Kernel& kernel);

// Errors: not_yet, naming an output of a format that no epilogue stores.
Status require_outputs(const ir::Program& program, const Epilogue& epilogue);

// Columns of the result lie contiguously, not rows.
bool is_stored_by_columns(const Product& product, const Epilogue& epilogue);

// Products are needed in a half-plane of the result alone, the same in every batch: tiles outside it are only written.
bool is_triangular(const Product& product, const Epilogue& epilogue);

// The copy engine can write output 0: one stride a variable, N contiguous, 16-byte aligned rows and batches.
bool stores_by_copy_engine(const ir::Program& program, const Product& product, const Epilogue& epilogue);

}  // namespace solstice::families::tensor_core
