// Input of emit_epilogue(): the contraction, the caller's variables, and how much of a row its kernel has.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/flatten.h"
#include "codegen/variables.h"
#include "ir/program.h"

namespace solstice::codegen {

// A second anchor: by variable, its equation's free indices that walk like the first's.
struct SecondAnchor {
  int equation = -1;
  const ir::Expr* contraction = nullptr;
  std::vector<std::vector<int>> indices;
};

// Equations of rows' results. In `flat`, whose equations are these alone, the contraction is a read of a tensor that
// the program does not have.
struct EpilogueRows {
  FlatKernel flat;
  std::vector<int> canonical;         // indices of `flat`, in the order of the anchor's free ones
  std::vector<ir::ExprRef> elements;  // right sides of the other equations
  std::vector<int> reduced;           // the anchor's free indices that every reduction runs over
  std::vector<std::string> terms;     // the values that were asked for: float expressions, ready after `compute`
};

// The values of an element that the caller's reductions need: expressions over `canonical`.
using EpilogueTerms = std::function<Result<std::vector<ir::ExprRef>>(const EpilogueRows& rows)>;

struct EpilogueRequest {
  int equation = -1;  // the anchor's id in the program
  const ir::Expr* contraction = nullptr;
  std::vector<IndexVariable> variables;
  std::optional<SecondAnchor> second = std::nullopt;
  EpilogueTerms terms = {};
  bool row_resident = false;  // elements may need their row's results
};

}  // namespace solstice::codegen
