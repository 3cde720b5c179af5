#include "families/scan/thread_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "families/scan/moving_time.h"
#include "ir/walk_distinct.h"

namespace solstice::families::scan {
namespace {

using codegen::Access;

constexpr int kGridThreads = 1024;       // of an SM, and of a block: the fewer blocks, the fewer messages
constexpr int kMostShared = 220 * 1024;  // bytes of shared memory, of an SM
constexpr int kLargestOffer = 8;         // bytes that a block offers to others (reduction/multi_block.h)

// Rows stay in one loop of their own, so that a thread's vector never crosses into the next row.
void choose_loops(const ir::Program& program, Shape& shape) {
  elementwise::Nest& nest = shape.nest;
  const auto at = std::find(nest.order.begin(), nest.order.end(), shape.along);
  shape.extent = nest.flat.indices.index(shape.along).extent;
  nest.loops = codegen::fused_loops(program, nest.flat, {nest.order.begin(), at});
  nest.loops.push_back({{shape.along}, shape.extent});
  const auto inner = codegen::fused_loops(program, nest.flat, {at + 1, nest.order.end()});
  shape.by_columns = !inner.empty();
  nest.loops.insert(nest.loops.end(), inner.begin(), inner.end());
  for (const codegen::Loop& loop : nest.loops) nest.points *= loop.extent;
}

// Bytes of the narrowest and the widest element that is loaded or stored along the innermost loop.
std::pair<int, int> elements_of(const ir::Program& program, const elementwise::Nest& nest) {
  int narrowest = 8, widest = 1;
  for (const Access& access : codegen::accesses_of(program, nest.flat)) {
    if (!access.offset || access.offset->coefficient(nest.loops.back().stepping()) != 1) continue;
    const int bytes = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    narrowest = std::min(narrowest, bytes);
    widest = std::max(widest, bytes);
  }
  return {std::min(narrowest, widest), widest};
}

// Vectors of rows that are not aligned: as wide as all stores begin alike.
void shift_rows(const ir::Program& program, Shape& shape, int wanted) {
  constexpr int kShortRow = 4;  // vectors
  elementwise::Nest& nest = shape.nest;
  int vector = wanted;
  for (const Access& access : codegen::accesses_of(program, nest.flat)) {
    while (!access.read && !elementwise::is_single(nest, access) && vector > 1 &&
           !elementwise::is_congruent(nest, access, vector))
      vector /= 2;
  }
  if (vector <= nest.vector || shape.extent < kShortRow * vector) return;
  nest.vector = vector;
  nest.shifted = true;
}

void choose_vector(const ir::Program& program, Shape& shape, const Knobs& knobs) {
  constexpr int kLoad = 16;  // bytes
  elementwise::Nest& nest = shape.nest;
  const int wanted = knobs.vector > 0 ? knobs.vector : std::min(8, kLoad / elements_of(program, nest).second);
  elementwise::choose_vector(program, nest, wanted);
  nest.flattened = false;
  while (nest.loops.back().extent % nest.vector != 0) nest.vector /= 2;
  if (!shape.by_columns) shift_rows(program, shape, wanted);
}

int bytes_of(const ir::Program& program, const Prefix& prefix) {
  bool wide = prefix.elements->kind != ir::ValueKind::kReal;  // integers are counted in 64 bits
  ir::walk_distinct(prefix.elements, [&](const ir::Expr& e) {
    wide |= e.op == ir::Op::kRead && program.tensor(e.id).dtype == DType::kF64;
  });
  return (wide ? 8 : 4) * (prefix.linear ? 2 : 1);
}

// Bytes that a thread holds of an element: its loads, and its place in each scan.
int held_bytes(const ir::Program& program, const Shape& shape) {
  int bytes = 0;
  for (const Access& access : codegen::accesses_of(program, shape.nest.flat)) {
    if (access.read && elementwise::is_stream(shape.nest, access))
      bytes += size_of(*program.tensor(access.tensor).dtype);
  }
  for (const Prefix& prefix : shape.prefixes) bytes += bytes_of(program, prefix);
  return bytes;
}

// Bytes that a thread loads of one vector.
int64_t loaded_bytes(const ir::Program& program, const Shape& shape) {
  std::set<const ir::Expr*> seen;
  int64_t bytes = 0;
  for (const Access& access : codegen::accesses_of(program, shape.nest.flat)) {
    if (access.read && elementwise::is_stream(shape.nest, access) && seen.insert(access.read.get()).second)
      bytes += int64_t{size_of(*program.tensor(access.tensor).dtype)} * shape.nest.vector;
  }
  return bytes;
}

// Elements a thread takes of a tile so that it holds `bytes` of them.
int items_for(const ir::Program& program, const Shape& shape, int bytes) {
  return static_cast<int>(
      std::bit_floor(static_cast<unsigned>(std::max(bytes / held_bytes(program, shape), shape.nest.vector))));
}

void set_items(Shape& shape, int items) {
  shape.unroll = static_cast<int>(std::min<int64_t>(std::max(1, items / shape.nest.vector), shape.row_vectors()));
}

// Columns: a block's lanes reach over 512 bytes, where there are columns enough, and its warps take parts of a tile's
// steps.
void choose_columns(const ir::Program& program, Shape& shape, const Knobs& knobs, int sms) {
  constexpr int kThreads = 256, kReach = 128, kVectors = 4;  // elements; of a thread
  constexpr int kRoom = 96 * 1024;  // bytes of shared memory in which threads tell each other what they hold
  const int vector = shape.nest.vector;
  int lanes = std::max(kWarp, kReach / vector);
  while (lanes > kWarp && shape.row_sets() < int64_t{lanes} * 2 * sms) lanes /= 2;
  const bool few = shape.row_sets() < int64_t{lanes} * sms;  // then a block is alone on its SM
  const int usual = vector == 1 ? items_for(program, shape, 128) : (few ? 2 : 1) * kVectors * vector;
  set_items(shape, knobs.items > 0 ? knobs.items : usual);
  shape.threads = knobs.threads > 0 ? knobs.threads : kThreads;
  int told = 0;
  for (const Prefix& prefix : shape.prefixes) told += 2 * vector * bytes_of(program, prefix);
  if (shape.threads * told > kRoom) return;  // a column is one thread's
  const auto needed = static_cast<uint64_t>(ceil_div(shape.row_vectors(), shape.unroll));
  shape.group = static_cast<int>(
      std::min<uint64_t>(std::bit_ceil(needed), static_cast<uint64_t>(std::max(1, shape.threads / lanes))));
}

// The fewest threads that hold a row in as few tiles as `most` threads do.
int group_for(const Shape& shape, int most) {
  const int64_t tiles = ceil_div(shape.row_vectors(), int64_t{most} * shape.unroll);
  const int64_t needed = ceil_div(shape.row_vectors(), tiles * shape.unroll);
  return static_cast<int>(needed > kWarp ? round_up(needed, kWarp)
                                         : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(needed))));
}

