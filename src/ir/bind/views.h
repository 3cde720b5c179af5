// Index arithmetic of views: from the element of a view that is read to the indices of the piece that holds
// it.
#pragma once

#include <map>
#include <vector>

#include "ir/bind/scope.h"

namespace solstice::ir {

struct SolvedPiece {
  std::map<int, ExprRef> indices;  // of the piece, by id
  ExprRef condition;               // under which the piece holds the element; null: always
};

// `at` is the element read. The left side is a mixed radix in every dimension (checked where the view is
// defined).
SolvedPiece solve_piece(const ViewPiece& piece, const std::vector<int64_t>& shape, const std::vector<ExprRef>& at);

// Size of an expression's tree: shared parts count once a use.
struct Size {
  int64_t nodes = 0;
  int height = 0;
};

// The size of `e` with indices replaced by expressions.
Size size_of(const ExprRef& e, const std::map<int, ExprRef>& indices);

// The condition that every index lies in its dimension; null if nothing can be outside.
ExprRef within(const std::vector<int64_t>& shape, const std::vector<ExprRef>& at);

}  // namespace solstice::ir
