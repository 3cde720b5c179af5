#include "evaluate/parameter_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <deque>

#include "toolchain/machine_code.h"

namespace solstice::evaluate {
namespace {

using toolchain::CodeSection;
using toolchain::Effect;
using toolchain::kInstructionBytes;
using toolchain::MachineInstruction;
using toolchain::MachineOperand;
using toolchain::MachineRegisters;
using toolchain::Role;

constexpr int kWindowAt = 0x198;  // low half, then high half
constexpr int64_t kStepsAnInstruction = 500;  // until it is given up; kernels of ours need fewer than 20

constexpr size_t kPredicates = 7;
using Predicates = std::bitset<kPredicates>;
constexpr size_t kBarriers = 16;
constexpr int kNotSet = -1, kSeveral = -2;

// Registers that hold a low half (with what was added) or a high half; a predicate with a carry counts as low. With
// them two things that are sure of the predicates of threads, for the loops that ptxas puts around an instruction
// whose operands all lanes must share: it elects a lane, moves its values to uniform registers under that guard, and
// goes on while a lane is left.
struct Held {
  MachineRegisters low, high;
  Predicates somewhere = Predicates().set();  // true in at least one lane of those that run
  // [p]: predicates that hold nothing in lanes where `p` is false.
  std::array<Predicates, kPredicates> covers = all_cover();

  // By number of a barrier: the instruction behind the place where lanes meet again, kNotSet or kSeveral.
  std::array<int, kBarriers> meeting = all_unset();

  bool operator==(const Held&) const = default;
  bool any() const { return low.any() || high.any(); }

  static std::array<Predicates, kPredicates> all_cover() {
    std::array<Predicates, kPredicates> out;
    out.fill(Predicates().set());
    return out;
  }

  static std::array<int, kBarriers> all_unset() {
    std::array<int, kBarriers> out{};
    out.fill(kNotSet);
    return out;
  }

  Predicates carries() const {
    Predicates out;
    for (size_t i = 0; i < kPredicates; ++i) out[i] = low[toolchain::kPredicate + i] || high[toolchain::kPredicate + i];
    return out;
  }

  void join(const Held& other) {
    const Predicates none = ~carries(), others_none = ~other.carries();
    for (size_t i = 0; i < kPredicates; ++i) covers[i] = (covers[i] | none) & (other.covers[i] | others_none);
    for (size_t i = 0; i < kBarriers; ++i) {
      if (meeting[i] == kNotSet) meeting[i] = other.meeting[i];
      if (other.meeting[i] != kNotSet && other.meeting[i] != meeting[i]) meeting[i] = kSeveral;
    }
    somewhere &= other.somewhere;
    low |= other.low;
    high |= other.high;
  }

  void forget() {
    somewhere.reset();
    covers.fill({});
  }
};

enum class Half : uint8_t { kNone, kLow, kHigh, kMixed };

Half half_of(bool low, bool high) { return low ? (high ? Half::kMixed : Half::kLow) : high ? Half::kHigh : Half::kNone; }

Half half_of_constant(const MachineInstruction& of, int word) {
  const auto& read = of.constant;
  if (!read || read->bank != 0) return Half::kNone;
  const int at = read->offset + 4 * word - kWindowAt;
  if (at == 0) return Half::kLow;
  if (at == 4) return Half::kHigh;
  return at > -4 && at < 8 ? Half::kMixed : Half::kNone;
}

Half half_at(const MachineInstruction& of, const MachineOperand& operand, int word, const Held& held) {
  if (operand.first < 0) return half_of_constant(of, word);
  const auto at = static_cast<size_t>(operand.first + word);
  return half_of(held.low[at], held.high[at]);
}

bool is_held(const MachineInstruction& of, const MachineOperand& operand, const Held& held) {
  for (int word = 0; word < operand.count; ++word) {
    if (half_at(of, operand, word, held) != Half::kNone) return true;
  }
  return false;
}

// A pair, or one half, of the address plus something, and nothing else.
bool is_whole(const MachineInstruction& of, const MachineOperand& operand, const Held& held) {
  const Half first = half_at(of, operand, 0, held);
  if (operand.count == 1) return first == Half::kLow || first == Half::kHigh;
  return first == Half::kLow && half_at(of, operand, 1, held) == Half::kHigh;
}

void put(Held& held, size_t at, Half half, bool weak) {
  held.low[at] = (weak && held.low[at]) || half == Half::kLow || half == Half::kMixed;
  held.high[at] = (weak && held.high[at]) || half == Half::kHigh || half == Half::kMixed;
}

bool is_predicate(const MachineOperand& operand) { return operand.first >= toolchain::kPredicate; }

// What one instruction makes of it; false: it may not be used so.
class WindowStep {
 public:
  WindowStep(const MachineInstruction& of, Held& held) : of_(of), held_(held) {}

