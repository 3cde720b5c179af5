// The keys of a machine file: one table that the reader and the writer share.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/machine.h"

namespace solstice::machine {

// The member that holds a key's value.
using Member = std::variant<std::string Machine::*, int Machine::*, bool Machine::*, Bytes Machine::*,
                            BytesPerSecond Machine::*, Hertz Machine::*, Watts Machine::*>;
struct Key {
  std::string_view path;
  Member member;
};
const std::vector<Key>& machine_keys();  // all required

using MeasuredMember = std::variant<std::string Measured::*, std::optional<BytesPerSecond> Measured::*,
                                    std::optional<Seconds> Measured::*, std::optional<int> Measured::*>;
struct MeasuredKey {
  std::string_view path;  // below "measured."
  MeasuredMember member;
};
const std::vector<MeasuredKey>& measured_keys();  // all optional

}  // namespace solstice::machine
