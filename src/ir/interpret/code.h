// One equation as a register program (private to src/ir/interpret).
//
// A frame is a set of points evaluated together, its lanes. Frame 0 runs over the free indices; a reduction
// runs a frame of its own over its bound indices, whose lanes each belong to a lane of the parent. An
// instruction fills one register (a value for each lane) of its frame; a value that does not depend on a
// frame's indices is computed in the parent and imported. A mask register says for which lanes a value is
// wanted: only there out-of-range reads are errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/condition.h"
#include "ir/program.h"

namespace solstice::ir {

// constant + imported integer register + sum of coefficient * the frame's own indices.
struct Address {
  int64_t constant = 0;
  int imported = -1;                         // integer register of this frame
  std::vector<std::pair<int, int64_t>> own;  // position among the frame's indices
};

struct BoundCheck {
  Address address;  // of an affine index, or
  int value = -1;   // the register of a computed one
  int64_t extent = 0;
};

struct Gathered {
  int value = -1;  // register of a computed index
  int64_t stride = 1;
};

// One comparison that bounds the index of a reduction; its `rest` stands in terms of the frame around.
struct Bound {
  IndexBound form;
  Address rest;
  int branch = -1;
};

struct Instruction {
  Op op = Op::kReal;
  int out = -1;
  std::vector<int> args;      // registers
  double literal = 0;         // kReal, kInt, kBool; the `else` of a read if `otherwise` is -1
  int own_index = -1;         // kIndex: position among the frame's indices
  DType dtype = DType::kF32;  // kCast
  int mask = -1;              // register; -1: all lanes
  bool checked = false;       // kFloorDiv, kMod: the divisor may be 0
  bool inexact = false;       // integers may lie beyond what a double counts exactly
  // kRead
  int tensor = -1;
  Address address;
  std::vector<Gathered> gathered;
  std::vector<BoundCheck> checks;
  bool has_else = false;
  int otherwise = -1;  // register
  // kReduce, kRank
  Reducer reducer = Reducer::kSum;
  int body_frame = -1;
  int body = -1;  // register of the body frame
  int where_frame = -1;
  bool bounded = false;  // the body's one index runs over what `bounds` leave of its extent
  std::vector<Bound> bounds;
  bool one_body = false;  // the values reduced do not depend on the innermost index of frame 0, which is the parent
  int where = -1;         // register of the where frame
  int rank = -1;          // register
  std::vector<int> key;   // kRank: index ids that the ranked values depend on
  Span span;
  int branch = -1;  // in the routine's list
};

struct Import {
  int from = -1;  // register of the parent frame
  int to = -1;    // register of this frame
};

// An integer register: an address in terms of the frame's own indices and of what it imports.
struct AddressRegister {
  Address address;
  int out = -1;
};

struct Frame {
  int parent = -1;
  std::vector<int> indices;  // ids in the equation
  std::vector<int64_t> extents;
  std::vector<Import> imports;
  std::vector<Import> integer_imports;
  std::vector<AddressRegister> addresses;
  std::vector<Instruction> code;
  bool by_rows = false;  // memory is read in order if the lanes of the parent are run one after the other
  int registers = 0;
  int integer_registers = 0;
};

// State that a running sum, product or extremum carries along its rows.
struct Carry {
  Op op = Op::kAdd;
  double start = 0;
};

struct Branch {
  std::string text;
  bool on_large = false;  // an integer beyond 2^31 that the equation writes decides
};

struct Routine {
  std::vector<Frame> frames;
  int target = -1;
  Address store;                 // in frame 0
  int result = -1;               // register of frame 0
  std::optional<Carry> carry;    // the target's elements are those of `result` combined with the one before in the row
  int step_position = -1;        // of the step among frame 0's indices
  std::string text;              // of the equation, for errors
  std::vector<Branch> branches;  // where coverage is wanted
};

}  // namespace solstice::ir
