#include "families/rows/draft.h"

#include <fmt/format.h>

#include "families/reduction/row_access.h"

namespace solstice::families::rows {

Draft::Draft(const ir::Program& from, Shape& its_shape, const Settings& its_settings)
    : program(from),
      shape(its_shape),
      settings(its_settings),
      phases(phases_of(its_shape,
                       its_settings.residency != Residency::kReload && its_settings.residency != Residency::kOnline)),
      steps(its_settings.steps(its_shape)),
      emitter(from, its_shape.flat.indices) {
  emitter.set_short_values(codegen::short_values_of(from, its_shape.flat));
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (access.read)
      reads.emplace(access.read.get(), access);
    else
      writes.emplace(access.equation, access);
  }
}

Status Draft::read_now(const std::vector<ir::ExprRef>& wanted) {
  for (const ir::ExprRef& read : wanted) {
    if (auto value = emitter.emit(read); !value.ok()) return value.error();
  }
  return success();
}

bool Draft::streams(const ir::ExprRef& read) const {
  const auto found = reads.find(read.get());
  return found != reads.end() && !settings.shifted && is_stream(shape, found->second, settings.vector);
}

std::string Draft::vector_type(std::string_view element) const {
  return fmt::format("Vec<{}, {}>", element, settings.vector);
}

}  // namespace solstice::families::rows
