// Programs with one small mistake each: what a person or a model could have typed instead.
#pragma once

#include <functional>
#include <string>

#include "lang/tree.h"

namespace solstice::lang::testing {

// `kind` names the mistake ("dropped else"), `line` is the changed item as printed.
using EachMutant = std::function<void(const std::string& kind, const std::string& line, const Program& mutant)>;

// Every mutant of the program's equations, views, assumptions, functions, calls and derived dims. Declarations and
// knobs are left alone: they are the interface, or change no meaning.
void each_mutant(const Program& program, const EachMutant& each);

}  // namespace solstice::lang::testing
