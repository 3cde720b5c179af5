#include "families/rows/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/rows/layout.h"
#include "families/rows/local.h"
#include "families/rows/phases.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kUsualShared = 227 * 1024;  // where no machine is given
constexpr int64_t kPiece = 16 * 1024;         // bytes of the row's data, about
constexpr int64_t kLeastPiece = 4 * 1024;     // of runs that are taken one by one
constexpr int64_t kMostSlots = 60;
constexpr int64_t kRing = 128;             // bytes that it is rounded up to
constexpr int64_t kOnTheWay = 2;           // slots that are being filled, at least
constexpr int64_t kLag = 4, kMostLag = 6;  // pieces
constexpr int64_t kLagBlocks = 40;         // a piece more for each so many blocks: their exchange takes longer
constexpr int64_t kLargeTeam = 88;         // blocks: beyond that 256 threads are faster than 512

Error refuse(const std::string& why) { return fail(Code::illegal_knobs, why); }

bool depends_on_any(const codegen::Access& access, const std::vector<codegen::Loop>& loops) {
  return std::any_of(loops.begin(), loops.end(), [&](const codegen::Loop& loop) { return access.depends_on(loop.stepping()); });
}

// What goes through the ring: the row's data, where it is runs of memory.
Result<std::vector<RunRead>> streams_of(const ir::Program& program, const Shape& shape) {
  std::vector<RunRead> out;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read || !depends_on_any(access, shape.columns)) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const RunRead& s) { return s.access.read == access.read; });
    const bool of_rows = shape.rows.empty() || depends_on_any(access, shape.rows);
    if (known || !of_rows || !is_run(shape, access)) continue;  // others are read where they are used
    RunRead read;
    read.element = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    read.access = access;
    out.push_back(std::move(read));
  }
  if (out.empty()) return refuse("`team`: nothing is read that lies in runs of memory along the row; drop it");
  return out;
}

int64_t element_of(const Team& team) {
  int64_t out = 0;
  for (const RunRead& s : team.streams) out += s.element;
  return out;
}

// Whether both begin alike against aligned vectors, in every run.
bool begin_alike(const codegen::Access& a, const codegen::Access& b, int vector) {
  if ((a.offset->offset - b.offset->offset) % vector != 0) return false;
  const auto differs = [&](const auto& term) {
    return (a.offset->coefficient(term.first) - b.offset->coefficient(term.first)) % vector != 0;
  };
  return std::none_of(a.offset->terms.begin(), a.offset->terms.end(), differs) &&
         std::none_of(b.offset->terms.begin(), b.offset->terms.end(), differs);
}

// Runs that are not aligned are taken in vectors that are, as wide as all streams and stores begin alike.
void shift_vectors(const ir::Program& program, const Shape& shape, Team& team) {
  constexpr int kLoad = 16, kMost = 8;  // bytes, elements
  std::vector<codegen::Access> along;
  for (const RunRead& s : team.streams) along.push_back(s.access);
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read && is_run(shape, access)) along.push_back(access);
  }
  int vector = kMost;
  int smallest = kLoad;
  for (const codegen::Access& access : along)
    smallest = std::min(smallest, size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32)));
  vector = std::min(vector, kLoad / smallest);
  for (const codegen::Access& access : along) {
    while (vector > 1 && !begin_alike(access, along.front(), vector)) vector /= 2;
  }
  if (vector <= team.vector) return;
  team.vector = vector;
  team.shifted = true;
}

// Runs that are worth a piece of their own; shorter ones only where they follow each other.
Status set_runs(const ir::Program& program, const Shape& shape, bool may_shift, Team& team) {
  const int64_t inner = shape.columns.back().extent;
  const size_t all = shape.columns.size();
  const bool joined = std::all_of(team.streams.begin(), team.streams.end(), [&](const RunRead& s) { return is_run(shape, s.access, all); });
  team.flat = all == 1 || (joined && inner * element_of(team) < kPiece);
  if (!team.flat && inner * element_of(team) < kLeastPiece) {
    return refuse(fmt::format("`team`: a row in runs of {} elements; legal: runs of {}", inner, kLeastPiece / element_of(team)));
  }
  team.extent = team.flat ? shape.column_count : inner;
  team.runs = shape.column_count / team.extent;
  if (may_shift && (all == 1 || !team.flat)) shift_vectors(program, shape, team);
  team.run = ceil_div(team.extent + (team.shifted ? team.vector - 1 : 0), team.vector);
  return success();
}

void lay_out(Team& team, int64_t limit) {
  const int64_t target = std::max<int64_t>(1, kPiece / (element_of(team) * team.vector));
  const int64_t part = ceil_div(team.run, team.runs == 1 ? int64_t{team.blocks} : 1);
  team.pieces = ceil_div(part, target) * (team.runs == 1 ? team.blocks : 1);
  team.piece = ceil_div(team.run, team.pieces);
  team.pieces = ceil_div(team.run, team.piece);
  team.slot_bytes = 0;
  for (RunRead& s : team.streams) {
    s.offset = team.slot_bytes;
    s.pitch = run_bytes(team.piece * team.vector, s.element);
    team.slot_bytes += s.pitch;
  }
  team.slots = static_cast<int>(std::min(kMostSlots, (limit - kRing - team.aside()) / (team.slot_bytes + 16)));
  // What an exchange takes, as a few pieces. Findings and results of four rows are kept, so two rows ahead is safe.
  const int64_t chunks = team.chunks(), most = std::min({kLag + team.blocks / kLagBlocks, kMostLag, 2 * chunks});
  team.lag = team.holds ? std::clamp<int64_t>(team.slots - chunks - 1 - kOnTheWay, 0, most) : most;
}

