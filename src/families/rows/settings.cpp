#include "families/rows/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/integer.h"
#include "families/rows/kept.h"
#include "families/rows/once.h"
#include "families/rows/reduction.h"

namespace solstice::families::rows {
namespace {

using codegen::Access;

// Shares of a row that were fastest on an H200 (bench/rows_map, bench/speed/rows.py): small blocks, so that reads and writes of many
// rows alternate finely and one block's loads cover what another waits for.
constexpr int64_t kElements = 8;        // elements a thread where rows are too few to fill the machine
constexpr int64_t kUsualElements = 32;  // where they are not: up to kUsualRow elements,
constexpr int64_t kMostElements = 64;   // and of longer rows
constexpr int64_t kUsualRow = 8192;
constexpr int64_t kBlockRow = 32 * 1024;  // elements that a block holds without others
constexpr int kWideBlock = 512;
constexpr int kSmallBlock = 128;         // threads of a block that holds several short rows
constexpr int64_t kFullSM = 1024;        // threads that keep an SM busy,
constexpr int64_t kThreadsOfSM = 2048;   // that it has room for
constexpr int64_t kOnceRow = 16 * 1024;  // elements: from here rows of which only results are wanted are looked at once,
constexpr int kOnceThreads = 256;        // by blocks of so many threads,
constexpr int64_t kOncePart = 8 * 1024;  // each of so many elements at least,
// as few as give an SM so many threads, since large clusters start late: of whole vectors, of narrower ones.
constexpr int64_t kOnceSM = 960, kOnceNarrowSM = 1900;
constexpr int64_t kColumnElements = 32;  // of a thread whose row lies apart
constexpr int64_t kWarpRow = 512;        // elements: up to here a warp (or a part of one) takes a row, without barriers
constexpr int64_t kRegisterBytes = 256;  // of kept values: 64 registers, a quarter of what a thread can have
constexpr int64_t kPart = 16384;         // elements of a part of a row, at least
constexpr int64_t kMostParts = 1024;
constexpr int64_t kSharedBytes = 227 * 1024;  // where no machine is given

int power_at_least(int64_t v) { return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(v, 1)))); }

bool is_row_wide(const Shape& shape, const Access& access) {
  return std::any_of(shape.columns.begin(), shape.columns.end(),
                     [&](const codegen::Loop& loop) { return access.depends_on(loop.stepping()); });
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

// A row that one block cannot keep in registers is shared: by two blocks up to 64 Ki elements (four that take it element by element),
// beyond that by eight.
int cluster_for(int64_t columns, int vector) { return columns <= kBlockRow ? 1 : columns > 2 * kBlockRow ? 8 : vector == 1 ? 4 : 2; }

int64_t sms_of(const machine::Machine* machine) { return machine && machine->sm_count > 0 ? machine->sm_count : 132; }

bool stores_along(const Shape& shape) {
  const Phases phases = phases_of(shape, false);
  return std::any_of(phases.sweeps.begin(), phases.sweeps.end(), [](const Sweep& sweep) { return !sweep.stores.empty(); });
}

// A row's results can be found in parts where nothing but reductions of its data is wanted.
bool divisible(const Shape& shape) {
  const Phases phases = phases_of(shape, true);
  return !shape.strided && phases.sweeps.size() == 1 && phases.sweeps[0].stores.empty();
}

// Few long rows leave most SMs idle: parts of at least kPart elements, as many as give every SM a few blocks.
int parts_for(const Shape& shape, const machine::Machine* machine) {
  const int64_t sms = sms_of(machine);
  if (shape.row_count >= sms || shape.column_count < 4 * kPart || !divisible(shape)) return 1;
  const int64_t wanted = std::min(4 * sms / shape.row_count, shape.column_count / kPart);
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(wanted, 1, kMostParts))));
}

