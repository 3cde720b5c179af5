#include "families/walk.h"

#include <fmt/format.h>

#include "base/integer.h"

namespace solstice::families {

using codegen::Binding;
using codegen::CType;
using codegen::Value;

void bind_loops(codegen::Emitter& emitter, const std::vector<codegen::Loop>& loops, Value number, int vector,
                int depth) {
  const std::string_view as = number.type == CType::kI64 ? "unsigned long long" : "unsigned";
  for (size_t k = loops.size(); k-- > 0;) {
    const bool innermost = k + 1 == loops.size();
    const int64_t steps = innermost ? ceil_div(loops[k].extent, vector) : loops[k].extent;
    Value counter = number;
    if (k > 0) {
      const auto part = [&](char op) {
        return fmt::format("static_cast<{}>(static_cast<{}>({}) {} {}u)", codegen::name_of(number.type), as,
                           number.text, op, steps);
      };
      counter = emitter.define(number.type, part('%'), depth, {0, steps - 1});
      number = emitter.define(number.type, part('/'), depth, {0, number.range.hi / steps});
    }
    emitter.bind(loops[k].stepping(), Binding{0, {{counter, innermost ? vector : 1}}});
  }
}

void bind_lanes(codegen::Emitter& emitter, const std::vector<codegen::Loop>& loops, int vector, int depth) {
  if (vector == 1 || loops.empty()) return;
  Binding binding = emitter.binding(loops.back().stepping());
  binding.terms.push_back({emitter.variable(CType::kI32, "lane", depth, {0, vector - 1}), 1});
  emitter.bind(loops.back().stepping(), std::move(binding));
}

}  // namespace solstice::families
