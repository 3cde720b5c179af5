// The sweeps a rows kernel makes over its row. Sweep p evaluates the bodies of all reductions whose own bodies need
// only reductions of sweeps before p; the last one evaluates what is stored along the row. Between sweeps each thread
// keeps some values of its elements; which ones is decided here:
//   - what is read from memory once a row (the row's data), if a later sweep needs it;
//   - what was expensive to compute (exp, division, ...) and is needed again.
// Everything else is computed again.
#pragma once

#include <map>
#include <vector>

#include "families/reduction/shape.h"

namespace solstice::families::reduction {

struct Sweep {
  std::vector<ir::ExprRef> reductions;  // in order of first occurrence; empty in the storing sweep
  std::vector<int> stores;              // positions in Shape::flat.equations: outputs along the row
  std::vector<ir::ExprRef> keeps;       // values that this sweep evaluates and later sweeps use
  std::vector<ir::ExprRef> uses;        // kept values of earlier sweeps that this one uses
  std::vector<ir::ExprRef> reads;       // the row's data that this one loads
};

struct Phases {
  std::vector<Sweep> sweeps;
  std::vector<int> row_outputs;  // equations with one value a row
  size_t resident_at_once = 0;   // most values a thread keeps for an element between two sweeps
};

// True if it holds an operation that is worth keeping (exp, division, ...).
bool is_costly(const ir::ExprRef& e);

// Reads of one element a row that need no reduction. They are started ahead: after the last reduction nothing hides
// the time that they take.
struct EarlyReads {
  std::vector<ir::ExprRef> direct;   // at places that follow from the row's number: ahead of the row's data
  std::vector<ir::ExprRef> gathers;  // at places that are read themselves: after the loads of the row's data
};
EarlyReads early_reads_of(const Shape& shape);

// Reads of the stores along the row outside reductions. Each once.
std::vector<ir::ExprRef> reads_of_stores(const Shape& shape, const Phases& phases);

// keep_values = false: nothing is kept, every sweep reads its data again.
Phases phases_of(const Shape& shape, bool keep_values);

}  // namespace solstice::families::reduction
