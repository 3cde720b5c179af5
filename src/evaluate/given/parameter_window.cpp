#include "evaluate/given/parameter_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "evaluate/given/window_step.h"
#include "toolchain/machine_code.h"

namespace solstice::evaluate {
namespace {

using toolchain::CodeSection;
using toolchain::Effect;
using toolchain::kInstructionBytes;
using toolchain::MachineInstruction;
using toolchain::MachineOperand;

constexpr int64_t kStepsAnInstruction = 100;  // until it is given up

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
      return "inline the functions that take a descriptor (`__forceinline__`), and choose descriptors by `if`, not by "
             "a "
             "table of jumps";
    default:
      return "choose among descriptors by `if` or `?:`, or as `&maps[i]`";
  }
}

std::string deed_of(Effect effect) {
  switch (effect) {
    case Effect::kLoads:
      return "reads memory through it";
    case Effect::kStores:
      return "stores through it, or stores it";
    case Effect::kCopies:
      return "copies from or to it";
    case Effect::kShares:
      return "hands it to other threads";
    case Effect::kCalls:
    case Effect::kJumps:
    case Effect::kReturns:
      return "leaves the kernel's own code with it";
    case Effect::kBranches:
    case Effect::kEnds:
      return "branches on it";
    case Effect::kUnknown:
      return "may use it";
    default:
      return "computes with it";
  }
}

class SectionFlow {
 public:
  SectionFlow(const CodeSection& section, bool kernel) : section_(section), kernel_(kernel) {
    for (uint64_t at = 0; at + kInstructionBytes <= section.code.size(); at += kInstructionBytes) decode(at);
    for (size_t i = 0; i < code_.size(); ++i) {
      if (gathers(i)) code_[i].effect = Effect::kWaits;
      const MachineInstruction& of = code_[i];
      if (of.effect == Effect::kCalls || of.effect == Effect::kJumps) returns_to_.push_back(i + 1);
      if (of.effect == Effect::kScopes && inside(of.target)) meetings_.emplace_back(of.barrier, index_of(of.target));
    }
    find_blocks();
  }

  std::string run() {
    const int64_t most = kStepsAnInstruction * static_cast<int64_t>(code_.size() + 10);
    while (!queue_.empty()) {
      if (steps_ > most) return tangled();
      const size_t node = queue_.front();
      queue_.pop_front();
      nodes_[node].queued = false;
      if (!walk(node)) return flaw();
    }
    return "";
  }

 private:
  static bool ends_block(Effect effect) {
    return effect == Effect::kBranches || effect == Effect::kCalls || effect == Effect::kReturns ||
           effect == Effect::kEnds || effect == Effect::kMeets || effect == Effect::kJumps;
  }

  // WARPSYNC.COLLECTIVE names the place behind the ENDCOLLECTIVE up to which it has all lanes run what follows.
  bool gathers(size_t at) const {
    const MachineInstruction& of = code_[at];
    if (of.effect != Effect::kBranches || of.name != "WARPSYNC" || !inside(of.target)) return false;
    const size_t end = index_of(of.target);
    if (end < at + 2 || code_[end - 1].name != "ENDCOLLECTIVE") return false;
    return std::none_of(code_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                        code_.begin() + static_cast<std::ptrdiff_t>(end),
                        [](const MachineInstruction& each) { return ends_block(each.effect); });
  }

  // Where unknown code leads anywhere, each instruction is a block, of which nothing is sure.
  void find_blocks() {
    const bool jumps = std::any_of(code_.begin(), code_.end(), [](const MachineInstruction& of) {
      return of.effect == Effect::kJumps || of.effect == Effect::kUnknown;
    });
    std::vector<bool> first(code_.size() + 1, jumps);
    first[0] = true;
    for (size_t i = 0; i < code_.size(); ++i) {
      const Effect effect = code_[i].effect;
      if (ends_block(effect)) first[i + 1] = true;
      const bool leads = effect == Effect::kBranches || effect == Effect::kCalls || effect == Effect::kScopes;
      if (leads && inside(code_[i].target)) first[index_of(code_[i].target)] = true;
    }
    for (size_t i = 0; i < code_.size(); ++i) {
      if (first[i]) starts_.push_back(i);
      block_of_.push_back(starts_.size() - 1);
    }
    for (size_t b = 0; b < starts_.size(); ++b) {
      const size_t node = node_at(starts_[b], kNoCall);
      if (b == 0 || jumps) nodes_[node].before.forget();
      enqueue(node);
    }
  }

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

  // A block as one call has it: a routine is followed once for each place that calls it.
  struct Node {
    size_t block = 0, call = 0;
    WindowState before = {};
    bool queued = false;
  };
  static constexpr size_t kNoCall = 0;

  size_t node_at(size_t instruction, size_t call) {
    const auto [found, fresh] = node_of_.try_emplace({block_of_[instruction], call}, nodes_.size());
    if (fresh) nodes_.push_back({block_of_[instruction], call});
    return found->second;
  }

  void enqueue(size_t node) {
    if (nodes_[node].queued) return;
    nodes_[node].queued = true;
    queue_.push_back(node);
  }