  bool run() {
    if (of_.guard >= 0 && held_.low[static_cast<size_t>(of_.guard)]) return false;
    if (of_.effect == Effect::kUnknown || of_.effect == Effect::kJumps) return !held_.any() && !reads_window();
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

  static bool is_thread_predicate(int at) {
    return at >= toolchain::kPredicate && at < toolchain::kPredicate + static_cast<int>(kPredicates);
  }
  static size_t predicate_of(int at) { return static_cast<size_t>(at - toolchain::kPredicate); }

  // Whether what was in register `at` may stay.
  bool stays(const MachineOperand& written, int at) const {
    if (!written.certain) return true;
    if (of_.always) return false;
    if (of_.negated || !is_thread_predicate(of_.guard)) return true;
    const size_t guard = predicate_of(of_.guard);
    if (is_thread_predicate(at)) return !held_.covers[guard][predicate_of(at)];
    const bool uniform = at >= toolchain::kUniformRegister && at < toolchain::kPredicate;
    return !uniform || !held_.somewhere[guard];
  }

  bool clear() {
    for (const MachineOperand& written : of_.writes) write(written, Half::kNone);
    return true;
  }

  void write(const MachineOperand& written, Half half) {
    for (int i = 0; i < written.count; ++i) write_at(written, i, half);
  }

  void write_at(const MachineOperand& written, int word, Half half) {
    const int at = written.first + word;
    const bool weak = stays(written, at);
    if (is_thread_predicate(at)) learn(predicate_of(at), half, &written == of_.writes.data());
    put(held_, static_cast<size_t>(at), half, weak);
  }

  // What is sure of a predicate that is written.
  void learn(size_t predicate, Half half, bool first) {
    const bool elected = of_.effect == Effect::kElects && !of_.negated &&
                         (of_.always || (is_thread_predicate(of_.guard) && held_.somewhere[predicate_of(of_.guard)]));
    const bool set = of_.sets && of_.always && first;
    held_.somewhere[predicate] = set || elected;
    held_.covers[predicate] = set ? Predicates().set() : Predicates();
    if (half == Half::kNone) return;
    for (Predicates& each : held_.covers) each[predicate] = false;
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
    for (const MachineOperand* operand : used) {
      if (operand->role == Role::kCarry) return false;
      const Half each = half_at(of_, *operand, 0, held_);
      half = half == Half::kNone || half == each ? each : Half::kMixed;
    }
    for (const MachineOperand& written : of_.writes) write(written, half);
    return true;
  }

  // One addend holds it; a carry from its low half goes into its high half alone.
  bool add(const std::vector<const MachineOperand*>& used) {
    const MachineOperand* addend = nullptr;
    bool carry = false;
    for (const MachineOperand* operand : used) {
      carry = carry || operand->role == Role::kCarry;
      if (operand->role == Role::kCarry) continue;
      if (operand->role != Role::kAddend || addend != nullptr || !is_whole(of_, *operand, held_)) return false;
      addend = operand;
    }
    if (addend == nullptr) return false;
    const Half half = half_at(of_, *addend, 0, held_);
    if (carry && half != Half::kHigh) return false;
    for (const MachineOperand& written : of_.writes) write_sum(written, half);
    return true;
  }

  void write_sum(const MachineOperand& written, Half half) {
    if (is_predicate(written)) return write(written, Half::kLow);
    write_at(written, 0, half);
    if (written.count == 2) write_at(written, 1, Half::kHigh);
  }

  const MachineInstruction& of_;
  Held& held_;
};

std::string way_out(Effect effect) {
  constexpr const char* kByName =
      "read the words of a descriptor by name and constant index (`map.words[3]`), which takes no address";
  switch (effect) {
    case Effect::kUnknown:
      return "the judge does not know this instruction: write it otherwise, or in a kernel without descriptors";
    case Effect::kLoads:
      return kByName;
    case Effect::kStores:
    case Effect::kCopies:
      return fmt::format("memory to write to is a tensor in `args`; to copy a descriptor, {}", kByName);
    case Effect::kShares:
      return "each thread takes `&map` itself";
    case Effect::kCalls:
    case Effect::kJumps:
    case Effect::kReturns:
    case Effect::kBranches:
      return "inline the functions that take a descriptor (`__forceinline__`), and choose descriptors by `if`, not by a "
             "table of jumps";
    default:
      return "choose among descriptors by `if` or `?:`, or as `&maps[i]`";
  }
}

std::string deed_of(Effect effect) {
  switch (effect) {
    case Effect::kLoads:
      return "reads memory through";
    case Effect::kStores:
      return "stores to, or stores,";
    case Effect::kCopies:
      return "copies from or to";
    case Effect::kShares:
      return "hands other threads";
    case Effect::kCalls:
    case Effect::kJumps:
    case Effect::kReturns:
      return "leaves the kernel's own code with";
    case Effect::kBranches:
    case Effect::kEnds:
      return "branches on";
    case Effect::kUnknown:
      return "may use";
    default:
      return "computes with";
  }
}

class SectionFlow {
 public:
  SectionFlow(const CodeSection& section, bool kernel) : section_(section), kernel_(kernel) {
    for (uint64_t at = 0; at + kInstructionBytes <= section.code.size(); at += kInstructionBytes) decode(at);
    for (size_t i = 0; i < code_.size(); ++i) {
      const MachineInstruction& of = code_[i];
      if (of.effect == Effect::kCalls) returns_to_.push_back(i + 1);
      if (of.effect == Effect::kScopes && inside(of.target)) meetings_.emplace_back(of.barrier, index_of(of.target));
    }
  }

