#include "families/rows/thread_layout.h"

#include <algorithm>
#include <bit>

#include "base/integer.h"
#include "families/rows/online/legality.h"
#include "families/usual_machine.h"

namespace solstice::families::rows {
namespace {

// Shares of a row that were fastest on an H200 (bench/rows_map, bench/speed/rows.py): small blocks, so that reads and
// writes of many rows alternate finely and one block's loads cover what another waits for.
constexpr int64_t kElements = 8;        // elements a thread where rows are too few to fill the machine
constexpr int64_t kUsualElements = 32;  // the usual number: for rows of up to kUsualRow elements,
constexpr int64_t kMostElements = 64;   // and of longer rows
constexpr int64_t kUsualRow = 8192;
constexpr int64_t kBlockRow = 32 * 1024;  // elements that a block holds without others
constexpr int kWideBlock = 512;
constexpr int kSmallBlock = 128;           // threads of a block that holds several short rows
constexpr int64_t kFullSM = 1024;          // threads that keep an SM busy
constexpr int64_t kOnlineRow = 16 * 1024;  // elements: from here rows that are only reduced take a single pass,
constexpr int kOnlineThreads = 256;        // by blocks of so many threads,
constexpr int64_t kOnlinePart = 8 * 1024;  // each of so many elements at least,
// as few as give an SM so many threads, since large clusters start late: of whole vectors, of narrower ones.
constexpr int64_t kOnlineSM = 960, kOnlineNarrowSM = 1900;
constexpr int64_t kColumnElements = 32;  // of a thread whose row lies apart
constexpr int64_t kWarpRow = 512;        // elements: up to here a warp (or a part of one) takes a row, without barriers
constexpr int64_t kPart = 16384;         // elements of a part of a row, at least
constexpr int64_t kMostParts = 1024;

int power_at_least(int64_t v) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(v, 1))));
}

// Threads that hold `columns` elements of a row; `blocks` of them run on a machine of `sms`.
// `least`: of a row that passes a warp's.
int group_for(const Shape& shape, int vector, int64_t columns, int threads, int least, int64_t blocks, int64_t sms) {
  const int64_t vectors = ceil_div(columns, vector);
  if (columns <= kWarpRow && !shape.columns.empty()) return std::min(kWarp, power_at_least(ceil_div(vectors, 2)));
  const int most = std::min(kWideBlock, power_at_least(ceil_div(columns, kElements)));
  int group = power_at_least(ceil_div(columns, columns <= kUsualRow ? kUsualElements : kMostElements));
  group = std::clamp(group, std::min(least, most), std::max(most, group));
  while (group < most && blocks * group < kFullSM * sms) group *= 2;
  // Half the threads where that leaves clearly fewer of them without work in the last step.
  const auto slots = [&](int g) { return static_cast<double>(ceil_div(vectors, g) * g); };
  while (group > kWarp && columns <= kUsualElements * group / 2 && slots(group) > 1.15 * slots(group / 2)) group /= 2;
  return std::min(threads, group);
}

// A row that one block cannot keep in registers is shared: by two blocks up to 64 Ki elements (four that take it
// element by element), beyond that by eight.
int cluster_for(int64_t columns, int vector) {
  return columns <= kBlockRow ? 1 : columns > 2 * kBlockRow ? 8 : vector == 1 ? 4 : 2;
}

bool stores_along(const Shape& shape) {
  const Phases phases = phases_of(shape, false);
  return std::any_of(phases.sweeps.begin(), phases.sweeps.end(),
                     [](const Sweep& sweep) { return !sweep.stores.empty(); });
}

// Few long rows leave most SMs idle: parts of at least kPart elements, as many as give every SM a few blocks.
int parts_for(const Shape& shape, const machine::Machine* machine) {
  const int64_t sms = sms_of(machine);
  if (shape.row_count >= sms || shape.column_count < 4 * kPart || !divisible(shape)) return 1;
  const int64_t wanted = std::min(4 * sms / shape.row_count, shape.column_count / kPart);
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, kMostParts))));
}

// Threads and blocks of a cluster that look at a row once: no more than keep all SMs busy.
struct OnlineShare {
  int threads, cluster;
};
OnlineShare online_share(const Shape& shape, const ir::Knobs& knobs, int vector, int64_t sms) {
  const int64_t wanted = (vector >= 4 ? kOnlineSM : kOnlineNarrowSM) * sms;
  const int64_t usual = shape.row_count * kOnlineThreads < wanted ? 2 * kOnlineThreads : kOnlineThreads;
  OnlineShare out{static_cast<int>(knobs.int_or("threads", usual)), static_cast<int>(knobs.int_or("cluster", 1))};
  if (knobs.find("cluster")) return out;
  const auto fits = [&](int cluster) { return shape.column_count >= kOnlinePart * cluster; };
  while (out.cluster < 8 && shape.row_count * out.cluster * out.threads < wanted && fits(2 * out.cluster))
    out.cluster *= 2;
  return out;
}

}  // namespace