  // The instructions of a block; what it leads to is queued.
  bool walk(size_t node) {
    const size_t block = nodes_[node].block, call = nodes_[node].call;
    WindowState held = nodes_[node].before;
    const size_t end = block + 1 < starts_.size() ? starts_[block + 1] : code_.size();
    for (size_t at = starts_[block]; at < end; ++at) {
      const MachineInstruction& of = code_[at];
      ++steps_;
      wrong_ = at;
      if (!window_step(of, held)) return blame(at, held);
      if (of.effect == Effect::kReturns && !kernel_ && held.any()) return false;
      if (of.effect == Effect::kScopes)
        held.set_meeting(of.barrier, inside(of.target) ? static_cast<int>(index_of(of.target)) : WindowState::kSeveral);
    }
    lead(code_[end - 1], held, end, call);
    if (code_[end - 1].effect == Effect::kReturns) returns_.insert({call, node});
    return true;
  }

  bool blame(size_t at, const WindowState& held) {
    for (const MachineOperand& operand : code_[at].reads) {
      for (int word = 0; word < operand.count && where_.empty(); ++word) {
        if (held_by(code_[at], operand, word, held) != Half::kNone) where_ = name_of(operand.first, word);
      }
    }
    return false;
  }

  // " (in R12)"; "" of a constant.
  static std::string name_of(int first, int word) {
    const int at = first + word;
    if (first < 0) return "";
    if (at < toolchain::kUniformRegister) return fmt::format(" (in R{})", at);
    if (at < toolchain::kPredicate) return fmt::format(" (in UR{})", at - toolchain::kUniformRegister);
    return "";
  }

  void lead_to(size_t at, const WindowState& held, size_t call) {
    if (at >= code_.size()) return;
    const size_t node = node_at(at, call);
    if (nodes_[node].before.join(held)) enqueue(node);
  }

  void lead(const MachineInstruction& of, WindowState& held, size_t next, size_t call) {
    const bool branches = of.effect == Effect::kBranches, ends = of.effect == Effect::kEnds;
    const bool parts = (branches && !of.together) || (ends && !of.always) || of.effect == Effect::kCalls ||
                       of.effect == Effect::kReturns || of.effect == Effect::kMeets;
    if (parts) held.part();
    if (branches) lead_to(index_of(of.target), taken(of, held), call);
    if (of.effect == Effect::kCalls) lead_into(of, held, next, call);
    if (of.effect == Effect::kReturns) lead_back(held, call);
    if (of.effect == Effect::kMeets) meet(of, held, call);
    if (of.always && (branches || ends || of.effect == Effect::kReturns)) return;
    if (of.by_guard_alone) held.know_guard(of, false);
    lead_to(next, held, call);
  }

  // A call is known by what follows it, one more than 0.
  void lead_into(const MachineInstruction& of, const WindowState& held, size_t next, size_t call) {
    if (callers_.insert({next, call}).second) {
      for (auto at = returns_.lower_bound({next, 0}); at != returns_.end() && at->first == next; ++at)
        enqueue(at->second);
    }
    lead_to(index_of(of.target), held, next);
  }

  void lead_back(const WindowState& held, size_t call) {
    for (auto at = callers_.lower_bound({call, 0}); at != callers_.end() && at->first == call; ++at)
      lead_to(call, held, at->second);
    if (call != kNoCall) return;
    for (const size_t to : returns_to_) lead_to(to, held, call);
  }

  static WindowState taken(const MachineInstruction& of, const WindowState& held) {
    WindowState out = held;
    if (of.effect != Effect::kBranches || of.guard < 0) return out;
    if (!of.together) {
      out.know_guard(of, true);
    } else {
      out.know_somewhere(of);
    }
    return out;
  }

  void meet(const MachineInstruction& of, const WindowState& held, size_t call) {
    const int at = held.meeting(of.barrier);
    if (at >= 0) lead_to(static_cast<size_t>(at), held, call);
    if (at != WindowState::kSeveral) return;
    for (const auto& [barrier, to] : meetings_) {
      if (barrier == of.barrier) lead_to(to, held, call);
    }
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
        "it takes the address of its parameters, for a descriptor, and `{}` at {:#x} of `{}` {}{}: behind the "
        "parameters, values would last from launch to launch, so that only the copy engine may have this address; {}",
        of.name, wrong_ * kInstructionBytes, section_.name, deed_of(of.effect), where_, way_out(of.effect));
  }

  const CodeSection& section_;
  bool kernel_;
  std::vector<MachineInstruction> code_;
  std::vector<size_t> returns_to_;
  std::vector<std::pair<int, size_t>> meetings_;
  std::vector<size_t> starts_, block_of_;  // first instructions of blocks; the block of each instruction
  std::vector<Node> nodes_;
  std::map<std::pair<size_t, size_t>, size_t> node_of_;  // by block and call
  std::set<std::pair<size_t, size_t>> callers_;          // of a call: the calls that it is made in
  std::set<std::pair<size_t, size_t>> returns_;          // of a call: nodes that end in a return
  std::deque<size_t> queue_;
  size_t wrong_ = 0;
  std::string where_;
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
