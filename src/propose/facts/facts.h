// Facts that a search finds about single moves, for searches of other problems (search/memory.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/knobs.h"
#include "machine/machine.h"
#include "record/fact.h"
#include "search/tree.h"

namespace solstice::propose {

// A kernel of a candidate: what it computes, how it is run, and its time by the cost models (0: they have none).
struct Piece {
  Structure structure;
  std::string setting;
  Seconds cost{0};
};

// The kernels of a candidate's text, in order; nothing where it is no legal program.
using Pieces = std::function<std::optional<std::vector<Piece>>(const std::string& program)>;
Pieces pieces_on(const machine::Machine& machine);  // which outlives it

// "rows(threads=256)", with "t" where a knob names a tensor.
std::string setting_text(const std::string& family, ir::Knobs knobs);

// The name of a cut into pieces, as against "whole": "apart(contraction: f32 | sum: f32)".
std::string apart(std::vector<std::string> kinds);
inline constexpr const char* kInOne = "whole";

// There was no room for it on the GPU, which may be due to what else was there: it says nothing of the move.
bool lacked_room(const search::Measurement& measurement);

// Of each trial that differs from what it was derived from in one thing: the setting of one kernel, or of several of
// one kind that made the same change; two kernels made one, or one taken apart in two. Its parent was measured; it was
// measured too, or failed. Predicted times say nothing. `run`, `at` and `machine` are left to the caller.
std::vector<Fact> facts_of(const search::Tree& tree, const Pieces& pieces);

}  // namespace solstice::propose
