#include "toolchain/machine_code.h"

#include <algorithm>

namespace solstice::toolchain {
namespace {

constexpr int kNoThreadRegister = 255, kNoUniformRegister = 63, kNoPredicate = 7;
constexpr int kWarpSync = 0x148, kMultiply = 0x024, kVote = 0x086;
// Forms of the second and third operand: where a register, an immediate, a constant or a uniform register stands.
enum Form : int {
  kRegisters = 1,
  kLastImmediate,
  kLastConstant,
  kImmediate,
  kConstantForm,
  kUniformForm,
  kLastUniform
};

class Decoder {
 public:
  Decoder(uint64_t first, uint64_t second, int64_t offset) : first_(first), second_(second), offset_(offset) {}

  MachineInstruction run() {
    out_.constant = constant_read(first_, second_);
    const int code = field(0, 9);
    const MachineOpcode* const found = machine_opcode(code);
    read_guard(found != nullptr && found->uniform);
    if (found == nullptr) return std::move(out_);
    opcode_ = found;
    out_.name = found->name;
    out_.effect = found->effect;
    if (code == kWarpSync && form() != kRegisters) return idle();
    for (const OperandWord& word : found->operands) add(word);
    if (code == kMultiply && form() == kImmediate && field(32, 32) == 1) add_factor();
    find_target();
    if (out_.effect == Effect::kLogic) read_logic();
    if (code == kVote && field(72, 2) <= 1 && !bit(90) && out_.reads.size() == 1) out_.vote = out_.reads[0].first;
    out_.unanimous = field(72, 2) == 0;
    return std::move(out_);
  }

 private:
  int64_t wide_field(int from, int count) const {
    const uint64_t joined = from >= 64  ? second_ >> (from - 64)
                            : from == 0 ? first_
                                        : (first_ >> from) | (second_ << (64 - from));
    return static_cast<int64_t>(count == 64 ? joined : joined & ((uint64_t{1} << count) - 1));
  }
  int field(int from, int count) const { return static_cast<int>(wide_field(from, count)); }
  bool bit(int at) const { return field(at, 1) != 0; }
  int form() const { return field(9, 3); }

  MachineInstruction idle() {
    out_.effect = Effect::kWaits;
    return std::move(out_);
  }

  void read_guard(bool uniform) {
    const int index = field(12, 3);
    out_.always = index == kNoPredicate && !bit(15);
    if (index != kNoPredicate) out_.guard = (uniform ? kUniformPredicate : kPredicate) + index;
    out_.negated = bit(15);
  }

  // As many registers as bits 73 to 75 say.
  int width() const {
    const int code = field(73, 3);
    return code <= 4 ? 1 : code == 5 ? 2 : code == 6 ? 4 : 8;
  }

  static bool is_none(Place place, int index) {
    if (place == Place::kThread) return index == kNoThreadRegister;
    return index == (place == Place::kUniform ? kNoUniformRegister : kNoPredicate);
  }

  static int base_of(Place place) {
    if (place == Place::kThread) return 0;
    if (place == Place::kUniform) return kUniformRegister;
    return place == Place::kPredicate ? kPredicate : kUniformPredicate;
  }

  static int end_of(Place place) {
    if (place == Place::kThread) return kNoThreadRegister;
    if (place == Place::kUniform) return kUniformRegister + kNoUniformRegister;
    return base_of(place) + kNoPredicate;
  }

  void add_at(Place place, int index, OperandWord word) {
    if (is_none(place, index)) return;
    const int first = base_of(place) + index;
    const int count = std::min(word.count == 0 ? width() : word.count, end_of(place) - first);
    (word.written ? out_.writes : out_.reads)
        .push_back({word.role, first, count, word.certain && width_is_known(word)});
  }

  bool width_is_known(const OperandWord& word) const { return word.count != 0 || field(73, 3) != 7; }

