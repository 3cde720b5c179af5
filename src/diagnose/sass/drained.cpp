#include "diagnose/sass/drained.h"

#include <algorithm>
#include <optional>

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

int accumulators_of(const Instruction& wgmma) {
  return register_of(wgmma.operands.substr(0, wgmma.operands.find(',')));
}

class Drains {
 public:
  explicit Drains(const Function& function)
      : code_(function.instructions), targets_(function), flow_(flow_of(function)) {}

  std::vector<size_t> find() {
    for (size_t i = 0; i < code_.size(); ++i) {
      if (code_[i].kind == Kind::kWgmma) meet_wgmma(i);
      if (last_ && waits_for_all(code_[i])) wait_ = i;
      if (last_) follow_jumps(i);
    }
    std::sort(out_.begin(), out_.end());
    out_.erase(std::unique(out_.begin(), out_.end()), out_.end());
    return std::move(out_);
  }

 private:
  void meet_wgmma(size_t at) {
    if (last_ && wait_ && adds_to(code_[at], accumulators_of(code_[*last_]))) out_.push_back(*wait_);
    last_ = at;
    wait_.reset();
  }

  // Where control need not go on, or goes back to before the last wgmma, a piece of code ends; what waits inside spins.
  void follow_jumps(size_t at) {
    bool known = true, ends = always_jumps(code_[at]) || (code_[at].opcode == "EXIT" && code_[at].predicate.empty());
    for (const int target : targets_.of(code_[at], known)) {
      const auto to = static_cast<size_t>(target);
      if (target < 0 || to > *last_) continue;
      ends = true;
      if (wait_ && always_before(*wait_, at) && goes_on(to)) out_.push_back(*wait_);
    }
    if (!ends) return;
    last_.reset();
    wait_.reset();
  }

  // The next round of a loop that begins there adds to the accumulators of the last wgmma first.
  bool goes_on(size_t begin) const {
    const auto is_wgmma = [](const Instruction& of) { return of.kind == Kind::kWgmma; };
    const auto from = code_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto first = std::find_if(from, code_.end(), is_wgmma);
    return first != code_.end() && adds_to(*first, accumulators_of(code_[*last_]));
  }

  int block_of(size_t instruction) const {
    const auto after = std::upper_bound(flow_.blocks.begin(), flow_.blocks.end(), instruction,
                                        [](size_t at, const Block& block) { return at < block.first; });
    return static_cast<int>(after - flow_.blocks.begin()) - 1;
  }

  // Control that comes to `at` has passed `wait`.
  bool always_before(size_t wait, size_t at) const {
    if (flow_.tangled) return false;
    const int above = block_of(wait);
    for (int block = block_of(at); block >= 0; block = flow_.dominator[static_cast<size_t>(block)]) {
      if (block == above) return true;
    }
    return false;
  }

  const std::vector<Instruction>& code_;
  Targets targets_;
  Flow flow_;
  std::optional<size_t> last_;  // wgmma of this piece of code
  std::optional<size_t> wait_;  // for all since then
  std::vector<size_t> out_;
};

bool has_wgmma(const Function& function) {
  return std::any_of(function.instructions.begin(), function.instructions.end(),
                     [](const Instruction& of) { return of.kind == Kind::kWgmma; });
}

}  // namespace

std::vector<size_t> drained_wgmma(const Function& function) {
  return has_wgmma(function) ? Drains(function).find() : std::vector<size_t>();
}

}  // namespace solstice::diagnose::sass