// Threads and blocks of a cluster that look at a row once: no more than keep all SMs busy.
struct OnceShare {
  int threads, cluster;
};
OnceShare once_share(const Shape& shape, const ir::Knobs& knobs, int vector, int64_t sms) {
  const int64_t wanted = (vector >= 4 ? kOnceSM : kOnceNarrowSM) * sms;
  const int64_t usual = shape.row_count * kOnceThreads < wanted ? 2 * kOnceThreads : kOnceThreads;
  OnceShare out{static_cast<int>(knobs.int_or("threads", usual)), static_cast<int>(knobs.int_or("cluster", 1))};
  if (knobs.find("cluster")) return out;
  const auto fits = [&](int cluster) { return shape.column_count >= kOncePart * cluster; };
  while (out.cluster < 8 && shape.row_count * out.cluster * out.threads < wanted && fits(2 * out.cluster)) out.cluster *= 2;
  return out;
}

bool wants_once(const Shape& shape, const ir::Knobs& knobs, int vector, int64_t sms) {
  const std::string asked = knobs.name_or("residency", "auto");
  if (asked != "auto") return asked == "once";
  if (knobs.find("rows_per_block") || knobs.find("parts") || shape.column_count < kOnceRow || !can_be_looked_at_once(shape)) return false;
  return shape.row_count * once_share(shape, knobs, vector, sms).cluster >= sms;  // fewer leave SMs idle
}

void lay_out_once(const Shape& shape, const ir::Knobs& knobs, int64_t sms, Settings& s) {
  s.residency = Residency::kOnce;
  const OnceShare share = once_share(shape, knobs, s.vector, sms);
  s.threads = s.group = share.threads;
  s.cluster = share.cluster;
  s.blocks = static_cast<int>(knobs.int_or("blocks", std::max<int64_t>(1, kThreadsOfSM / 2 / s.threads)));
}

void lay_out(const Shape& shape, const ir::Knobs& knobs, const machine::Machine* machine, Settings& s) {
  const auto asked = static_cast<int>(knobs.int_or("threads", 0));
  s.parts = static_cast<int>(knobs.int_or("parts", knobs.find("cluster") || knobs.find("rows_per_block") ? 1 : parts_for(shape, machine)));
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
  // Where nothing is stored along rows, a warp that needs no barriers is faster than a block.
  const int least = stores_along(shape) ? kSmallBlock : kWarp;
  s.group = group_for(shape, s.vector, ceil_div(shape.column_count, s.cluster), asked > 0 ? asked : 1024, least,
                      shape.row_count * s.cluster, sms_of(machine));
  const auto rows_asked = static_cast<int>(knobs.int_or("rows_per_block", 0));
  s.threads = asked > 0 ? asked : std::max(s.group, kSmallBlock);
  if (rows_asked > 0) s.group = std::max(1, s.threads / rows_asked);
  if (s.cluster > 1) s.group = s.threads;
  s.group = std::min(s.group, s.threads);
}

Status check_once(const Shape& shape, const ir::Knobs& knobs) {
  SOLSTICE_CHECK(check_looked_at_once(shape));
  if (knobs.find("rows_per_block") || knobs.find("parts"))
    return fail(Code::illegal_knobs, "`residency=once`: whole blocks to a row; drop `rows_per_block` and `parts`");
  return success();
}

// More threads to a row, where they are the family's choice and registers would not hold what each keeps; more blocks, where rows
// are so few that these are idle.
void widen(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, int64_t sms, Settings& s) {
  if (s.strided || s.parts > 1 || s.group <= kWarp || knobs.find("threads") || knobs.find("rows_per_block")) return;
  const auto fits = [&] { return std::max(kept_bytes(program, shape, s), ahead_bytes(program, shape, s)) <= kRegisterBytes; };
  while (s.group < 1024 && !fits()) {
    s.group *= 2;
    s.threads = std::max(s.threads, s.group);
  }
  if (knobs.find("cluster") || s.group != s.threads) return;
  while (s.cluster < 8 && shape.row_count * s.cluster * 2 <= sms && !fits()) s.cluster *= 2;
}

// Two blocks where an SM's registers hold them if a thread needs its kept values and about 28 more: one block loads
// while another reduces.
int resident_blocks(int64_t kept, const Settings& s) {
  const int64_t registers = (kept / 4 + 28 + 7) / 8 * 8;
  return static_cast<int>(std::clamp<int64_t>(65536 / (registers * s.threads), 1, 2));
}

