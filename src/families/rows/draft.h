// A rows kernel while it is written: what it is written from, and what all its parts ask.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "codegen/access.h"
#include "codegen/emitter.h"
#include "families/reduction/phases.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

struct Draft {
  Draft(const ir::Program& program, Shape& shape, const Settings& settings);
  Draft(const Draft&) = delete;

  const ir::Program& program;
  Shape& shape;
  const Settings& settings;
  Phases phases;
  int64_t steps;  // vectors of a row that one thread takes
  codegen::Emitter emitter;
  std::map<const ir::Expr*, codegen::Access> reads;
  std::map<int, codegen::Access> writes;  // by equation

  const codegen::FlatEquation& equation(int k) const { return shape.flat.equations[static_cast<size_t>(k)]; }
  // Writes the loads of reads at the place that is being written; what uses the values later finds them known.
  Status read_now(const std::vector<ir::ExprRef>& wanted);
  // True if the read moves one aligned vector of the row.
  bool streams(const ir::ExprRef& read) const;
  std::string_view storage(int tensor) const { return codegen::storage_type(*program.tensor(tensor).dtype); }
  std::string vector_type(std::string_view element) const;  // "Vec<float, 4>"
};

// The loops of a sweep that are open while its values are written, and the depths of their scopes.
struct SweepScope {
  const Sweep& sweep;
  int vectors, lanes;
  codegen::Binding base;  // of the innermost column index, for the vector's first lane
};

// Statements of a sweep for one vector: before its lanes, for each lane, after them.
struct VectorText {
  std::string before, lanes, after;
};

}  // namespace solstice::families::rows
