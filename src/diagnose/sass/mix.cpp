#include "diagnose/sass/mix.h"

#include <tuple>

namespace solstice::diagnose::sass {
namespace {

// An opcode with the modifiers that make it another instruction, in the order in which they stand.
constexpr std::string_view kNamedOpcodes[] = {"MUFU.COS",
                                              "MUFU.SIN",
                                              "MUFU.EX2",
                                              "MUFU.LG2",
                                              "MUFU.RCP",
                                              "MUFU.RCP64H",
                                              "MUFU.RSQ",
                                              "MUFU.RSQ64H",
                                              "MUFU.SQRT",
                                              "MUFU.TANH",
                                              "BAR.SYNC",
                                              "SYNCS",
                                              "WARPGROUP.DEPBAR",
                                              "WARPGROUP.ARRIVE",
                                              "UTMALDG",
                                              "UTMASTG",
                                              "UBLKCP",
                                              "LDGSTS",
                                              "LDL",
                                              "STL",
                                              "LDSM",
                                              "STSM",
                                              "FCHK",
                                              "I2F.RP",
                                              "F2F.F64.F32",
                                              "F2F.F32.F64",
                                              "R2UR",
                                              "SHFL",
                                              "CALL"};

// The frame's own registers are R1 and a constant; whatever else finds local memory was computed.
bool computes_local(const Instruction& of) {
  if (of.access.space != Space::kLocal) return false;
  const size_t open = of.operands.find('[');
  const std::string_view inside = of.operands.substr(open == std::string_view::npos ? of.operands.size() : open + 1);
  const std::string_view base = inside.substr(0, inside.find_first_of("+]."));
  return base != "R1";
}

template <size_t N>
void add_all_counts(int64_t (&to)[N], const int64_t (&from)[N]) {
  for (size_t i = 0; i < N; ++i) to[i] += from[i];
}

template <typename Enum, size_t N>
std::map<std::string, int64_t> by_name(const int64_t (&counts)[N]) {
  std::map<std::string, int64_t> out;
  const std::vector<const char*> names = enum_names(Enum{});
  for (size_t i = 0; i < N; ++i) {
    if (counts[i] > 0) out.emplace(names[i], counts[i]);
  }
  return out;
}

}  // namespace

std::string_view name_for_tools(std::string_view opcode) {
  for (const std::string_view name : kNamedOpcodes) {
    const bool same = opcode.substr(0, name.size()) == name;
    if (same && (opcode.size() == name.size() || opcode[name.size()] == '.')) return name;
  }
  // Signs and rounding stand between: "I2F.U32.RP".
  return base_of(opcode) == "I2F" && has_modifier(opcode, "RP") ? "I2F.RP" : "";
}

void MixCounter::add(const Instruction& instruction, std::string_view callee) {
  ++instructions_;
  ++kinds_[static_cast<size_t>(instruction.kind)];
  ++pipes_[static_cast<size_t>(instruction.pipe)];
  if (instruction.control) {
    issue_cycles_ += instruction.control->stall;
    waits_ += instruction.control->wait_mask != 0;
  }
  if (instruction.kind == Kind::kUnknown || instruction.predicate == "!PT") return;
  if (const std::string_view name = name_for_tools(instruction.opcode); !name.empty()) ++named_[name];
  if (!callee.empty()) ++calls_[callee];
  computed_local_ += computes_local(instruction);
  const Access& access = instruction.access;
  if (access.space != Space::kNone) ++accesses_[{access.space, access.store, access.bits}];
}

void MixCounter::add(const MixCounter& other) {
  instructions_ += other.instructions_;
  issue_cycles_ += other.issue_cycles_;
  waits_ += other.waits_;
  computed_local_ += other.computed_local_;
  add_all_counts(kinds_, other.kinds_);
  add_all_counts(pipes_, other.pipes_);
  for (const auto& [name, count] : other.named_) named_[name] += count;
  for (const auto& [kind, count] : other.calls_) calls_[kind] += count;
  for (const auto& [access, count] : other.accesses_) accesses_[access] += count;
}

int64_t MixCounter::named(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? 0 : found->second;
}

SassMix MixCounter::mix() const {
  SassMix out{.instructions = instructions_,
              .issue_cycles = issue_cycles_,
              .waits = waits_,
              .computed_local = computed_local_,
              .counts = by_name<Kind>(kinds_),
              .pipes = by_name<Pipe>(pipes_)};
  for (const auto& [name, count] : named_) out.named.emplace(name, count);
  for (const auto& [kind, count] : calls_) out.calls.emplace(kind, count);
  const std::vector<const char*> spaces = enum_names(Space{});
  for (const auto& [access, count] : accesses_) {
    const auto& [space, store, bits] = access;
    out.accesses.push_back({.space = spaces[static_cast<size_t>(space)], .store = store, .bits = bits, .count = count});
  }
  return out;
}

}  // namespace solstice::diagnose::sass
