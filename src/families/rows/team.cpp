#include "families/rows/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/rows/local.h"
#include "families/rows/phases.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kAside = 8 * 1024;          // bytes of shared memory beside the ring: barriers, slots of reductions
constexpr int64_t kUsualShared = 227 * 1024;  // where no machine is given
constexpr int64_t kChunk = 8 * 1024;          // bytes that one slot of the ring holds, about
constexpr int64_t kMostSlots = 26;
constexpr int64_t kRegisters = 65536;    // of an SM
constexpr int64_t kOtherRegisters = 44;  // that a thread needs beside the row's values

Error refuse(const std::string& why) { return fail(Code::illegal_knobs, why); }

bool depends_on_any(const codegen::Access& access, const std::vector<codegen::Loop>& loops) {
  return std::any_of(loops.begin(), loops.end(), [&](const codegen::Loop& loop) { return access.depends_on(loop.stepping()); });
}

// The access walks neighbouring elements of memory from the row's first to its last.
bool is_run(const codegen::Access& access, const Shape& shape) {
  if (!access.offset || access.tested) return false;
  int64_t step = 1;
  for (auto loop = shape.columns.rbegin(); loop != shape.columns.rend(); ++loop) {
    if (access.offset->coefficient(loop->stepping()) != step) return false;
    step *= loop->extent;
  }
  return true;
}

// What goes through the ring: the row's data, where it is one run.
Result<std::vector<RunRead>> streams_of(const ir::Program& program, const Shape& shape) {
  std::vector<RunRead> out;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read || !depends_on_any(access, shape.columns)) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const RunRead& s) { return s.access.read == access.read; });
    const bool of_rows = shape.rows.empty() || depends_on_any(access, shape.rows);
    if (known || !of_rows || !is_run(access, shape)) continue;  // others are read where they are used
    RunRead read;
    read.element = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    read.access = access;
    out.push_back(std::move(read));
  }
  if (out.empty()) return refuse("`team`: nothing is read that lies in one run of memory along the row; drop it");
  return out;
}

void lay_out(Team& team, int64_t limit) {
  const int64_t part = ceil_div(team.vectors, int64_t{team.blocks});
  team.steps = ceil_div(part, int64_t{team.threads});
  int64_t element = 0;
  for (const RunRead& s : team.streams) element += s.element;
  const int64_t step_bytes = team.threads * team.vector * element;
  team.chunk = std::clamp<int64_t>(kChunk / step_bytes, 1, team.steps);
  team.slot_bytes = 0;
  for (RunRead& s : team.streams) {
    s.offset = team.slot_bytes;
    s.pitch = run_bytes(team.chunk * team.threads * team.vector, s.element);
    team.slot_bytes += s.pitch;
  }
  team.slots = static_cast<int>(std::min(kMostSlots, (limit - kAside) / (team.slot_bytes + 16)));
}

// Whether a thread's registers hold its vectors, and the ring a few chunks.
bool fits(const Team& team) {
  int64_t element = 0;
  for (const RunRead& s : team.streams) element += s.element;
  return team.slots >= 4 && std::max<int64_t>(element, 4) * team.vector * team.steps <= 4 * (team.registers() - kOtherRegisters);
}

}  // namespace

int Team::registers() const {
  constexpr int64_t kMost = 240;
  const int64_t pool = kRegisters / block_threads() / 8 * 8 * block_threads();  // of the block, from its launch on
  return static_cast<int>(std::min(kMost, (pool - kWarpgroup * kCopyRegisters) / (groups * threads) / 8 * 8));
}

Seconds Team::time(const Shape& shape, Bytes traffic, BytesPerSecond copy, int sms) const {
  const double share = groups > 1 ? 0.885 : 0.73;
  const Seconds wait(0.2e-6 * std::sqrt(static_cast<double>(blocks)));
  const Bytes part = traffic / static_cast<double>(shape.row_count * blocks);
  return (part / (copy * (share / std::max(1, sms))) + wait) * static_cast<double>(ceil_div(shape.row_count, teams));
}

Result<Team> team_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, const machine::Machine& machine) {
  if (shape.strided || shape.columns.empty()) return refuse("`team`: a row that is not contiguous in memory; legal: rows of one run");
  for (const char* other : {"cluster", "parts", "rows_per_block", "residency", "blocks", "passes"}) {
    if (knobs.find(other)) return refuse(fmt::format("`team` and `{}` exclude each other; drop one", other));
  }
  if (shape.column_count > INT32_MAX / 2) return refuse("`team`: a row of more than 2^30 elements");
  Team team;
  SOLSTICE_TRY(team.streams, streams_of(program, shape));
  SOLSTICE_CHECK(findings_of(shape, phases_of(shape, false)));
  SOLSTICE_TRY(team.vector, vector_for(program, shape, knobs));
  team.vectors = ceil_div(shape.column_count, int64_t{team.vector});
  const int64_t sms = std::max(1, machine.sm_count);
  const int64_t limit = machine.shared_per_block.value > 0 ? static_cast<int64_t>(machine.shared_per_block.value) : kUsualShared;
  const auto asked = static_cast<int>(knobs.int_or("team", 0)), groups = static_cast<int>(knobs.int_or("groups", 0)),
             threads = static_cast<int>(knobs.int_or("threads", 0));
  Team best;
  const auto time_of = [&](const Team& t) {
    constexpr double kUsualCopy = 4.1e12, kReadAndWrite = 8;
    const auto elements = static_cast<double>(shape.row_count * shape.column_count);
    return t.time(shape, Bytes(kReadAndWrite * elements), BytesPerSecond(kUsualCopy), static_cast<int>(sms));
  };
  Seconds least(0);  // none yet
  for (const auto& [groups_now, threads_now] : {std::pair{2, 256}, {1, 512}}) {
    team.groups = groups > 0 ? groups : groups_now;
    team.threads = threads > 0 ? threads : threads_now;
    if (team.block_threads() > 1024 || team.threads % kWarpgroup != 0) continue;
    for (int64_t blocks = asked > 0 ? asked : 1; blocks <= (asked > 0 ? asked : sms); ++blocks) {
      if (blocks > sms || blocks > team.threads) break;
      team.blocks = static_cast<int>(blocks);
      team.teams = std::max<int64_t>(1, std::min(sms / blocks, shape.row_count));
      lay_out(team, limit);
      if (!fits(team)) continue;
      if (const Seconds time = time_of(team); least.value == 0 || time < least) least = time, best = team;
    }
  }
  if (least.value == 0) {
    return refuse(fmt::format("`team`: a row of {} elements does not fit the registers of {} blocks; residency=l2", shape.column_count,
                              asked > 0 ? asked : sms));
  }
  return best;
}

}  // namespace solstice::families::rows
