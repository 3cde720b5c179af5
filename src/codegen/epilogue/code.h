// Output of emit_epilogue(): statements, the fields that `load` hands to `compute`, and the stores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/ctype.h"
#include "codegen/epilogue/request.h"
#include "codegen/flatten.h"
#include "codegen/text/statement.h"

namespace solstice::codegen {

// A kernel whose elements need their row's results: all its equations, those of elements first over `canonical`.
struct ResidentEpilogue {
  FlatKernel flat;
  int accumulator = -1;                  // the tensor that stands for the contraction
  std::vector<int> canonical;            // indices of `flat`, in the order of the anchor's free ones
  std::vector<int> reduced;              // the anchor's free indices that every reduction runs over
  std::vector<bool> of_rows;             // by equation: one value a row
  std::vector<std::vector<int>> digits;  // by variable: its canonical indices
};

struct EpilogueStore {
  int tensor = -1;
  int equation = -1;  // of the program, that defines it
  std::string value;  // float (or wider) expression, ready after `compute`
  CType type = CType::kF32;
  // Element offset = base + sum of strides[i] * variables[i]; nothing where digits of one variable are not adjacent
  // in this tensor: then, and only then, `offset` is the expression to use.
  std::optional<std::vector<int64_t>> strides;
  int64_t base = 0;
  std::string offset;  // int or long long expression over the caller's variables, ready after `compute`
  std::string before;  // of a kernel that needs whole rows: statements that make it ready, in place of `compute`
};

// Elements whose accumulator is used at all: base + sum of coefficients[i] * variables[i] >= 0 (the triangle of a
// product whose other half is masked).
struct EpilogueDomain {
  std::vector<int64_t> coefficients;
  int64_t base = 0;
};

struct EpilogueCode {
  bool dual = false;                     // `compute` reads `acc1` too
  std::optional<EpilogueDomain> domain;  // nothing: everywhere
  std::vector<int> reads;
  std::vector<std::string> names;  // of the pointers, by read
  std::vector<Field> fields;
  std::string load;
  std::string compute;
  std::vector<EpilogueStore> stores;
  std::optional<EpilogueRows> rows;
  std::optional<ResidentEpilogue> whole;
};

}  // namespace solstice::codegen