  std::string run() {
    before_.assign(code_.size(), {});
    const bool jumps = std::any_of(code_.begin(), code_.end(), [](const MachineInstruction& of) {
      return of.effect == Effect::kJumps || of.effect == Effect::kUnknown;
    });
    for (size_t i = 0; i < (jumps ? code_.size() : std::min<size_t>(1, code_.size())); ++i) before_[i].forget();
    queued_.assign(code_.size(), true);
    for (size_t i = 0; i < code_.size(); ++i) queue_.push_back(i);
    const int64_t most = kStepsAnInstruction * static_cast<int64_t>(code_.size() + 10);
    while (!queue_.empty()) {
      if (steps_ > most) return tangled();
      const size_t at = queue_.front();
      queue_.pop_front();
      queued_[at] = false;
      Held held = before_[at];
      if (!step(at, held)) return flaw();
    }
    return "";
  }

 private:
  void decode(uint64_t at) {
    uint64_t first = 0, second = 0;
    std::memcpy(&first, section_.code.data() + at, sizeof(first));
    std::memcpy(&second, section_.code.data() + at + sizeof(first), sizeof(second));
    MachineInstruction out = toolchain::machine_instruction(first, second, static_cast<int64_t>(at));
    const auto changed = std::lower_bound(section_.relocated.begin(), section_.relocated.end(), at);
    const bool relocated = changed != section_.relocated.end() && *changed < at + kInstructionBytes;
    const bool goes = out.effect == Effect::kBranches || out.effect == Effect::kCalls;
    const auto end = static_cast<int64_t>(section_.code.size() / kInstructionBytes * kInstructionBytes);
    const bool lost = out.target < 0 || out.target >= end || out.target % static_cast<int64_t>(kInstructionBytes) != 0;
    if (goes && (relocated || lost)) out.effect = Effect::kJumps;
    code_.push_back(std::move(out));
  }

  bool inside(int64_t target) const {
    return target >= 0 && target < static_cast<int64_t>(code_.size() * kInstructionBytes);
  }
  static size_t index_of(int64_t target) { return static_cast<size_t>(target) / kInstructionBytes; }

