#include "families/rows/multi_block/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/reduction/online.h"
#include "families/reduction/phases.h"
#include "families/reduction/row_access.h"
#include "families/rows/choose.h"
#include "families/usual_machine.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kPiece = 16 * 1024;      // bytes of the row's data, about
constexpr int64_t kLeastPiece = 4 * 1024;  // of runs that are taken one by one
constexpr int64_t kMostSlots = 60;
constexpr int64_t kRing = 128;             // bytes that it is rounded up to
constexpr int64_t kOnTheWay = 2;           // slots that are being filled, at least
constexpr int64_t kLag = 4, kMostLag = 6;  // pieces
constexpr int64_t kLagBlocks = 40;         // a piece more for each so many blocks: their exchange takes longer
constexpr int64_t kManyBlocks = 88;  // blocks: beyond that 256 threads are faster than 512, but not at shifted vectors
constexpr double kEvenWaste = 0.06;  // of a row's pieces, that making them even may add
// Pieces of a row, of a block and ahead for each result, that weights must leave room for: with fewer each exchange is
// waited for.
constexpr int64_t kHeldPieces = 4, kHeldLag = 3;

Error refuse(std::string why, std::string hint) { return fail(Code::illegal_knobs, std::move(why), std::move(hint)); }

// Data that pass through the ring: those of the row that lie in runs of memory.
Result<std::vector<RunRead>> streams_of(const ir::Program& program, const Shape& shape) {
  std::vector<RunRead> out;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read || !depends_on_any(access, shape.columns)) continue;
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const RunRead& s) { return s.access.read == access.read; });
    const bool of_rows = shape.rows.empty() || depends_on_any(access, shape.rows);
    if (known || !of_rows || !is_run(shape, access)) continue;  // others are read where they are used
    RunRead read;
    read.element = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    read.access = access;
    out.push_back(std::move(read));
  }
  if (out.empty()) return refuse("`team`: no tensor is contiguous along the row", "drop it");
  return out;
}

int64_t element_of(const MultiBlock& team) {
  int64_t out = 0;
  for (const RunRead& s : team.streams) out += s.element;
  return out;
}

// Weights that are stored with every row and lie along it, in one run from their tensor's start.
std::vector<HeldWeights> weights_of(const ir::Program& program, const Shape& shape, const Phases& phases,
                                    const MultiBlock& team) {
  const std::vector<ir::ExprRef> reads = reads_of_stores(shape, phases);
  std::vector<HeldWeights> out;
  if (team.runs != 1) return out;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (std::find(reads.begin(), reads.end(), access.read) == reads.end() || depends_on_any(access, shape.rows))
      continue;
    if (!is_run(shape, access, shape.columns.size()) || access.offset->offset != 0) continue;
    const int element = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    const bool whole = team.shifted ? team.vector * element % 4 == 0 && shape.column_count >= 2 * team.vector
                                    : is_stream(shape, access, team.vector);
    const bool known = std::any_of(out.begin(), out.end(), [&](const HeldWeights& w) { return w.read == access.read; });
    if (whole && !known) out.push_back({access.read, access.tensor, element, 0});
  }
  return out;
}

// True if both begin alike against aligned vectors, in every run.
bool begin_alike(const codegen::Access& a, const codegen::Access& b, int vector) {
  if ((a.offset->offset - b.offset->offset) % vector != 0) return false;
  const auto differs = [&](const auto& term) {
    return (a.offset->coefficient(term.first) - b.offset->coefficient(term.first)) % vector != 0;
  };
  return std::none_of(a.offset->terms.begin(), a.offset->terms.end(), differs) &&
         std::none_of(b.offset->terms.begin(), b.offset->terms.end(), differs);
}

