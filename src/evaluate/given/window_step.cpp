#include "evaluate/given/window_step.h"

#include <utility>
#include <vector>

namespace solstice::evaluate {
namespace {

using toolchain::Effect;
using toolchain::MachineInstruction;
using toolchain::MachineOperand;
using toolchain::Role;

constexpr int kWindowAt = 0x198;  // low half, then high half

Half half_of_constant(const MachineInstruction& of, int word) {
  const auto& read = of.constant;
  if (!read || read->bank != 0) return Half::kNone;
  const int at = read->offset + 4 * word - kWindowAt;
  if (at == 0 && read->bytes >= 4) return Half::kLow;
  if (at == 4 && read->bytes >= 4) return Half::kHigh;
  return at > -4 && at < 8 ? Half::kMixed : Half::kNone;
}

bool is_held(const MachineInstruction& of, const MachineOperand& operand, const WindowState& held) {
  for (int word = 0; word < operand.count; ++word) {
    if (held_by(of, operand, word, held) != Half::kNone) return true;
  }
  return false;
}

// A pair, or one half, of the address plus something, and nothing else.
bool is_whole(const MachineInstruction& of, const MachineOperand& operand, const WindowState& held) {
  const Half first = held_by(of, operand, 0, held);
  if (operand.count == 1) return first == Half::kLow || first == Half::kHigh;
  return first == Half::kLow && held_by(of, operand, 1, held) == Half::kHigh;
}

bool is_predicate(const MachineOperand& operand) { return operand.first >= toolchain::kPredicate; }

class WindowStep {
 public:
  WindowStep(const MachineInstruction& of, WindowState& held) : of_(of), held_(held) {}

  bool run() {
    if (of_.guard >= 0 && held_.at(of_.guard) != Half::kNone) return false;
    if (of_.effect == Effect::kUnknown || of_.effect == Effect::kJumps) return give_up();
    if (of_.effect == Effect::kConstant) return load_constant();
    std::vector<const MachineOperand*> used;
    for (const MachineOperand& operand : of_.reads) {
      if (is_held(of_, operand, held_)) used.push_back(&operand);
    }
    if (used.empty()) return clear();
    switch (of_.effect) {
      case Effect::kMoves:
        return move(used);
      case Effect::kLogic:
        return mark_logic();
      case Effect::kAdds:
        return add(used);
      case Effect::kDescriptor:
        return used.size() == 1 && used[0]->role == Role::kDescriptor && is_whole(of_, *used[0], held_) && clear();
      default:
        return false;
    }
  }

 private:
  bool reads_window() const {
    if (!of_.constant) return false;
    for (int word = 0; word < 4; ++word) {
      if (half_of_constant(of_, word) != Half::kNone) return true;
    }
    return false;
  }

  // Whatever it does, nothing is held that it could misuse.
  bool give_up() {
    if (held_.any() || reads_window()) return false;
    held_.forget();
    return true;
  }

  bool clear() {
    for (const MachineOperand& written : of_.writes) write(written, Half::kNone);
    return true;
  }

  void write(const MachineOperand& written, Half half) {
    for (int i = 0; i < written.count; ++i) write_at(written, i, half);
  }

  void write_at(const MachineOperand& written, int word, Half half, std::vector<int> from = {}) {
    held_.write({written.first + word, half, written.certain, std::move(from)}, of_);
  }

  bool mark_logic() {
    for (const MachineOperand& written : of_.writes) write(written, Half::kLow);
    return true;
  }

  bool load_constant() {
    for (const MachineOperand& operand : of_.reads) {
      if (is_held(of_, operand, held_)) return false;
    }
    for (const MachineOperand& written : of_.writes) {
      for (int i = 0; i < written.count; ++i) {
        write_at(written, i, of_.constant && of_.constant->indexed ? Half::kNone : half_of_constant(of_, i));
      }
    }
    return true;
  }

  bool move(const std::vector<const MachineOperand*>& used) {
    Half half = Half::kNone;
    std::vector<int> from;
    for (const MachineOperand* operand : used) {
      if (operand->role == Role::kCarry) return false;
      const Half each = held_by(of_, *operand, 0, held_);
      half = half == Half::kNone || half == each ? each : Half::kMixed;
      if (operand->first >= 0) from.push_back(operand->first);
    }
    if (from.size() < used.size()) from.clear();
    for (const MachineOperand& written : of_.writes) {
      if (is_predicate(written)) write(written, Half::kLow);
      if (!is_predicate(written)) write_at(written, 0, half, from);
    }
    return true;
  }

  // One addend holds it; a carry from its low half goes into its high half alone.
  bool add(const std::vector<const MachineOperand*>& used) {
    const MachineOperand* addend = nullptr;
    bool carry = false;
    for (const MachineOperand* operand : used) {
      carry = carry || operand->role == Role::kCarry;
      if (operand->role == Role::kCarry) continue;
      if (operand->role != Role::kAddend || addend != nullptr) return false;
      addend = operand;
    }
    if (addend == nullptr || (carry && held_by(of_, *addend, 0, held_) != Half::kHigh)) return false;
    for (const MachineOperand& written : of_.writes) write_sum(written, *addend, carry);
    return true;
  }

  void write_sum(const MachineOperand& written, const MachineOperand& addend, bool carry) {
    if (is_predicate(written)) return write(written, Half::kLow);
    const Half half = held_by(of_, addend, 0, held_);
    const bool alone = written.count == 1 && !carry && addend.first >= 0;
    const Half upper = addend.count < 2                                ? Half::kMixed
                       : held_by(of_, addend, 1, held_) == Half::kHigh ? Half::kHigh
                                                                       : Half::kMixed;
    write_at(written, 0, half, alone ? std::vector<int>{addend.first} : std::vector<int>{});
    if (written.count == 2) write_at(written, 1, upper);
  }

  const MachineInstruction& of_;
  WindowState& held_;
};

}  // namespace

Half held_by(const MachineInstruction& of, const MachineOperand& operand, int word, const WindowState& held) {
  return operand.first < 0 ? half_of_constant(of, word) : held.at(operand.first + word, of);
}

bool window_step(const MachineInstruction& of, WindowState& held) { return WindowStep(of, held).run(); }

}  // namespace solstice::evaluate