  // One instruction, and then those that follow it in a row; what else it leads to is queued.
  bool step(size_t at, Held held) {
    while (true) {
      const MachineInstruction& of = code_[at];
      ++steps_;
      wrong_ = at;
      if (!WindowStep(of, held).run()) return false;
      if (of.effect == Effect::kReturns && !kernel_ && held.any()) return false;
      lead(of, held);
      if (of.always && (of.effect == Effect::kBranches || of.effect == Effect::kEnds || of.effect == Effect::kReturns))
        return true;
      if (++at >= code_.size() || !merge(at, held)) return true;
      held = before_[at];
    }
  }

  bool merge(size_t at, const Held& held) {
    Held joined = before_[at];
    joined.join(held);
    const bool changed = !(joined == before_[at]);
    if (changed) before_[at] = joined;
    return changed;
  }

  void lead_to(size_t at, const Held& held) {
    if (at >= code_.size() || !merge(at, held) || queued_[at]) return;
    queued_[at] = true;
    queue_.push_back(at);
  }

  // Where a warp may part, lanes in which a predicate is true may all go the other way.
  void lead(const MachineInstruction& of, Held& held) {
    const bool parts = (of.effect == Effect::kBranches && !of.together) || (of.effect == Effect::kEnds && !of.always) ||
                       of.effect == Effect::kCalls || of.effect == Effect::kReturns || of.effect == Effect::kMeets;
    if (parts) held.somewhere.reset();
    if (of.effect == Effect::kBranches || of.effect == Effect::kCalls) lead_to(index_of(of.target), taken(of, held));
    if (of.effect == Effect::kReturns) {
      for (const size_t next : returns_to_) lead_to(next, held);
    }
    if (of.effect == Effect::kScopes && inside(of.target))
      held.meeting[static_cast<size_t>(of.barrier)] = static_cast<int>(index_of(of.target));
    if (of.effect == Effect::kMeets) meet(of, held);
  }

  void meet(const MachineInstruction& of, const Held& held) {
    const int at = held.meeting[static_cast<size_t>(of.barrier)];
    if (at >= 0) lead_to(static_cast<size_t>(at), held);
    if (at != kSeveral) return;
    for (const auto& [barrier, next] : meetings_) {
      if (barrier == of.barrier) lead_to(next, held);
    }
  }

  static Held taken(const MachineInstruction& of, const Held& held) {
    Held out = held;
    const bool any = of.effect == Effect::kBranches && of.together && !of.always && !of.negated &&
                     of.guard >= toolchain::kPredicate && of.guard < toolchain::kUniformPredicate;
    if (any) out.somewhere.set(static_cast<size_t>(of.guard - toolchain::kPredicate));
    return out;
  }

  std::string tangled() const {
    return fmt::format(
        "it takes the address of its parameters, for a descriptor, and `{}` has too many jumps to follow that address: "
        "split it into kernels",
        section_.name);
  }

  std::string flaw() const {
    const MachineInstruction& of = code_[wrong_];
    return fmt::format(
        "it takes the address of its parameters, for a descriptor, and `{}` at {:#x} of `{}` {} it: behind the "
        "parameters, values would last from launch to launch, so that only the copy engine may have this address; {}",
        of.name, wrong_ * kInstructionBytes, section_.name, deed_of(of.effect), way_out(of.effect));
  }

  const CodeSection& section_;
  bool kernel_;
  std::vector<MachineInstruction> code_;
  std::vector<size_t> returns_to_;
  std::vector<std::pair<int, size_t>> meetings_;
  std::vector<Held> before_;
  std::vector<bool> queued_;
  std::deque<size_t> queue_;
  size_t wrong_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

std::string parameter_window_flaw(const std::vector<CodeSection>& code,
                                  const std::vector<toolchain::CubinKernel>& kernels) {
  for (const CodeSection& section : code) {
    const bool kernel = std::any_of(kernels.begin(), kernels.end(),
                                    [&](const toolchain::CubinKernel& each) { return each.entry == section.name; });
    if (std::string flaw = SectionFlow(section, kernel).run(); !flaw.empty()) return flaw;
  }
  return "";
}

}  // namespace solstice::evaluate
