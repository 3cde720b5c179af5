#include "families/map/nests.h"

#include "families/elementwise/stack.h"

namespace solstice::families::map {

using codegen::FlatKernel;

Result<std::vector<Nest>> make_nests(const ir::Program& program, const ir::Kernel& kernel, const Settings& settings) {
  SOLSTICE_TRY(FlatKernel flat, codegen::flatten(program, kernel));
  return make_nests(program, std::move(flat), settings);
}

Result<std::vector<Nest>> make_nests(const ir::Program& program, FlatKernel flat, const Settings& settings) {
  SOLSTICE_CHECK(elementwise::check_serial(program, flat, "map"));
  if (settings.rows > 1) {
    SOLSTICE_TRY(flat, elementwise::stacked(program, std::move(flat), settings.rows));
  }
  std::vector<Nest> nests = elementwise::group_equations(program, flat);
  for (Nest& nest : nests) {
    nest.loops = codegen::fused_loops(program, nest.flat, nest.order);
    for (const codegen::Loop& loop : nest.loops) nest.points *= loop.extent;
    elementwise::choose_vector(program, nest, settings.vector);
  }
  return nests;
}

}  // namespace solstice::families::map
