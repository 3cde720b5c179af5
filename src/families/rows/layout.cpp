#include "families/rows/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families::rows {
namespace {

using codegen::Binding;
using codegen::CType;
using codegen::Emitter;
using codegen::Loop;
using codegen::Value;

// `number` taken apart into the loops' counters; the innermost counts vectors.
void bind_digits(Emitter& emitter, const std::vector<Loop>& loops, Value number, int vector, int depth) {
  const bool wide = number.type == CType::kI64;
  for (size_t k = loops.size(); k-- > 0;) {
    const bool innermost = k + 1 == loops.size();
    const int64_t steps = innermost ? (loops[k].extent + vector - 1) / vector : loops[k].extent;
    Value digit = number;
    if (k > 0) {
      const auto part = [&](char op) {
        return fmt::format("static_cast<{}>(static_cast<{}>({}) {} {}u)", codegen::name_of(number.type), wide ? "unsigned long long" : "unsigned", number.text, op, steps);
      };
      digit = emitter.define(number.type, part('%'), depth, {0, steps - 1});
      number = emitter.define(number.type, part('/'), depth, {0, number.range.hi / steps});
    }
    emitter.bind(loops[k].stepping(), Binding{0, {{digit, innermost ? vector : 1}}});
  }
}

}  // namespace

bool is_stream(const Shape& shape, const codegen::Access& access, int vector) {
  if (!access.offset || shape.columns.empty()) return false;
  const Loop& lane = shape.columns.back();
  const int64_t step = access.offset->coefficient(lane.stepping());
  if (step == 0 || (vector > 1 && step != 1)) return false;
  if (access.tested && access.depends_on(lane.stepping())) return false;
  return codegen::alignment_of(access, lane, vector) == vector;
}

void bind_rows(Emitter& emitter, const Shape& shape) {
  const CType type = shape.row_count > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
  bind_digits(emitter, shape.rows, emitter.variable(type, "row", 0, {0, shape.row_count - 1}), 1, 0);
}

void bind_columns(Emitter& emitter, const Shape& shape, int vector, int depth) {
  const int64_t vectors = (shape.column_count + vector - 1) / vector;
  bind_digits(emitter, shape.columns, emitter.variable(CType::kI32, "c", depth, {0, vectors - 1}), vector, depth);
}

void bind_lanes(Emitter& emitter, const Shape& shape, int vector, int depth) {
  if (vector == 1 || shape.columns.empty()) return;
  Binding binding = emitter.binding(shape.columns.back().stepping());
  binding.terms.push_back({emitter.variable(CType::kI32, "lane", depth, {0, vector - 1}), 1});
  emitter.bind(shape.columns.back().stepping(), std::move(binding));
}

}  // namespace solstice::families::rows
