// Random syntax trees: everything the grammar allows, whether it means anything or not.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "lang/tree.h"

namespace solstice::lang::testing {

class RandomTree {
 public:
  explicit RandomTree(uint64_t seed) : random_(seed) {}

  Program program();
  ExprRef expression(int depth) { return value(depth); }

 private:
  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  bool coin(int one_in = 2) { return below(one_in) == 0; }
  template <typename T, size_t N>
  T pick(const T (&list)[N]) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(N)))];
  }

  std::string word();
  std::string any_word();  // reserved ones too: knobs have such names
  std::vector<std::string> words(int64_t most);
  std::string dtype();
  std::string reducer();
  std::vector<std::string> comments();
  ExprRef value(int depth);
  ExprRef arith(int depth);
  ExprRef condition(int depth);
  std::vector<ExprRef> ariths(int depth, int64_t most);
  std::vector<ExprRef> some_ariths(int depth);
  Range range(bool extent);
  Type type();
  Formal formal();
  KnobValue knob_value(int depth);
  Knob knob(int depth);
  std::vector<Knob> knobs();
  Equation equation();
  Node decl();
  Node opaque();
  Node call();
  Node dims();
  Node clause();
  Node source();
  Node def();
  Node inner_node();
  std::vector<Item> items(int count, bool in_kernel);
  Item item(Node node);

  std::mt19937_64 random_;
};

}  // namespace solstice::lang::testing