void choose_rows(const ir::Program& program, Shape& shape, const Knobs& knobs) {
  constexpr int kSmallestBlock = 128, kLongRow = 8192, kAtOnce = 1024,
                kVectors = 4;  // threads; elements; threads of an SM; of a thread
  const bool alone = shape.nest.vector == 1, long_row = shape.extent > kLongRow;
  const int usual = alone       ? 8
                    : !long_row ? kVectors * shape.nest.vector
                                : items_for(program, shape, shape.nest.shifted ? 192 : 256);
  set_items(shape, knobs.items > 0 ? knobs.items : usual);
  shape.group = group_for(shape, knobs.threads > 0 ? knobs.threads : alone ? 128 : 512);
  shape.threads = knobs.threads > 0 ? knobs.threads : std::max(shape.group, kSmallestBlock);
  if (shape.group > kWarp) shape.threads = shape.group;  // barriers are the block's
  if (shape.nest.shifted) shape.blocks_an_sm = std::max(1, kAtOnce / shape.threads);
}

// Bytes of shared memory a block takes: tiles on their way, and what threads or warps tell each other.
int64_t exchange_bytes_of(const ir::Program& program, const Shape& shape) {
  constexpr int64_t kAlone = 2, kShared = 6, kSystem = 1024;  // values; values; bytes
  const int64_t values = (shape.grid > 0 ? kShared : kAlone) *
                         (shape.by_columns ? int64_t{shape.threads} * shape.nest.vector : shape.warps());
  int64_t out = kSystem;
  for (const Prefix& prefix : shape.prefixes) out += round_up(values * bytes_of(program, prefix), kSystem);
  return out;
}
int64_t shared_bytes_of(const ir::Program& program, const Shape& shape) {
  return shape.stages * shape.unroll * shape.threads * loaded_bytes(program, shape) + exchange_bytes_of(program, shape);
}

// Tiles that are as large as their ring leaves room for, and prefixes registers.
int items_of_ring(const ir::Program& program, const Shape& shape) {
  constexpr int kHeld = 128;  // bytes of a thread's registers
  int held = 0;
  for (const Prefix& prefix : shape.prefixes) held += bytes_of(program, prefix);
  const int64_t room = kMostShared / std::max(1, kGridThreads / shape.threads) - exchange_bytes_of(program, shape);
  const int64_t slots = shape.stages * shape.threads * std::max<int64_t>(1, loaded_bytes(program, shape));
  return static_cast<int>(std::min<int64_t>(room / slots * shape.nest.vector, kHeld / held));
}