bool fits(const Team& team) {
  return team.blocks <= team.row_pieces() && team.slots >= (team.holds ? team.chunks() + team.lag : 0) + 1 + kOnTheWay;
}

}  // namespace

Seconds Team::time(const Shape& shape, Bytes traffic, BytesPerSecond copy, int sms) const {
  // Of an SM's copy rate: what the pieces draw; with shifted or narrow vectors, or few threads, what their instructions leave of it.
  const bool wide = vector * element_of(*this) >= 16;
  const double share = (!wide ? 0.63 : shifted ? 0.79 : 0.855) * (holds ? 1.0 : 0.85) * std::min(1.0, (wide ? 2 : 1.4) * threads / 512.0);
  constexpr double kFewOnTheWay = 0.9;                                                                    // of that, where few pieces are
  constexpr Seconds kBlock{0.014e-6};                                                                     // blocks run apart
  const double whole = static_cast<double>(chunks() * blocks * piece) / static_cast<double>(runs * run);  // as if all pieces were
  const Bytes part = traffic / static_cast<double>(shape.row_count * blocks) * whole;
  Seconds row = part / (copy * (share / std::max(1, sms)));
  if (holds && slots - chunks() - lag < 4) row = row / kFewOnTheWay;
  row += kBlock * blocks * std::pow(static_cast<double>(kLag) / static_cast<double>(std::max<int64_t>(1, lag)), 1.5);
  // An exchange takes no longer than the pieces of the lag.
  const Seconds exchange(1.2e-6 + 0.11e-6 * std::sqrt(static_cast<double>(blocks)));
  if (lag > 0)
    row = std::max(row, exchange * (static_cast<double>(chunks()) / static_cast<double>(lag)));
  else
    row += exchange;
  return row * static_cast<double>(ceil_div(shape.row_count, teams));
}

Result<Team> team_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, const machine::Machine& machine) {
  if (shape.strided || shape.columns.empty()) return refuse("`team`: a row that is not contiguous in memory; legal: rows of runs");
  for (const char* other : {"cluster", "parts", "rows_per_block", "residency", "blocks", "passes"}) {
    if (knobs.find(other)) return refuse(fmt::format("`team` and `{}` exclude each other; drop one", other));
  }
  if (shape.column_count > INT32_MAX / 2) return refuse("`team`: a row of more than 2^30 elements");
  Team team;
  SOLSTICE_TRY(team.streams, streams_of(program, shape));
  const Phases phases = phases_of(shape, false);
  team.holds = std::any_of(phases.sweeps.begin(), phases.sweeps.end(), [](const Sweep& s) { return !s.stores.empty(); });
  SOLSTICE_TRY(const Findings findings, findings_of(shape, phases));
  team.results = static_cast<int>(findings.first.size() + findings.second.size());
  SOLSTICE_TRY(team.vector, vector_for(program, shape, knobs));
  SOLSTICE_CHECK(set_runs(program, shape, !knobs.find("vector"), team));
  team.threads = static_cast<int>(knobs.int_or("threads", team.threads));
  if (team.threads > 512) return refuse(fmt::format("`team` with threads={}; legal: up to 512", team.threads));
  const int64_t sms = std::max(1, machine.sm_count);
  const int64_t limit = machine.shared_per_block.value > 0 ? static_cast<int64_t>(machine.shared_per_block.value) : kUsualShared;
  const auto asked = static_cast<int>(knobs.int_or("team", 0));
  Team best;
  const auto time_of = [&](const Team& t) {
    constexpr double kUsualCopy = 4.1e12, kReadAndWrite = 8;
    const auto elements = static_cast<double>(shape.row_count * shape.column_count);
    return t.time(shape, Bytes(kReadAndWrite * elements), BytesPerSecond(kUsualCopy), static_cast<int>(sms));
  };
  Seconds least(0);  // none yet
  for (int64_t blocks = asked > 0 ? asked : 1; blocks <= (asked > 0 ? asked : sms); ++blocks) {
    if (blocks > sms) break;
    team.blocks = static_cast<int>(blocks);
    team.threads = static_cast<int>(knobs.int_or("threads", blocks > kLargeTeam ? 256 : 512));
    team.teams = std::max<int64_t>(1, std::min(sms / blocks, shape.row_count));
    lay_out(team, limit);
    if (!fits(team)) continue;
    if (const Seconds time = time_of(team); least.value == 0 || time < least) least = time, best = team;
  }
  if (least.value == 0) {
    return refuse(fmt::format("`team`: a row of {} elements does not fit the shared memory of {} blocks; residency=l2", shape.column_count,
                              asked > 0 ? asked : sms));
  }
  return best;
}

}  // namespace solstice::families::rows
