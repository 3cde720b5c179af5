// Knob values of a schedule: `tile=128x256x64`, `math=fp16x3`, `args=(x, y)`, `tma=x(box=64x64)`, sets `{a, b}`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace solstice::ir {

inline constexpr const char* kAuto = "auto";  // what a knob is that no schedule writes

struct KnobValue {
  enum class Kind { kInt, kReal, kName, kSize, kString, kTuple, kStruct, kSet };
  Kind kind = Kind::kInt;
  int64_t integer = 0;                  // kInt
  double real = 0;                      // kReal
  std::string text;                     // kName, kString; name of a kStruct
  int tensor = -1;                      // of a kName or kStruct: what the name is where the knob stands,
  int64_t offset = 0;                   // at this element of it,
  std::vector<int64_t> shape, strides;  // in this extent and at these strides (elements)
  std::vector<int64_t> sizes;           // kSize
  std::vector<KnobValue> items;         // kTuple, kSet
  std::vector<std::pair<std::string, KnobValue>> members;  // kStruct

  static KnobValue of_int(int64_t v);
  static KnobValue of_name(std::string v);
  static KnobValue of_size(std::vector<int64_t> v);
  static KnobValue of_string(std::string v);
  bool is_auto() const { return kind == Kind::kName && text == kAuto; }
  bool operator==(const KnobValue&) const = default;
};

std::string to_text(const KnobValue& value);  // as it is written in a program

// The knobs of one clause in the order written. A positional string (`by cuda("k.cu")`) has the name "".
struct Knobs {
  std::vector<std::pair<std::string, KnobValue>> items;

  const KnobValue* find(std::string_view name) const;
  void set(std::string_view name, KnobValue value);
  int64_t int_or(std::string_view name, int64_t otherwise) const;
  std::string name_or(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> size_or(std::string_view name, std::vector<int64_t> otherwise) const;
  bool operator==(const Knobs&) const = default;
};

// The knobs that a name stands for: `tile` itself, or those tied together in `(tile, cluster)={(..), (..)}`.
std::vector<std::string> tied_knobs(const std::string& name);

// The settings that a clause with sets stands for: one value a knob, tied ones taken apart. In the order of the sets,
// the last knob's values first; at most `most` of them.
std::vector<Knobs> settings_of(const Knobs& space, size_t most);
bool is_space(const Knobs& knobs);          // has a set
size_t count_settings(const Knobs& space);  // at most 2^31

std::string to_text(const Knobs& knobs);  // "math=fp16x3, tile=128x256x64"

}  // namespace solstice::ir