// Several rows to a block are contiguous ones, each held by some of the block's threads alone.
Status check_rows_per_block(const ir::Knobs& knobs, const Settings& s) {
  const int64_t asked = knobs.int_or("rows_per_block", 1);
  if (asked == 1) return success();
  const auto refuse = [&](const std::string& why) { return fail(Code::illegal_knobs, fmt::format("rows_per_block={}: {}", asked, why)); };
  if (s.strided) return refuse(fmt::format("lanes take neighbouring rows here, {} to a block; drop it", s.rows_per_block()));
  if (s.cluster > 1) return refuse(fmt::format("cluster={} gives whole blocks to a row; drop one of the two", s.cluster));
  if (asked > s.threads) return refuse(fmt::format("a block of {} threads; legal: up to {}", s.threads, s.threads));
  return success();
}

// Of the shared memory in which threads exchange all reductions.
int64_t exchanged_bytes(const Phases& phases, const Settings& s) {
  int64_t reductions = 0;
  for (const Sweep& sweep : phases.sweeps) reductions += static_cast<int64_t>(sweep.reductions.size());
  return round_up(exchange_bytes(s) * reductions, 128);
}

Status check_exchanged(int64_t exchanged, int64_t limit, const Settings& s) {
  if (exchanged <= limit) return success();
  return fail(Code::illegal_knobs, fmt::format("reductions of {} threads exchange {} KiB of shared memory > {} KiB: fewer `threads`",
                                               s.threads * s.cluster, exchanged / 1024, limit / 1024));
}

}  // namespace

int64_t exchange_bytes(const Settings& s) {
  const bool shuffles = !s.strided && s.group <= kWarp && s.cluster == 1, alone = s.strided && s.group == 1;
  return shuffles || alone ? 0 : kLargestAccumulator * (s.strided ? s.threads : s.threads / kWarp * s.cluster);
}

int64_t Settings::steps(const Shape& shape) const { return ceil_div(ceil_div(shape.column_count, vector), int64_t{group} * sharers()); }

bool Settings::ragged(const Shape& shape) const { return shape.column_count % (int64_t{vector} * group * sharers()) != 0; }

int64_t Settings::grid(const Shape& shape) const { return ceil_div(shape.row_count, rows_per_block()) * sharers(); }

int vector_of(const ir::Program& program, const Shape& shape) {
  if (shape.strided || shape.columns.empty()) return 1;
  const codegen::Loop& lane = shape.columns.back();
  int64_t width = 16;
  int smallest = 8;
  for (const Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!is_row_wide(shape, access) || !access.offset || access.offset->coefficient(lane.stepping()) != 1) continue;
    smallest = std::min(smallest, size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32)));
    width = std::min(width, codegen::alignment_of(access, lane, width));
  }
  width = std::min<int64_t>(width, std::min(16 / smallest, 8));
  while (lane.extent % width != 0) width /= 2;
  return static_cast<int>(width);
}

int64_t kept_bytes(const ir::Program& program, const Shape& shape, const Settings& settings) {
  const Phases phases = phases_of(shape, true);
  int element = 4;
  for (const Sweep& sweep : phases.sweeps) {
    for (const ir::ExprRef& e : sweep.keeps) {
      element = std::max(element, element_bytes(program, e, e->op == ir::Op::kRead));
    }
  }
  return static_cast<int64_t>(phases.kept_at_once) * element * settings.vector * settings.steps(shape);
}

int64_t ahead_bytes(const ir::Program& program, const Shape& shape, const Settings& settings) {
  int64_t most = 0;
  for (const Sweep& sweep : phases_of(shape, true).sweeps) {
    int64_t element = 0;
    for (const ir::ExprRef& read : sweep.reads) {
      const bool kept = std::find(sweep.keeps.begin(), sweep.keeps.end(), read) != sweep.keeps.end();
      if (!kept) element += size_of(program.tensor(read->id).dtype.value_or(DType::kF32));
    }
    most = std::max(most, element);
  }
  return most * settings.vector * settings.steps(shape);
}

