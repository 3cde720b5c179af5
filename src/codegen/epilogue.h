// The epilogue of a contraction: what a kernel's equations do with an accumulator, as C++ text for one output element.
//
// The caller names the contraction (a node of one equation, the anchor) and says which of its variables walk which of
// the anchor's free indices. Everything that does not depend on the accumulator goes to `load`, to be run early (its
// results are the fields of a struct `in`); the rest goes to `compute`. Both are straight-line statements over
//   - the caller's variables (int), which lie inside the problem;
//   - the pointers `names[i]` of type `const storage_type*` for reads[i];
//   - `in.NAME` for every field: `load` assigns them, `compute` reads them;
//   - `acc` (float), in `compute` only; of a second contraction `acc1`.
// They need math/special.h and math/vector.h and `using namespace solstice; using namespace solstice::math;`.
//
// Every output of the kernel must be a function of the accumulators at the same element, or, where the caller takes
// them
// (`terms`), of reductions over such elements along some of the contraction's indices, the same ones for all: a row's
// results. With `whole_rows`, an output may need both: then nothing but `stores` is written here, and the caller gets
// all equations (`whole`) to write the text of each of its sweeps over a row himself. Other equations that reduce over
// the contraction's result, or read it elsewhere, are an error (not_yet) that names the equation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/ctype.h"
#include "codegen/emitter.h"
#include "codegen/flatten.h"
#include "ir/program.h"

namespace solstice::codegen {

// One int variable of the caller and the anchor's free indices that are its digits, outermost first: {"m", {b, t}}
// means m = b * extent(t) + t. An index of extent 1 may be left out.
struct EpilogueVariable {
  std::string name;
  std::vector<int> indices;
};

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
  std::vector<int> canonical;         // indices of `flat`, beside the anchor's free ones
  std::vector<ir::ExprRef> elements;  // right sides of the other equations
  std::vector<int> reduced;           // the anchor's free indices that every reduction runs over
  std::vector<std::string> terms;     // the values that were asked for: float expressions, ready after `compute`
};

// Which values of an element the caller's reductions need: expressions over `canonical`.
using EpilogueTerms = std::function<Result<std::vector<ir::ExprRef>>(const EpilogueRows& rows)>;

struct EpilogueRequest {
  int equation = -1;  // the anchor's id in the program
  const ir::Expr* contraction = nullptr;
  std::vector<EpilogueVariable> variables;
  std::optional<SecondAnchor> second = std::nullopt;
  EpilogueTerms terms = {};
  bool whole_rows = false;  // elements may need their row's results
};

// A kernel whose elements need their row's results: all its equations, those of elements first over `canonical`.
struct WholeEpilogue {
  FlatKernel flat;
  int accumulator = -1;                  // the tensor that stands for the contraction
  std::vector<int> canonical;            // indices of `flat`, beside the anchor's free ones
  std::vector<int> reduced;              // the anchor's free indices that every reduction runs over
  std::vector<bool> of_rows;             // by equation: one value a row
  std::vector<std::vector<int>> digits;  // by variable: its canonical indices
};

struct EpilogueField {
  std::string type;  // "float"; "Divisor" for a divisor that was inverted ahead
  std::string name;
};

// Values that statements of `load` define and `wanted` uses.
std::vector<EpilogueField> fields_between(const std::string& load, const std::string& wanted);

struct EpilogueStore {
  int tensor = -1;
  std::string value;  // float (or wider) expression, ready after `compute`
  CType type = CType::kF32;
  // Element offset = base + sum of strides[i] * variables[i]; nothing where digits of one variable are not adjacent
  // in this tensor: then, and only then, `offset` is the expression to use.
  std::optional<std::vector<int64_t>> strides;
  int64_t base = 0;
  std::string offset;  // int or long long expression over the caller's variables, ready after `compute`
  std::string before;  // of a kernel that needs whole rows: statements that make it ready, in place of `compute`
};

// Where the accumulator is used at all: base + sum of coefficients[i] * variables[i] >= 0 (a triangle of a product, of
// which the rest is masked).
struct EpilogueDomain {
  std::vector<int64_t> coefficients;
  int64_t base = 0;
};

struct EpilogueCode {
  bool dual = false;                     // `compute` reads `acc1` too
  std::optional<EpilogueDomain> domain;  // nothing: everywhere
  std::vector<int> reads;
  std::vector<std::string> names;  // of the pointers, beside `reads`
  std::vector<EpilogueField> fields;
  std::string load;
  std::string compute;
  std::vector<EpilogueStore> stores;
  std::optional<EpilogueRows> rows;
  std::optional<WholeEpilogue> whole;
};

// Binds the digits of a variable, which the caller has at `depth`, to their values. The index that it steps where it is
// one loop; -1 where it has one value, -2 where it is several.
int bind_variable(Emitter& emitter, const ir::Program& program, const FlatKernel& flat, const std::string& name,
                  const std::vector<int>& digits, int depth);

Result<EpilogueCode> emit_epilogue(const ir::Program& program, const ir::Kernel& kernel,
                                   const EpilogueRequest& request);

}  // namespace solstice::codegen
