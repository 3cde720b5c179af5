#include "diagnose/sass/instruction.h"

#include <charconv>

namespace solstice::diagnose::sass {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Cuts the text before `end`, and `end` itself, off the front; all of it where there is none.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return front;
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

template <typename T>
std::optional<T> whole_number(std::string_view text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "/* 0x000fe20000000800 */", the rest of a line.
std::optional<uint64_t> encoding(std::string_view text) {
  text = trimmed(text);
  if (!starts_with(text, "/*")) return std::nullopt;
  text = trimmed(text.substr(2, text.find("*/") - 2));
  if (!starts_with(text, "0x")) return std::nullopt;
  return whole_number<uint64_t>(text.substr(2), 16);
}

Space space_of(std::string_view base) {
  if (base == "LD" || base == "ST") return Space::kGeneric;
  if (base == "LDG" || base == "STG" || base == "LDGSTS" || base == "LDGMC") return Space::kGlobal;
  if (base == "LDS" || base == "STS" || base == "LDSM" || base == "STSM") return Space::kShared;
  if (base == "LDL" || base == "STL") return Space::kLocal;
  return Space::kNone;
}

// A matrix of 8 x 8 elements of 16 bits is one register of every lane.
int16_t matrix_bits(std::string_view opcode) {
  const bool halved = has_modifier(opcode, "8");
  for (const auto& [modifier, count] : {std::pair{"4", 4}, std::pair{"2", 2}}) {
    if (has_modifier(opcode, modifier)) return static_cast<int16_t>(halved ? 16 * count : 32 * count);
  }
  return 32;
}

int16_t bits_of(std::string_view base, std::string_view opcode) {
  if (base == "LDSM" || base == "STSM") return matrix_bits(opcode);
  constexpr std::pair<std::string_view, int16_t> kWidths[] = {{"U8", 8},  {"S8", 8},    {"U16", 16}, {"S16", 16},
                                                              {"64", 64}, {"128", 128}, {"256", 256}};
  for (const auto& [modifier, bits] : kWidths) {
    if (has_modifier(opcode, modifier)) return bits;
  }
  return 32;
}

Access access_of(std::string_view opcode) {
  const std::string_view base = base_of(opcode);
  const Space space = space_of(base);
  if (space == Space::kNone) return {};
  return {space, base.substr(0, 2) == "ST", bits_of(base, opcode)};
}

// Adders and multipliers also copy constants and convert: what they do then is no arithmetic.
Kind kind_by_use(const Instruction& of) {
  const std::string_view base = base_of(of.opcode);
  const auto starts = [&](std::string_view operands) {
    const size_t comma = of.operands.find(',');
    return comma != std::string_view::npos && starts_with(trimmed(of.operands.substr(comma + 1)), operands);
  };
  if (of.predicate == "!PT" || of.predicate == "!UPT") return Kind::kControl;  // never runs: it keeps others in order
  if (base == "HFMA2" && starts("-RZ, RZ,")) return Kind::kMove;
  if (base == "HADD2" && has_modifier(of.opcode, "F32") && starts("-RZ,")) return Kind::kConvert;
  if (base == "IMAD" && (has_modifier(of.opcode, "MOV") || starts("RZ, RZ,"))) return Kind::kMove;
  return of.kind;
}

class ListingParser {
 public:
  explicit ListingParser(std::string_view text) : text_(text) {}

  Listing run() {
    while (!text_.empty() && !out_.cut) read_line(trimmed(take_until(text_, "\n")));
    return std::move(out_);
  }

 private:
  void read_line(std::string_view line) {
    if (starts_with(line, "/*")) return read_code(line);
    if (starts_with(line, "//## File ")) return read_place(line.substr(9));
    if (starts_with(line, ".section")) return read_section(trimmed(line.substr(8)));
    if (starts_with(line, "Function :")) return open(trimmed(line.substr(10)), true);
    if (starts_with(line, ".other")) return read_other(line);
    if (!line.empty() && line.back() == ':' && in_code_) return read_label(line.substr(0, line.size() - 1));
  }

  void open(std::string_view name, bool entry) {
    if (!count()) return;
    in_code_ = true;
    place_ = -1;
    out_.functions.push_back({.name = name, .entry = entry});
  }

  void read_section(std::string_view line) {
    constexpr std::string_view kText = ".text.";
    in_code_ = false;
    if (starts_with(line, kText)) open(trimmed(take_until(line, ",")).substr(kText.size()), false);
  }

  void read_other(std::string_view line) {
    if (in_code_ && line.find("STO_CUDA_ENTRY") != std::string_view::npos) out_.functions.back().entry = true;
  }

  void read_label(std::string_view name) {
    if (name.find(' ') != std::string_view::npos || !count()) return;
    Function& function = out_.functions.back();
    function.labels.push_back({name, function.instructions.size()});
    if (!starts_with(name, ".")) place_ = -1;  // a routine behind the kernel, which has no lines of its own
  }

  // ` "FILE", line 4 inlined at "FILE", line 3`: the next line is the place of the call.
  void read_place(std::string_view line) {
    if (!count()) return;
    const Place place = read_position(line);
    const Place call = read_position(line);
    const int index = static_cast<int>(out_.places.size());
    const bool goes_on = fresh_ && !call_.file.empty() && call_.file == place.file && call_.line == place.line;
    if (goes_on) out_.places.back().inlined_at = index;
    if (!goes_on) place_ = index;
    out_.places.push_back(place);
    call_ = call;
    fresh_ = true;
  }

  static Place read_position(std::string_view& line) {
    take_until(line, "\"");
    const std::string_view file = take_until(line, "\"");
    take_until(line, "line ");
    const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const std::optional<int> number = whole_number<int>(line.substr(0, digits), 10);
    line.remove_prefix(digits);
    return {file, number.value_or(0)};
  }

  void read_code(std::string_view line) {
    if (!in_code_) return;
    Function& function = out_.functions.back();
    if (const auto upper = encoding(line)) {
      if (half_) function.instructions.back().control = control_of(*upper);
      half_ = false;
      return;
    }
    const std::string_view number = trimmed(line.substr(2, line.find("*/") - 2));
    const std::optional<int64_t> address = whole_number<int64_t>(number, 16);
    take_until(line, "*/");
    const std::string_view code = trimmed(take_until(line, ";"));
    const int64_t before = function.instructions.empty() ? -1 : function.instructions.back().address;
    if (!address || *address <= before || code.empty() || !count()) return;  // addresses ascend
    Instruction instruction = parse_instruction(code);
    instruction.address = *address;
    instruction.place = place_;
    function.instructions.push_back(instruction);
    half_ = encoding(line).has_value();
    fresh_ = false;
  }

  // False at the limit.
  bool count() {
    half_ = false;
    out_.cut = counted_++ >= kMostInstructions;
    return !out_.cut;
  }

  std::string_view text_;
  Listing out_;
  bool in_code_ = false;
  bool half_ = false;   // the last line has the lower half of an encoding
  bool fresh_ = false;  // no instruction since the last place
  Place call_;          // of the last place
  int place_ = -1;
  size_t counted_ = 0;
};

}  // namespace

std::vector<const char*> enum_names(Space) { return {"none", "global", "shared", "local", "generic"}; }

Control control_of(uint64_t upper) {
  const auto field = [&](int from, int bits) { return static_cast<uint8_t>((upper >> from) & ((1U << bits) - 1)); };
  const auto barrier = [&](int from) {
    const uint8_t which = field(from, 3);
    return static_cast<int8_t>(which == 7 ? -1 : which);
  };
  return {.stall = field(41, 4),
          .yields = field(45, 1) == 0,
          .write_barrier = barrier(46),
          .read_barrier = barrier(49),
          .wait_mask = field(52, 6),
          .reuse = field(58, 4)};
}

Instruction parse_instruction(std::string_view text) {
  Instruction out;
  while (!text.empty() && (text.front() == '{' || text.front() == '}')) text = trimmed(text.substr(1));
  if (starts_with(text, "@")) {
    out.predicate = take_until(text, " ").substr(1);
    text = trimmed(text);
  }
  const size_t end = std::min(text.find_first_of(kBlanks), text.size());
  out.opcode = text.substr(0, end);
  out.operands = trimmed(text.substr(end));
  const OpcodeClass found = class_of(out.opcode);
  out.kind = found.kind;
  out.pipe = found.pipe;
  out.kind = kind_by_use(out);
  if (out.predicate != "!PT" && out.predicate != "!UPT") out.access = access_of(out.opcode);
  return out;
}

Listing parse_listing(std::string_view text) { return ListingParser(text).run(); }

}  // namespace solstice::diagnose::sass
