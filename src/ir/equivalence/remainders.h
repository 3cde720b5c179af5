// Divisions of dims that leave no remainder: a program that cuts a dim in four by `dim L = K//4` is right where 4
// divides K, and other dims would make it another program.
#pragma once

#include <map>
#include <string>

#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

// Every `//` of dims that leaves no remainder in `real` leaves none in `small`, which is the same program bound
// at other dims. Divisions by 0, and of what are no dims alone, are passed over.
bool divides_alike(const lang::Program& text, const Program& real, const Program& small);

}  // namespace solstice::ir
