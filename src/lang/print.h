// Tree to text, in one canonical form: parse(print(tree)) is the tree again, comments included.
#pragma once

#include <string>

#include "lang/tree.h"

namespace solstice::lang {

std::string print(const Program& program);
std::string print(const Item& item);  // one item, with its comments and a newline at its end
std::string print(const ExprRef& expression);
std::string print_tight(const ExprRef& expression);  // as it stands in an index: `2*p+r-1`
std::string print(const std::vector<Knob>& knobs);
std::string print(const KnobValue& value);
std::string_view symbol_of(BinaryOp op);   // "+"
std::string_view symbol_of(CompareOp op);  // "<="

}  // namespace solstice::lang