// All blocks of the machine take tiles in turn.
Status share(const ir::Program& program, const Knobs& knobs, int sms, Shape& shape) {
  const auto refuse = [](const char* why) {
    return fail(Code::illegal_knobs, fmt::format("`sharing=grid`: {}", why), "sharing=block");
  };
  for (const Prefix& prefix : shape.prefixes) {
    if (bytes_of(program, prefix) > kLargestOffer)
      return refuse("the state of an f64 recurrence is too large for the exchange between blocks");
  }
  constexpr int kStages = 3;  // one told of and two on their way, or one of these being told of
  shape.stages = knobs.stages >= 0 ? knobs.stages : kStages;
  if (shape.stages < kStages)
    return fail(Code::illegal_knobs, "`sharing=grid` holds 3 or 4 tiles", "leave `stages` out");
  shape.grid = sms;  // at least
  shape.threads = knobs.threads > 0 ? knobs.threads : shape.by_columns ? kGridThreads / 2 : kGridThreads;
  shape.group = shape.by_columns ? shape.threads / kWarp : shape.threads;
  if (shape.by_columns) shape.nest.vector = 1;  // more columns than lanes would only be more to tell
  set_items(shape, knobs.items > 0 ? knobs.items : items_of_ring(program, shape));
  if (shape.row_vectors() < shape.tile()) return refuse("a row is shorter than a tile");
  const int64_t bytes = shared_bytes_of(program, shape);
  if (bytes > kMostShared) return refuse("its tiles take more shared memory than a block has");
  shape.blocks_an_sm = static_cast<int>(std::clamp<int64_t>(kGridThreads / shape.threads, 1, kMostShared / bytes));
  shape.grid = int64_t{sms} * shape.blocks_an_sm;
  if (shape.by_columns) {
    shape.teams = ceil_div(shape.row_sets(), shape.rows_per_block());
    shape.grid = shape.grid / shape.teams * shape.teams;
    if (shape.grid <= shape.teams) return refuse("there are enough columns for all blocks");
  }
  if (shape.rounds() * shape.grid > INT32_MAX) return refuse("more than 2^31 tiles");
  return success();
}

// Two-byte elements take twice their loads' registers when they are scanned: these leave more room in shared memory.
// Columns are walked step by step, by few blocks, and long rows with masks by one an SM: the next tile is on its way
// meanwhile.
Status choose_stages(const ir::Program& program, const Knobs& knobs, int sms, Shape& shape) {
  constexpr int kTiles = 4, kAhead = 2, kNarrow = 8;  // that are worth it; tiles; elements of a vector
  const bool asked = knobs.stages >= 0;
  const int64_t resident =
      std::min<int64_t>(std::max(1, kGridThreads / shape.threads), ceil_div(shape.blocks(), int64_t{sms}));
  const auto [narrowest, widest] = elements_of(program, shape.nest);
  // A mask: 0.97 of copy for rows of 14871, 0.88 one by one; 0.87 and 0.73 for 100 rows of 2.6 million.
  const bool beside = (shape.nest.shifted || resident == 1) && 2 * narrowest < widest;
  const bool helps =
      shape.by_columns ? shape.nest.vector > 1 && shape.tiles() >= kTiles : shape.nest.vector == kNarrow || beside;
  shape.stages = static_cast<int>(std::min<int64_t>(asked ? knobs.stages : helps ? kAhead : 0, shape.tiles()));
  const int64_t bytes = shared_bytes_of(program, shape);
  if (asked && shape.stages > 0 && bytes > kMostShared)
    return fail(Code::illegal_knobs,
                fmt::format("`stages={}`: tiles take {} bytes of shared memory, a block has {}", shape.stages, bytes,
                            kMostShared),
                "fewer stages, threads or items");
  if (!asked && bytes * resident > kMostShared) shape.stages = 0;
  return success();
}

Status choose_layout(const ir::Program& program, const Knobs& knobs, const machine::Machine& machine, Shape& shape) {
  constexpr int64_t kTilesWorthSharing = 2;
  const int sms = std::max(1, machine.sm_count);
  choose_loops(program, shape);
  choose_vector(program, shape, knobs);
  Shape shared = shape;
  if (shape.by_columns) {
    choose_columns(program, shape, knobs, sms);
  } else {
    choose_rows(program, shape, knobs);
  }
  const Status staged = choose_stages(program, knobs, sms, shape);
  if (knobs.sharing == Sharing::kBlock) return staged;
  const Status possible = share(program, knobs, sms, shared);
  const bool asked = knobs.sharing == Sharing::kGrid;
  if (asked) SOLSTICE_CHECK(possible);
  const bool worth = possible.ok() && shared.tiles() >= kTilesWorthSharing;
  if (!asked &&
      !(worth && (!staged.ok() || moving_time(program, shared, machine) < moving_time(program, shape, machine))))
    return staged;
  shape = std::move(shared);
  return success();
}

}  // namespace

Result<Shape> scheduled_shape_of(const ir::Program& program, const ir::Kernel& kernel, const Knobs& knobs,
                                 const machine::Machine& machine) {
  SOLSTICE_TRY(Shape shape, shape_of(program, kernel));
  return scheduled(program, std::move(shape), knobs, machine);
}

Result<Shape> scheduled(const ir::Program& program, Shape shape, const Knobs& knobs, const machine::Machine& machine) {
  SOLSTICE_CHECK(choose_layout(program, knobs, machine, shape));
  return shape;
}

}  // namespace solstice::families::scan