// Runs that are not aligned are taken in vectors that are, as wide as all streams and stores begin alike.
void shift_vectors(const ir::Program& program, const Shape& shape, MultiBlock& team) {
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
Status set_runs(const ir::Program& program, const Shape& shape, bool may_shift, MultiBlock& team) {
  const int64_t inner = shape.columns.back().extent;
  const size_t all = shape.columns.size();
  const bool joined = std::all_of(team.streams.begin(), team.streams.end(),
                                  [&](const RunRead& s) { return is_run(shape, s.access, all); });
  team.flat = all == 1 || (joined && inner * element_of(team) < kPiece);
  if (!team.flat && inner * element_of(team) < kLeastPiece) {
    return refuse(fmt::format("`team`: a row in runs of {} elements", inner),
                  fmt::format("legal: runs of {}", kLeastPiece / element_of(team)));
  }
  team.extent = team.flat ? shape.column_count : inner;
  team.runs = shape.column_count / team.extent;
  if (may_shift && (all == 1 || !team.flat)) shift_vectors(program, shape, team);
  team.run = ceil_div(team.extent + (team.shifted ? team.vector - 1 : 0), team.vector);
  return success();
}

void choose_layout(MultiBlock& team, int64_t limit) {
  const int64_t target = std::max<int64_t>(1, kPiece / (element_of(team) * team.vector));
  const int64_t part = ceil_div(team.run, team.runs == 1 ? int64_t{team.blocks} : 1);
  team.pieces = ceil_div(part, target) * (team.runs == 1 ? team.blocks : 1);
  team.piece = ceil_div(team.run, team.pieces);
  if (team.even) team.piece = round_up(team.piece, int64_t{team.group_threads()});
  team.pieces = ceil_div(team.run, team.piece);
  team.slot_bytes = 0;
  for (RunRead& s : team.streams) {
    s.offset = team.slot_bytes;
    s.pitch = run_bytes(team.piece * team.vector, s.element);
    team.slot_bytes += s.pitch;
  }
  int64_t at = round_up(team.aside(), int64_t{16});
  for (HeldWeights& w : team.held) {
    w.offset = at;
    at += round_up(team.held_vectors() * team.vector * w.element, int64_t{16});
  }
  team.held_bytes = team.held.empty() ? 0 : at - team.held.front().offset;
  team.slots = static_cast<int>(std::min(kMostSlots, (limit - kRing - at) / (team.slot_bytes + 16)));
  // The time of an exchange, in pieces. Accumulators and results of four rows are kept, so two rows ahead is
  // safe.
  const int64_t chunks = team.chunks(),
                most = std::min({kLag + team.blocks / kLagBlocks, kMostLag, 2 * team.least_chunks()});
  team.lag = team.holds ? std::clamp<int64_t>(team.slots - chunks - 1 - kOnTheWay, 0, most) : most;
}

bool is_wasteful(const MultiBlock& team) {
  return static_cast<double>(team.chunks() * team.blocks * team.piece) >
         (1 + kEvenWaste) * static_cast<double>(team.runs * team.run);
}

// Pieces that are even are walked without tests by all threads together. Where they cannot be, two groups of threads
// take them in turn: each goes through twice as much between two looks at the ring.
void arrange(MultiBlock& team, int64_t limit) {
  team.groups = 1;
  team.even = true;
  choose_layout(team, limit);
  if (!is_wasteful(team)) return;
  team.groups = team.threads % 64 == 0 ? 2 : 1;
  choose_layout(team, limit);
  if (is_wasteful(team)) {
    team.even = false;
    choose_layout(team, limit);
  }
  if (team.least_chunks() >= team.groups) return;
  team.groups = 1;
  choose_layout(team, limit);
}

// Held weights leave enough slots of the ring.
bool has_room(const MultiBlock& team) {
  return team.even && team.groups == 1 && team.least_chunks() >= kHeldPieces && team.lag >= kHeldLag * team.results;
}

bool fits(const MultiBlock& team) {
  return team.blocks <= team.row_pieces() && team.slots >= (team.holds ? team.chunks() + team.lag : 0) + 1 + kOnTheWay;
}

}  // namespace

Seconds MultiBlock::time(const Shape& shape, Bytes traffic, BytesPerSecond copy, int sms) const {
  // The share of an SM's copy rate that the pieces reach, and with shifted or narrow vectors, or few threads, the share
  // that their instructions leave.
  constexpr double kArranged = 1.025;  // all threads walk pieces without tests
  const bool wide = vector * element_of(*this) >= 16;
  const double drawn = (!wide     ? 0.63
                        : shifted ? 0.79
                                  : 0.855) *
                       (even && groups == 1 && threads >= 512 ? kArranged : 1.0) * (holds ? 1.0 : 0.85);
  const double share = drawn * std::min(1.0, (wide ? 2 : 1.4) * threads / 512.0);
  constexpr double kFewOnTheWay = 0.97;  // of that, where few pieces are
  constexpr Seconds kBlock{5.3e-9};      // blocks run apart: for each result that they exchange, and one
  const double whole =
      static_cast<double>(chunks() * blocks * piece) / static_cast<double>(runs * run);  // as if all pieces were
  const Bytes part = traffic / static_cast<double>(shape.row_count * blocks) * whole;
  Seconds row = part / (copy * (share / std::max(1, sms)));
  if (holds && held.empty() && slots - chunks() - lag < 4) row = row / kFewOnTheWay;
  // If weights leave few slots of the ring, few pieces are in flight before the exchange.
  const int64_t hidden = std::max<int64_t>(held.empty() ? 1 : kLag, lag);
  row += kBlock * ((results + 1) * blocks) * std::pow(static_cast<double>(kLag) / static_cast<double>(hidden), 1.5);
  // An exchange takes no longer than the pieces of the lag.
  const Seconds exchange(1.2e-6 + 0.11e-6 * std::sqrt(static_cast<double>(blocks)));
  if (lag > 0)
    row = std::max(row, exchange * (static_cast<double>(chunks()) / static_cast<double>(lag)));
  else
    row += exchange;
  return row * static_cast<double>(ceil_div(shape.row_count, teams));
}