  void add_from(Place place, int at, OperandWord word) {
    const bool registers = place == Place::kThread, uniform = place == Place::kUniform;
    add_at(place, field(at, registers ? 8 : uniform ? 6 : 3), word);
  }

  void read(Place place, int at, int count) { add_from(place, at, {.place = place, .count = count}); }

  // The operand in bits 32 to 63.
  void add_second(OperandWord word) {
    const int at = form();
    const Place place = opcode_->uniform ? Place::kUniform : Place::kThread;
    if (at == kRegisters) return add_from(place, 32, word);
    if (at == kUniformForm || at == kLastUniform) return add_from(Place::kUniform, 32, word);
    if (at == kLastConstant || at == kConstantForm)
      out_.reads.push_back({word.role, -1, std::max(word.count, 1), true});
  }

  void add_slot(const OperandWord& word) {
    const Place place = opcode_->uniform ? Place::kUniform : Place::kThread;
    const bool last = form() == kLastImmediate || form() == kLastConstant || form() == kLastUniform;
    if (word.place == Place::kA) return add_from(place, 24, word);
    if ((word.place == Place::kC) == last || (word.place == Place::kB && !has_third())) return add_second(word);
    add_from(place, 64, word);
  }

  bool has_third() const {
    return std::any_of(opcode_->operands.begin(), opcode_->operands.end(),
                       [](const OperandWord& word) { return word.place == Place::kC; });
  }

  void add(const OperandWord& word) {
    if (word.optional && !bit(91)) return;
    switch (word.place) {
      case Place::kThread:
      case Place::kUniform:
      case Place::kPredicate:
      case Place::kUniformPredicate:
        return add_from(word.place, word.bit, word);
      case Place::kA:
      case Place::kB:
      case Place::kC:
        return add_slot(word);
      default:
        return add_special(word.place);
    }
  }

  void add_special(Place place) {
    const bool registers = form() == kRegisters;
    switch (place) {
      case Place::kMasked:
        return read_masked();
      case Place::kAll:
        for (int i = 0; i < kNoPredicate; ++i) add_at(predicates(), i, {.written = true, .certain = false});
        return;
      case Place::kThird:
        return read(bit(67) ? Place::kUniformPredicate : Place::kPredicate, 68, 1);
      case Place::kTry:
        if (form() == kLastImmediate) add_from(Place::kPredicate, 81, {.place = Place::kPredicate, .written = true});
        return;
      case Place::kSums:  // 8 columns for each step of the shape, in 4 registers
        return read(Place::kThread, 64, 4 * (1 + field(53, 5)));
      case Place::kMatrices:
        if (form() != kUniformForm) return read(Place::kUniform, 24, 4);
        read(Place::kThread, 24, 4);
        return add_at(Place::kUniform, field(32, 6) + 2, {.place = Place::kUniform, .count = 2});  // of the second
      case Place::kAccumulate:
        return add_at(Place::kUniformPredicate, kNoPredicate - field(87, 3), {});
      case Place::kCondition:
        if (form() == kLastImmediate) read(Place::kUniformPredicate, 24, 1);
        if (form() != kLastImmediate && bit(91)) read(Place::kUniform, 24, 1);
        return;
      case Place::kData:
        return read(Place::kThread, registers ? 64 : 32, 0);
      case Place::kShuffle:
        read(Place::kThread, 24, 1);
        if (registers || form() == kLastImmediate) read(Place::kThread, 32, 1);
        if (registers || form() == kImmediate) read(Place::kThread, 64, 1);
        return;
      case Place::kBarrier:
        if (form() != kConstantForm) read(Place::kThread, 32, 1);
        if (field(77, 3) > 1) read(Place::kPredicate, 87, 1);  // not .SYNC, .ARV
        return;
      case Place::kLoadBox:
        return read(Place::kUniform, 32, 2 + dimensions());
      case Place::kStoreBox:
        return read(Place::kUniform, 32, 1 + dimensions());
      case Place::kCallee:
        if (registers) read(Place::kThread, 24, 2);
        return;
      case Place::kSpecial:
        return add_from(Place::kThread, 16, {.count = bit(80) ? 2 : 1, .written = true});
      case Place::kPrefetchBox:
        return read(Place::kUniform, 32, dimensions());
      case Place::kMask:
        if (registers) read(Place::kUniform, 64, 1);
        return;
      default:
        if (bit(76)) read(Place::kUniform, 40, 2);
    }
  }

