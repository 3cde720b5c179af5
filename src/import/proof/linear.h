// Integer expressions as sums over the indices of one equation, and their ranges.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ir/integers/linear.h"
#include "ir/program.h"

namespace solstice::importer {

using ir::Linear;  // over index ids

bool is_constant(const Linear& value);
bool is_same(const Linear& a, const Linear& b);
// What the indices of an equation are, by id; nothing where one is not known.
using Binding = std::map<int, Linear>;

// Nothing where the expression is no such sum, where a number does not fit, or where an index of it is not bound.
std::optional<Linear> linear_of(const ir::ExprRef& e, const Binding& bound);
// A number that is written out; nothing where something is read, or an index varies.
std::optional<double> number_of(const ir::ExprRef& e, const Binding& bound);
// Every value lies in [low, high], with the extents of `indices`.
bool is_within(const Linear& value, const std::vector<ir::Index>& indices, int64_t low, int64_t high);
// No value does.
bool is_beyond(const Linear& value, const std::vector<ir::Index>& indices, int64_t low, int64_t high);
// Indices of `equation` at which its left side is at `place`; `indices` are those of the place. Nothing where it is not
// for all of them.
std::optional<Binding> solve(const ir::Equation& equation, const std::vector<Linear>& place,
                             const std::vector<ir::Index>& indices);

}  // namespace solstice::importer
