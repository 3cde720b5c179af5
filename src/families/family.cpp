#include "families/family.h"

namespace solstice::families {

KnobSpec int_knob(std::string name, int64_t least, int64_t most, std::string otherwise, std::string help) {
  return {std::move(name),      "int",           {},    fmt::format("{}..{}", least, most),
          std::move(otherwise), std::move(help), least, most};
}

const Family* find_family(std::string_view name) {
  for (const Family* family : all_families()) {
    if (family->name == name) return family;
  }
  return nullptr;
}

}  // namespace solstice::families