  int dimensions() const { return 1 + field(79, 3); }

  void read_masked() {
    for (int i = 0; i < kNoPredicate; ++i) {
      if (form() != kImmediate || bit(32 + i)) add_at(predicates(), i, {});
    }
  }

  Place predicates() const { return opcode_->uniform ? Place::kUniformPredicate : Place::kPredicate; }

  // A table of 8 bits at 72 and 64 says what three inputs become.
  void read_logic() {
    if (field(81, 3) == kNoPredicate || bit(71) || bit(80) || bit(90)) return;
    out_.sets = out_.reads.empty() && bit(76);
    out_.clears = out_.reads.empty() && !bit(76);
    // For one input, the others true: bit 7 where it is true; and 3, 5 or 6 where it is false, by its place.
    if (out_.reads.size() != 1) return;
    const int table = 8 * field(72, 5) + field(64, 3);
    const int where_false = field(87, 3) != kNoPredicate ? 3 : field(77, 3) != kNoPredicate ? 5 : 6;
    const bool if_true = (table >> 7 & 1) != 0, if_false = (table >> where_false & 1) != 0;
    if (if_true == if_false) return;
    out_.copies = out_.reads[0].first;
    out_.inverts = if_false;
  }

  // R2 * 1 + R4 adds; 0 * 0 + R4 moves.
  void add_factor() {
    for (MachineOperand& operand : out_.reads) {
      if (operand.first >= 0 && operand.role == Role::kValue) operand.role = Role::kAddend;
    }
  }

  void find_target() {
    // Words of 4 bytes from the next instruction on: their lowest 8 bits at 16, 48 at 34.
    const int64_t words = wide_field(34, 48) << 16 >> 16, low = field(16, 8);
    const int64_t by_words = offset_ + static_cast<int64_t>(kInstructionBytes) + 4 * (words * 256 + low);
    if (out_.effect == Effect::kBranches) out_.target = by_words;
    if (out_.effect == Effect::kCalls) {
      if (form() == kImmediate) out_.target = by_words;
      if (form() != kImmediate) out_.effect = Effect::kJumps;
    }
    if (out_.effect == Effect::kScopes) out_.target = offset_ + 16 + (wide_field(32, 50) << 14 >> 14);
    if (out_.effect == Effect::kScopes || out_.effect == Effect::kMeets) out_.barrier = field(16, 4);
    // Of a branch, what else it may hang on: a second predicate, a condition of the warp.
    // `.U.ANY`: bit 84 alone.
    out_.by_guard_alone = out_.effect == Effect::kBranches && form() == kImmediate && field(82, 5) == 0 &&
                          field(91, 5) == 0 && field(87, 4) == kNoPredicate;
    if (out_.effect == Effect::kEnds || out_.effect == Effect::kReturns)
      out_.by_guard_alone = field(87, 4) == kNoPredicate;
    const bool leads =
        out_.effect == Effect::kBranches || out_.effect == Effect::kEnds || out_.effect == Effect::kReturns;
    if (leads && !out_.by_guard_alone) out_.always = false;
    if (out_.effect == Effect::kBranches)
      out_.together = out_.always || (form() == kImmediate && field(82, 5) == 4 && field(87, 4) == kNoPredicate);
  }

  uint64_t first_, second_;
  int64_t offset_;
  const MachineOpcode* opcode_ = nullptr;
  MachineInstruction out_;
};

}  // namespace

MachineInstruction machine_instruction(uint64_t first, uint64_t second, int64_t offset) {
  return Decoder(first, second, offset).run();
}

}  // namespace solstice::toolchain
