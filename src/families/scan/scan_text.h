// The scans of a kernel as text: what each accumulates, and the thread's accumulators of a tile, `s0[u][lane]` and on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/emitter.h"
#include "families/scan/shape.h"

namespace solstice::families::scan {

struct Scan {
  std::string op, type;     // "reduction::Sum", "float"
  std::string_view member;  // of an accumulator: what the equations see
  codegen::CType value_type;
  int64_t bytes = 4;  // of an accumulator
  std::string term, test;
  int equation = -1;  // of the program, that it stands in; -1: not known
};

// Writes a prefix's term, and the test if it has one, where the emitter stands.
Result<Scan> scan_text(codegen::Emitter& emitter, const Prefix& prefix);

// In the order of `scans`: declarations, and of one vector the values before its elements are known.
std::string accumulators_text(const std::vector<Scan>& scans, const Shape& shape);
std::string starts_text(const std::vector<Scan>& scans, const Shape& shape);

}  // namespace solstice::families::scan