Result<MultiBlock> multi_block_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs,
                                  const machine::Machine& machine) {
  if (shape.strided || shape.columns.empty())
    return refuse("`team`: a row that is not contiguous in memory", "legal: rows of runs");
  for (const char* other : {"cluster", "parts", "rows_per_block", "residency", "blocks", "passes"}) {
    if (knobs.find(other)) return refuse(fmt::format("`team` and `{}` exclude each other", other), "drop one");
  }
  if (shape.column_count > INT32_MAX / 2) return refuse("`team`: a row of more than 2^30 elements", "drop it");
  MultiBlock team;
  SOLSTICE_TRY(team.streams, streams_of(program, shape));
  const Phases phases = phases_of(shape, false);
  team.holds =
      std::any_of(phases.sweeps.begin(), phases.sweeps.end(), [](const Sweep& s) { return !s.stores.empty(); });
  const Result<OnlineReductions> found = online_reductions_of(shape, phases);
  if (!found.ok()) return refuse(fmt::format("`team`: {}", found.error().message), "drop it");
  const OnlineReductions& reductions = *found;
  team.results = static_cast<int>(reductions.first.size() + reductions.second.size());
  SOLSTICE_TRY(team.vector, vector_for(program, shape, knobs));
  SOLSTICE_CHECK(set_runs(program, shape, !knobs.find("vector"), team));
  team.threads = static_cast<int>(knobs.int_or("threads", team.threads));
  if (team.threads > 512) return refuse(fmt::format("`team` with threads={}", team.threads), "legal: up to 512");
  const int64_t sms = std::max(1, machine.sm_count);
  const int64_t limit = shared_of(&machine);
  const auto asked = static_cast<int>(knobs.int_or("team", 0));
  const std::vector<HeldWeights> weights =
      team.holds ? weights_of(program, shape, phases, team) : std::vector<HeldWeights>();
  MultiBlock best;
  const auto time_of = [&](const MultiBlock& t) {
    constexpr double kUsualCopy = 4.1e12, kReadAndWrite = 8;
    const auto elements = static_cast<double>(shape.row_count * shape.column_count);
    return t.time(shape, Bytes(kReadAndWrite * elements), BytesPerSecond(kUsualCopy), static_cast<int>(sms));
  };
  Seconds least(0);  // none yet
  for (int64_t blocks = asked > 0 ? asked : 1; blocks <= (asked > 0 ? asked : sms); ++blocks) {
    if (blocks > sms) break;
    team.blocks = static_cast<int>(blocks);
    const bool large = blocks > kManyBlocks && !team.shifted;
    team.threads = static_cast<int>(knobs.int_or("threads", large ? 256 : 512));
    team.teams = std::max<int64_t>(1, std::min(sms / blocks, shape.row_count));
    for (const bool held : {false, true}) {
      if (held && (weights.empty() || large)) break;
      team.held = held ? weights : std::vector<HeldWeights>();
      team.groups = 1;
      team.even = false;
      if (large || !team.holds || (!held && !weights.empty()))
        choose_layout(team, limit);
      else
        arrange(team, limit);
      if (!fits(team) || (held && !has_room(team))) continue;
      const Seconds time = time_of(team);
      const bool better = held == !best.held.empty() ? time < least : held;
      if (least.value == 0 || better) least = time, best = team;
    }
  }
  if (least.value == 0) {
    return refuse(fmt::format("`team`: a row of {} elements does not fit the shared memory of {} blocks",
                              shape.column_count, asked > 0 ? asked : sms),
                  "residency=l2");
  }
  return best;
}

}  // namespace solstice::families::rows
