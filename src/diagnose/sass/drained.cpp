#include "diagnose/sass/drained.h"

#include <algorithm>

#include "diagnose/sass/flow.h"
#include "diagnose/sass/operands.h"

namespace solstice::diagnose::sass {
namespace {

bool waits_for_all(const Instruction& of) {
  return base_of(of.opcode) == "WARPGROUP" && has_modifier(of.opcode, "DEPBAR") && of.operands == "gsb0, 0x0";
}

// Whether it adds to the registers that it writes, not to zero.
bool adds_to(const Instruction& wgmma, int accumulators) {
  const std::vector<std::string_view> operands = split_operands(wgmma.operands);
  if (operands.size() < 3 || register_of(operands[0]) != accumulators) return false;
  return std::any_of(operands.begin() + 2, operands.end(), [&](std::string_view operand) {
    return operand.find('[') == std::string_view::npos && register_of(operand) == accumulators;
  });
}

// Whether the instruction after it need not run after it, or the code before it runs again.
bool ends_piece(const Targets& targets, const Instruction& of, size_t index) {
  if (always_jumps(of) || of.opcode == "EXIT") return true;
  bool known = true;
  const std::vector<int> to = targets.of(of, known);
  return std::any_of(to.begin(), to.end(), [&](int target) { return static_cast<size_t>(target) <= index; });
}

}  // namespace

std::vector<size_t> drained_wgmma(const Function& function) {
  std::vector<size_t> out;
  const Targets targets(function);
  int accumulators = -1;  // of the last wgmma of this piece of code; -1: none
  int wait = -1;          // for all since then
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& at = function.instructions[i];
    if (at.kind == Kind::kWgmma) {
      if (wait >= 0 && adds_to(at, accumulators)) out.push_back(static_cast<size_t>(wait));
      accumulators = register_of(at.operands.substr(0, at.operands.find(',')));
      wait = -1;
    }
    if (accumulators >= 0 && waits_for_all(at)) wait = static_cast<int>(i);
    if (accumulators >= 0 && ends_piece(targets, at, i)) accumulators = wait = -1;
  }
  return out;
}

}  // namespace solstice::diagnose::sass
