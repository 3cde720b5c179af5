// Advice of memory of other problems (search/memory.h) on the moves of a formulation. It orders them; it takes none
// away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "propose/formulation/formulation.h"
#include "propose/moves/moves.h"
#include "search/memory.h"

namespace solstice::propose {

// Empty where there is no memory (null), or none of kernels like these.
Worth worth_of(const Formulation& formulation, const search::Memory* memory);

// Of each kernel the option that memory expects most of; nothing where these are the cost models' choice.
std::optional<Choice> preferred(const Formulation& formulation, const Worth& worth);

// log2 of what the whole program is expected to gain, and what of that the cost models do not say; 0 without memory.
double expected_gain(const Formulation& formulation, const Worth& worth, const Choice& from, const Choice& to);
double beyond_models(const Formulation& formulation, const Worth& worth, const Choice& from, const Choice& to);

// ", expected 4 % faster by 7 facts of 3 kernels like it"; "" where memory never met it.
std::string advice_text(const Formulation& formulation, const search::Memory* memory, const Move& move);
std::string share_text(double gain);  // "4 % faster"

// Their costs as far as memory knows better, the cheapest first; Recut::remembered says where it does.
void correct_by_memory(std::vector<Recut>& cuts, const Formulation& from, const search::Memory* memory);

}  // namespace solstice::propose
