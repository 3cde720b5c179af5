#include "families/scan/scan_text.h"

#include <fmt/format.h>

#include "codegen/recurrence.h"
#include "families/reduction/reduction_text.h"

namespace solstice::families::scan {
namespace {

using codegen::CType;
using codegen::Emitter;
using codegen::Value;

Result<Scan> recurrence_text(Emitter& emitter, const ir::Expr& elements) {
  const codegen::LinearStep step = codegen::step_of(elements);
  SOLSTICE_TRY(const Value b, emitter.emit(step.b));
  SOLSTICE_TRY(const Value a, emitter.emit(step.a));
  const bool wide = a.type == CType::kF64 || b.type == CType::kF64;
  const CType type = wide ? CType::kF64 : CType::kF32;
  const std::string_view name = codegen::name_of(type);
  const std::string term = fmt::format("scan::step<{}>({}, {})", name, a.text, b.text);
  const int equation = emitter.indices().source_of(elements);
  return Scan{"scan::Linear", fmt::format("scan::Step<{}>", name), ".b", type, wide ? 16 : 8, term, "", equation};
}

}  // namespace

Result<Scan> scan_text(Emitter& emitter, const Prefix& prefix) {
  if (prefix.linear) return recurrence_text(emitter, *prefix.elements);
  SOLSTICE_TRY(const reduction::Reduction r, reduction::begin_reduction(emitter, *prefix.elements));
  const std::string_view member = r.scaled() ? ".get()" : "";
  return Scan{"reduction::" + r.op, r.type, member, r.value_type, r.bytes(), r.term, r.test, r.equation};
}

std::string accumulators_text(const std::vector<Scan>& scans, const Shape& shape) {
  std::string out;
  for (size_t i = 0; i < scans.size(); ++i)
    out += fmt::format("{} s{}[{}][{}];\n", scans[i].type, i, shape.unroll, shape.nest.vector);
  return out;
}

std::string starts_text(const std::vector<Scan>& scans, const Shape& shape) {
  std::string out;
  for (size_t i = 0; i < scans.size(); ++i) {
    out += fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) s{}[u][lane] = {}::start<{}>();\n",
                       shape.nest.vector, i, scans[i].op, scans[i].type);
  }
  return out;
}

}  // namespace solstice::families::scan