bool divisible(const Shape& shape) {
  const Phases phases = phases_of(shape, true);
  return !shape.strided && phases.sweeps.size() == 1 && phases.sweeps[0].stores.empty();
}

bool wants_online(const Shape& shape, const ir::Knobs& knobs, int vector, int64_t sms) {
  const std::string asked = knobs.name_or("residency", "auto");
  if (asked != "auto") return asked == "once";
  if (knobs.find("rows_per_block") || knobs.find("parts") || shape.column_count < kOnlineRow || !can_be_online(shape))
    return false;
  return shape.row_count * online_share(shape, knobs, vector, sms).cluster >= sms;  // fewer leave SMs idle
}

void choose_online_layout(const Shape& shape, const ir::Knobs& knobs, int64_t sms, Settings& s) {
  s.residency = Residency::kOnline;
  const OnlineShare share = online_share(shape, knobs, s.vector, sms);
  s.threads = s.group = share.threads;
  s.cluster = share.cluster;
  s.blocks = static_cast<int>(knobs.int_or("blocks", std::max<int64_t>(1, kThreadsOfSM / 2 / s.threads)));
}

void choose_layout(const Shape& shape, const ir::Knobs& knobs, const machine::Machine* machine, Settings& s) {
  const auto asked = static_cast<int>(knobs.int_or("threads", 0));
  s.parts = static_cast<int>(
      knobs.int_or("parts", knobs.find("cluster") || knobs.find("rows_per_block") ? 1 : parts_for(shape, machine)));
  if (s.parts > 1) {
    s.threads = s.group = asked > 0 ? asked : 256;
    s.blocks = static_cast<int>(knobs.int_or("blocks", 1));
    s.cluster = static_cast<int>(knobs.int_or("cluster", 1));
    return;
  }
  const bool alone = shape.strided || knobs.int_or("rows_per_block", 1) > 1;
  s.cluster = static_cast<int>(knobs.int_or("cluster", alone ? 1 : cluster_for(shape.column_count, s.vector)));
  s.blocks = static_cast<int>(knobs.int_or("blocks", 1));
  s.strided = shape.strided;
  if (s.strided) {
    const int64_t inner = shape.rows.empty() ? 1 : shape.rows.back().extent;
    const int lanes = std::min(kWarp, power_at_least(inner));
    s.vector = 1;
    // 32 elements a thread, 64 before a block passes 16 rows of lanes.
    const int few = power_at_least(ceil_div(shape.column_count, kColumnElements));
    const int wanted = few <= 16 ? few : std::max(16, few / 2);
    s.group = std::min((asked > 0 ? asked : 1024) / lanes, wanted);
    s.threads = s.group * lanes;
    return;
  }
  // If nothing is stored along rows, a warp that needs no barriers is faster than a block.
  const int least = stores_along(shape) ? kSmallBlock : kWarp;
  s.group = group_for(shape, s.vector, ceil_div(shape.column_count, s.cluster), asked > 0 ? asked : 1024, least,
                      shape.row_count * s.cluster, sms_of(machine));
  const auto rows_asked = static_cast<int>(knobs.int_or("rows_per_block", 0));
  s.threads = asked > 0 ? asked : std::max(s.group, kSmallBlock);
  if (rows_asked > 0) s.group = std::max(1, s.threads / rows_asked);
  if (s.cluster > 1) s.group = s.threads;
  s.group = std::min(s.group, s.threads);
}

void widen(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, int64_t sms, Settings& s) {
  if (s.strided || s.parts > 1 || s.group <= kWarp || knobs.find("threads") || knobs.find("rows_per_block")) return;
  const auto fits = [&] {
    return std::max(resident_bytes(program, shape, s), ahead_bytes(program, shape, s)) <= kRegisterBytes;
  };
  while (s.group < 1024 && !fits()) {
    s.group *= 2;
    s.threads = std::max(s.threads, s.group);
  }
  if (knobs.find("cluster") || s.group != s.threads) return;
  while (s.cluster < 8 && shape.row_count * s.cluster * 2 <= sms && !fits()) s.cluster *= 2;
}

// A thread needs its kept values and about 28 registers more.
int resident_blocks(int64_t kept, const Settings& s) {
  const int64_t registers = (kept / 4 + 28 + 7) / 8 * 8;
  return static_cast<int>(std::clamp<int64_t>(65536 / (registers * s.threads), 1, 2));
}

}  // namespace solstice::families::rows
