#include "families/rows/online/legality.h"

#include <algorithm>
#include <set>

#include "families/reduction/online.h"
#include "families/reduction/phases.h"
#include "families/reduction/row_access.h"

namespace solstice::families::rows {

Status check_online(const Shape& shape) {
  const auto refuse = [](const std::string& why) {
    return fail(Code::illegal_knobs, "`residency=once`: " + why, "drop it");
  };
  if (shape.strided || shape.columns.empty()) return refuse("a row that is not contiguous in memory");
  const Phases phases = phases_of(shape, false);
  const bool stores =
      std::any_of(phases.sweeps.begin(), phases.sweeps.end(), [](const Sweep& s) { return !s.stores.empty(); });
  if (stores) return refuse("elements are stored along the row, which needs a second pass over it");
  if (phases.sweeps.size() == 1)
    return refuse("no reduction needs another one's result: a single pass is enough anyway");
  const Result<OnlineReductions> reductions = online_reductions_of(shape, phases);
  return reductions.ok() ? success() : Status(refuse(reductions.error().message));
}

int vectors_in_flight(const ir::Program& program, const Shape& shape, const Settings& settings) {
  std::set<const ir::Expr*> streams;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (access.read && is_stream(shape, access, settings.vector)) streams.insert(access.read.get());
  }
  return std::max(1, (settings.vector == 1 ? 8 : 4) / std::max(1, static_cast<int>(streams.size())));
}

}  // namespace solstice::families::rows
