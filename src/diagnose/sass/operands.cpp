#include "diagnose/sass/operands.h"

#include <algorithm>
#include <cctype>

namespace solstice::diagnose::sass {
namespace {

struct FoundRegister {
  int first = -1;
  size_t end = 0;     // of its name in the text
  bool wide = false;  // "R2.64"
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The next register name at or after `at`: `R` or `UR` and up to three digits, a word of its own.
FoundRegister next_register(std::string_view text, size_t at) {
  for (; at < text.size(); ++at) {
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '.')) continue;
    const bool uniform = text[at] == 'U';
    size_t digit = at + (uniform ? 1 : 0);
    if (digit >= text.size() || text[digit++] != 'R') continue;
    int number = 0;
    const size_t begin = digit;
    while (digit < text.size() && digit - begin < 4 && std::isdigit(static_cast<unsigned char>(text[digit])))
      number = number * 10 + (text[digit++] - '0');
    const bool whole = digit == text.size() || !is_word(text[digit]);
    if (digit == begin || !whole || number >= (uniform ? kUniformRegisters : kThreadRegisters)) continue;
    return {number + (uniform ? kThreadRegisters : 0), digit, text.substr(digit, 3) == ".64"};
  }
  return {};
}

// `count` registers from one on, all of one kind.
void add_registers(int first, int count, Registers& to) {
  const int end = first < kThreadRegisters ? kThreadRegisters : kThreadRegisters + kUniformRegisters;
  for (int i = first; i < std::min(first + count, end); ++i) to.set(static_cast<size_t>(i));
}

void add_all(std::string_view operand, int count, Registers& to) {
  for (FoundRegister found = next_register(operand, 0); found.first >= 0; found = next_register(operand, found.end))
    add_registers(found.first, found.wide ? 2 : count, to);
}

// Registers of a result, or of a value that is stored.
int registers_of_width(const Instruction& of) {
  if (of.access.space != Space::kNone) return std::max(1, of.access.bits / 32);
  if (of.kind == Kind::kFp64) return 2;
  for (const char* wide : {"WIDE", "64", "S64", "U64", "F64"}) {
    if (has_modifier(of.opcode, wide)) return 2;
  }
  return base_of(of.opcode) == "CS2R" && !has_modifier(of.opcode, "32") ? 2 : 1;
}

// A bulk copy takes shared address, barrier and coordinates from neighbouring registers.
constexpr int kTensorCopyRegisters = 7;

int address_registers(const Instruction& of) {
  if (of.kind == Kind::kTma) return kTensorCopyRegisters;
  if (of.kind == Kind::kWgmma) return 2;  // a matrix descriptor
  return has_modifier(of.opcode, "E") ? 2 : 1;
}

// `desc[UR4][R2.64]`: what stands in the first brackets is the window's descriptor, which is no address.
void add_address(const Instruction& of, std::string_view operand, Registers& to) {
  const bool described = operand.substr(0, 5) == "desc[";
  add_all(described ? operand.substr(std::min(operand.find(']'), operand.size())) : operand, address_registers(of), to);
}

// "c[0x0][R4]", "-c[0x3][0x10]": its index is no address of memory that a tool asks about.
bool is_constant(std::string_view operand) {
  const size_t name = operand.find_first_not_of("-|~!");
  return name != std::string_view::npos && operand.substr(name, 2) == "c[";
}

bool first_is_written(const Instruction& of) {
  switch (of.kind) {
    case Kind::kUnknown:
    case Kind::kControl:
    case Kind::kBarrier:
    case Kind::kFence:
    case Kind::kTma:
    case Kind::kAsyncCopy:
    case Kind::kStore:
      return false;
    default:
      return true;
  }
}

// A wide multiplication adds a pair.
int registers_read(const Instruction& of, size_t position) {
  if (of.kind == Kind::kFp64 || (of.kind == Kind::kInt && has_modifier(of.opcode, "64"))) return 2;
  if (of.kind == Kind::kStore) return registers_of_width(of);
  return has_modifier(of.opcode, "WIDE") && position >= 3 ? 2 : 1;
}

}  // namespace

std::vector<std::string_view> split_operands(std::string_view operands) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  const auto take = [&](size_t end) {
    const size_t from = operands.find_first_not_of(' ', begin);
    if (from < end) out.push_back(operands.substr(from, end - from));
    begin = end + 1;
  };
  for (size_t at = 0; at < operands.size(); ++at) {
    const char c = operands[at];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == ',' && depth <= 0) take(at);
  }
  take(operands.size());
  return out;
}

int register_of(std::string_view operand) { return next_register(operand, 0).first; }

Uses uses_of(const Instruction& instruction) {
  Uses out;
  bool written = !first_is_written(instruction);
  const size_t places = instruction.kind == Kind::kCompare ? 1 : 2;  // of the result: a predicate may stand before it
  const std::vector<std::string_view> operands = split_operands(instruction.operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].find('[') != std::string_view::npos && !is_constant(operands[i])) {
      add_address(instruction, operands[i], out.addresses);
      continue;
    }
    const int first = register_of(operands[i]);
    if (first >= 0 && !written && i < places) {
      add_registers(first, registers_of_width(instruction), out.writes);
      written = true;
      continue;
    }
    const bool zero = operands[i] == "RZ" || operands[i] == "URZ";
    if (zero && !written) written = true;
    add_all(operands[i], registers_read(instruction, i), out.reads);
  }
  return out;
}

}  // namespace solstice::diagnose::sass
