// The stores of a nest: each output's vectors, or its elements one by one.
#pragma once

#include <string>
#include <vector>

#include "families/elementwise/draft.h"

namespace solstice::families::elementwise {

struct NestStore {
  const codegen::FlatEquation& equation;
  std::string name;    // "y0": of the vector
  std::string offset;  // of a vector store; "": elements are stored one by one
  std::string test;    // of a vector store: "" or "if (...) "
};

// The vector's loops are bound, its lanes are not.
Result<std::vector<NestStore>> nest_stores(Draft& draft);
std::string declaration(const Draft& draft, const NestStore& store);
// Computes one lane, and stores it where elements go one by one.
Result<std::string> lane_text(Draft& draft, const NestStore& store);
std::string vector_store(const Draft& draft, const NestStore& store);

}  // namespace solstice::families::elementwise
