// Which registers hold the address of the parameters at one place of machine code (parameter_window.h).
//
// The compiler writes registers under guards and reads them under the same guards, or lets all lanes of a warp agree
// first: it elects a lane, moves its values to uniform registers under that guard, and goes on while a lane is left.
// So the state also has what is sure where a predicate has a value. Everything else joins to "may hold".
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "toolchain/machine_code.h"

namespace solstice::evaluate {

// Of an address of 64 bits in two registers, with what was added to it.
enum class Half : uint8_t { kNone, kLow, kHigh, kMixed };  // mixed: one or the other, by the way that was taken

// What is written to a register.
struct Written {
  int to = -1;
  Half half = Half::kNone;
  bool surely = true;          // where the instruction runs, nothing is left of what was there
  std::vector<int> from = {};  // registers whose halves it takes over; none: it holds the half wherever it runs
};

class WindowState {
 public:
  // A place that nothing has led to yet: any join changes it.
  WindowState();

  bool any() const { return held_[0].any() || held_[1].any(); }
  Half at(int held) const;
  // The same for an instruction that runs where its guard holds.
  Half at(int held, const toolchain::MachineInstruction& under) const;
  void write(const Written& written, const toolchain::MachineInstruction& of);

  // Its guard is known on a way: where it holds, or where it does not.
  void know_guard(const toolchain::MachineInstruction& of, bool holds);
  // It is true in some lane of those that go this way.
  void know_somewhere(const toolchain::MachineInstruction& of);
  // Lanes of a warp part: what was sure of some lane no longer is.
  void part();
  // Nothing is sure of any predicate: a place that unknown code leads to.
  void forget();

  // Where the lanes meet that a barrier gathers: an index, kNotSet or kSeveral.
  static constexpr int kNotSet = -1, kSeveral = -2;
  int meeting(int barrier) const { return meeting_[static_cast<size_t>(barrier)]; }
  void set_meeting(int barrier, int index) { meeting_[static_cast<size_t>(barrier)] = index; }

  // True where that changed it.
  bool join(const WindowState& other);

 private:
  static constexpr size_t kHalves = 2, kPredicates = 16, kBarriers = 16;  // predicates: 8 of threads, 8 of warps
  using Registers = toolchain::MachineRegisters;
  using ByValue = std::array<Registers, 2>;  // where a predicate is false, where it is true

  bool stays(size_t half, const Written& written, const toolchain::MachineInstruction& of) const;
  void write_half(size_t half, bool holds, const Written& written, const toolchain::MachineInstruction& of);
  bool is_overwritten(const Written& written, const toolchain::MachineInstruction& of, size_t p, size_t v) const;
  void learn(int predicate, const toolchain::MachineInstruction& of);
  void void_all(size_t p);
  void learn_guarded(size_t p, const toolchain::MachineInstruction& of, const WindowState& before);
  void learn_copy(size_t p, size_t of, bool inverted);
  void learn_vote(size_t p, const toolchain::MachineInstruction& of);
  void learn_somewhere(size_t p, const toolchain::MachineInstruction& of);

  std::array<Registers, kHalves> held_;  // a predicate with a carry holds a low half
  // Registers that do not hold the half in lanes where the predicate has the value; and whether there is no such lane.
  std::array<std::array<ByValue, kPredicates>, kHalves> free_;
  std::array<std::array<bool, 2>, kPredicates> nowhere_;
  // [v]: predicates that are v in some lane; always, or where another predicate has a value ([p][its value][v]).
  using Somewhere = std::array<std::bitset<kPredicates>, 2>;
  Somewhere somewhere_;
  std::array<std::array<Somewhere, 2>, kPredicates> somewhere_if_;
  // [0]: predicates that have another value than this one in every lane; [1]: the same.
  std::array<Somewhere, kPredicates> like_;
  std::array<int, kPredicates> votes_;  // the vote that it is the outcome of, kNotSet or kSeveral
  std::array<int, kBarriers> meeting_;
};

}  // namespace solstice::evaluate
