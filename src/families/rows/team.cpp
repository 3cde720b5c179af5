#include "families/rows/team.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "families/rows/phases.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kAside = 8 * 1024;          // bytes of shared memory beside the ring: barriers, slots of reductions
constexpr int64_t kUsualShared = 227 * 1024;  // where no machine is given

Error refuse(const std::string& why) { return fail(Code::illegal_knobs, why); }

std::vector<RunRead> streams_of(const ir::Program& program, const Shape& shape) {
  std::vector<RunRead> out;
  const int inner = shape.columns.back().stepping();
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read || !access.offset || access.tested || access.offset->coefficient(inner) != 1) continue;
    const bool of_rows =
        std::any_of(shape.rows.begin(), shape.rows.end(), [&](const codegen::Loop& loop) { return access.depends_on(loop.stepping()); });
    const bool known = std::any_of(out.begin(), out.end(), [&](const RunRead& s) { return s.access.read == access.read; });
    if ((!of_rows && !shape.rows.empty()) || known) continue;
    RunRead read;
    read.element = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    read.access = access;
    out.push_back(std::move(read));
  }
  return out;
}

void place(Team& team, const Shape& shape) {
  team.part = ceil_div(ceil_div(shape.column_count, team.vector), team.blocks);
  team.slot_bytes = 0;
  for (RunRead& s : team.streams) {
    s.offset = team.slot_bytes;
    s.pitch = run_bytes(team.part * team.vector, s.element);
    team.slot_bytes += s.pitch;
  }
}

bool fits(const Team& team, int64_t limit) { return team.slots * (team.slot_bytes + 16) + kAside <= limit; }

}  // namespace

double Team::busy(const Shape& shape) const {
  return static_cast<double>(shape.row_count * blocks) / static_cast<double>(ceil_div(shape.row_count, teams));
}

Result<Team> team_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, const machine::Machine& machine) {
  if (shape.strided || shape.columns.size() != 1) return refuse("`team`: a row that is not contiguous in memory; legal: rows of one run");
  for (const char* other : {"cluster", "parts", "rows_per_block", "residency", "blocks", "passes"}) {
    if (knobs.find(other)) return refuse(fmt::format("`team` and `{}` exclude each other; drop one", other));
  }
  Team team;
  team.streams = streams_of(program, shape);
  if (team.streams.empty()) return refuse("`team`: no read steps along the row; drop it");
  if (shape.column_count > INT32_MAX / 2) return refuse("`team`: a row of more than 2^30 elements");
  team.vector = static_cast<int>(knobs.int_or("vector", vector_of(program, shape)));
  team.threads = static_cast<int>(knobs.int_or("threads", 256));
  const int64_t sms = std::max(1, machine.sm_count);
  const int64_t limit = machine.shared_per_block.value > 0 ? static_cast<int64_t>(machine.shared_per_block.value) : kUsualShared;
  const auto asked = static_cast<int>(knobs.int_or("team", 0));
  Team best;
  double best_busy = 0;
  const auto groups_asked = static_cast<int>(knobs.int_or("groups", 0));
  // Groups, with a slot more to fill ahead.
  for (const int groups : {2, 3, 1}) {
    if ((groups_asked > 0 && groups != groups_asked) || groups * team.threads + 32 > 1024) continue;
    for (int64_t blocks = asked > 0 ? asked : 1; blocks <= (asked > 0 ? asked : sms); ++blocks) {
      team.groups = groups;
      team.slots = groups + 1;
      team.blocks = static_cast<int>(blocks);
      team.teams = std::max<int64_t>(1, std::min(sms / blocks, shape.row_count));
      place(team, shape);
      if (blocks > sms || !fits(team, limit)) continue;
      if (const double busy = team.busy(shape); busy > best_busy * 1.01) best_busy = busy, best = team;
    }
    if (best_busy > 0) break;
  }
  if (best_busy == 0) {
    return refuse(fmt::format("`team`: two parts of a row of {} elements do not fit the shared memory of {} blocks; residency=l2",
                              shape.column_count, asked > 0 ? asked : sms));
  }
  return best;
}

}  // namespace solstice::families::rows