Result<int> vector_for(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs) {
  const int widest = vector_of(program, shape);
  const auto vector = static_cast<int>(knobs.int_or("vector", widest));
  if (vector > widest || widest % vector != 0) {
    return fail(Code::illegal_knobs,
                fmt::format("`vector={}`: this kernel's rows are aligned to {} elements; legal: divisors of {}", vector, widest, widest));
  }
  return vector;
}

Result<Settings> settings_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, const machine::Machine* machine) {
  Settings s;
  const int64_t limit =
      machine && machine->shared_per_block.value > 0 ? static_cast<int64_t>(machine->shared_per_block.value) : kSharedBytes;
  SOLSTICE_TRY(s.vector, vector_for(program, shape, knobs));
  s.streaming = streaming_of(knobs, s.streaming);
  if (wants_once(shape, knobs, s.vector, sms_of(machine))) {
    SOLSTICE_CHECK(check_once(shape, knobs));
    lay_out_once(shape, knobs, sms_of(machine), s);
    SOLSTICE_CHECK(check_exchanged(exchanged_bytes(phases_of(shape, false), s), limit, s));
    return s;
  }
  lay_out(shape, knobs, machine, s);
  widen(program, shape, knobs, sms_of(machine), s);
  if (s.parts > 1 && (!divisible(shape) || s.cluster > 1 || knobs.find("rows_per_block"))) {
    return fail(Code::illegal_knobs,
                fmt::format("parts={}: only contiguous rows of which nothing but one round of reductions is wanted are taken in parts, "
                            "without `cluster` and `rows_per_block`; legal: 1",
                            s.parts));
  }
  SOLSTICE_CHECK(check_rows_per_block(knobs, s));
  if (s.cluster > 1 && (s.strided || s.group != s.threads || s.threads % kWarp != 0)) {
    return fail(Code::illegal_knobs, "`cluster` needs rows that are contiguous in memory and whole warps to a block: drop it");
  }
  if (!s.strided && (s.threads % s.group != 0 || !std::has_single_bit(static_cast<unsigned>(s.group)) || s.threads % kWarp != 0)) {
    return fail(Code::illegal_knobs,
                fmt::format("threads={} and {} threads a row: both must be powers of two, threads a multiple of 32", s.threads, s.group));
  }
  const int64_t kept = kept_bytes(program, shape, s);
  const int64_t registers = std::max(kept, ahead_bytes(program, shape, s));
  if (!knobs.find("blocks")) s.blocks = resident_blocks(kept, s);
  const Phases phases = phases_of(shape, true);
  const int64_t exchanged = exchanged_bytes(phases, s);
  const int64_t held = kept_places(program, shape, phases, s.vector).bytes * s.vector * s.steps(shape);  // of a thread
  const bool in_registers = registers <= kRegisterBytes;
  const bool in_shared = held > 0 && held * s.threads + exchanged <= limit;
  const std::string asked = knobs.name_or("residency", "auto");
  s.residency = asked == "registers" ? Residency::kRegisters
                : asked == "shared"  ? Residency::kShared
                : asked == "l2"      ? Residency::kReload
                : in_registers       ? Residency::kRegisters
                : in_shared          ? Residency::kShared
                                     : Residency::kReload;
  if (s.residency == Residency::kRegisters && registers > 2 * kRegisterBytes) {
    return fail(
        Code::illegal_knobs,
        fmt::format("residency=registers: {} bytes of a row's values a thread > {}; more `threads`, a `cluster`, or residency=shared",
                    registers, 2 * kRegisterBytes));
  }
  if (s.residency == Residency::kShared && held > 0 && !in_shared) {
    return fail(Code::illegal_knobs,
                fmt::format("residency=shared: {} threads x {} B + {} B for what they exchange = {} KiB > {} KiB; a larger `cluster`, or "
                            "residency=l2",
                            s.threads, held, exchanged, ceil_div(held * s.threads + exchanged, 1024), limit / 1024));
  }
  SOLSTICE_CHECK(check_exchanged(exchanged, limit, s));
  return s;
}

}  // namespace solstice::families::rows
