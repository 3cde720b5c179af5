#include "families/reduce/tile_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "families/usual_machine.h"

namespace solstice::families::reduce {
namespace {

using codegen::Access;
using codegen::Loop;

// Found on an H200 (bench/speed): rows of up to 16 KiB a block, two blocks an SM with 96 KiB on their way in each.
constexpr int64_t kSlotBytes = 32 * 1024;
constexpr int kSlots = 3;
constexpr int kThreads = 512;
constexpr int kLanes = 8;           // columns a thread
constexpr int kWholeThreads = 256;  // if groups of threads share rows
constexpr int64_t kWholeBytes = 16 * 1024;
constexpr int64_t kShortRow = 2048;  // bytes: below it whole rows are copied together
constexpr int64_t kLeastRun = 256;   // bytes that are worth a copy of their own
constexpr int64_t kWarp = 32;
constexpr int64_t kMostSplit = 4096;
constexpr int64_t kResultShare = 128;  // rows of a part at least: its results are written and read again

// Without a ring (docs/measured/families.md): bytes in flight of a thread, threads of a block, and of an SM at 64
// registers each.
constexpr int64_t kAhead = 128;
constexpr int kDirectThreads = 256;
constexpr int64_t kDirectResident = 1024;

Error refuse(const std::string& why) { return fail(Code::illegal_knobs, why); }

// Reads that step with the contiguous axis and along the rows.
std::vector<RunRead> streams_of(const ir::Program& program, const reduction::Shape& shape) {
  std::vector<RunRead> out;
  const int inner = shape.rows.back().stepping();
  for (const Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read || !access.offset || access.tested || access.offset->coefficient(inner) != 1) continue;
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const RunRead& s) { return s.access.read == access.read; });
    if (!reduction::depends_on_any(access, shape.columns) || known) continue;
    RunRead stream;
    stream.element = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    stream.access = access;
    out.push_back(std::move(stream));
  }
  return out;
}

// Widest vector (elements, 16 bytes of the smallest format) that every stream and the axis allow.
int vector_of(const Layout& layout, const Loop& inner) {
  int smallest = 8;
  for (const RunRead& s : layout.streams) smallest = std::min(smallest, s.element);
  int64_t width = std::min(16 / smallest, 8);
  for (const RunRead& s : layout.streams) {
    width = std::min(width, codegen::alignment_of(s.access, inner, std::max<int64_t>(width, 16 / s.element)));
  }
  while (inner.extent % width != 0) width /= 2;
  // Narrower than 16 bytes of the largest format, runs would still need their own beginning.
  const bool aligned = std::all_of(layout.streams.begin(), layout.streams.end(), [&](const RunRead& s) {
    return codegen::alignment_of(s.access, inner, 16 / s.element) == 16 / s.element;
  });
  return aligned ? static_cast<int>(width) : 1;
}

// True if runs of whole rows are contiguous in every stream.
bool follow_each_other(const reduction::Shape& shape, const Layout& layout) {
  if (shape.columns.size() != 1) return false;
  return std::all_of(layout.streams.begin(), layout.streams.end(), [&](const RunRead& s) {
    return s.access.offset->coefficient(shape.columns.back().stepping()) == layout.columns;
  });
}

int64_t element_bytes(const Layout& layout) {
  int64_t sum = 0;
  for (const RunRead& s : layout.streams) sum += s.element;
  return sum;
}

void lay_out_tiles(const ir::Knobs& knobs, Layout& l) {
  const int64_t lanes = l.columns > int64_t{kThreads} * kLanes / 2 ? kLanes : kLanes / 2;
  l.lanes = l.vector > 1 ? l.vector : static_cast<int>(knobs.int_or("columns", lanes));
  const int64_t most = knobs.int_or("threads", kThreads) * l.lanes;
  const int64_t tiles = ceil_div(l.columns, most);
  l.threads = static_cast<int>(round_up(ceil_div(ceil_div(l.columns, tiles), l.lanes), kWarp));
}

void lay_out_whole_rows(const ir::Knobs& knobs, Layout& l) {
  l.lanes = l.vector;
  const int64_t vectors = l.columns / l.vector;
  l.groups = static_cast<int>(std::max<int64_t>(1, knobs.int_or("threads", kWholeThreads) / vectors));
  l.threads = static_cast<int>(round_up(l.groups * vectors, kWarp));
}

// True if threads can load their columns in whole vectors themselves; knobs of the ring ask for it.
bool wants_direct(const ir::Knobs& knobs, const Layout& l, int widest) {
  int smallest = 8;
  for (const RunRead& s : l.streams) smallest = std::min(smallest, s.element);
  const bool asked = knobs.find("rows") || knobs.find("stages") || knobs.find("columns");
  return !asked && l.vector == widest && l.vector * smallest >= 16 && l.columns >= kWarp * l.vector;
}

void lay_out_direct(const ir::Knobs& knobs, Layout& l) {
  l.lanes = l.vector;
  l.ahead = static_cast<int>(std::clamp<int64_t>(kAhead / (l.vector * element_bytes(l)), 1, 8));
  l.groups = static_cast<int>(
      std::min<int64_t>(knobs.int_or("threads", kDirectThreads) / kWarp, ceil_div(l.reduced, l.ahead)));
  l.threads = static_cast<int>(l.groups * kWarp);
  l.rows = l.groups * l.ahead;
  l.slots = 0;
}

void place_streams(Layout& l) {
  l.slot_bytes = 0;
  for (RunRead& s : l.streams) {
    s.offset = l.slot_bytes;
    const int64_t run = l.whole_rows() ? l.rows * l.columns : l.tile();
    s.pitch = run_bytes(run, s.element);
    l.slot_bytes += (l.whole_rows() ? 1 : l.rows) * s.pitch;
  }
}

// Blocks that do not all fit the GPU at once leave most of it idle while the last ones run, unless they are many. So:
// no more parts than fill it, or enough for four rounds; and the parts' results stay small compared with the data.
int64_t split_for(const Layout& l, const machine::Machine* machine) {
  const int64_t sms = sms_of(machine);
  const int64_t places =
      sms * (l.direct() ? l.resident_blocks(kUsualShared) : std::min(2, l.resident_blocks(kUsualShared)));
  const int64_t items = l.tiles() * l.outer;
  if (items >= 4 * places) return 1;
  const int64_t wanted = items <= places ? places / items : ceil_div(4 * places, items);
  const int64_t little = std::max<int64_t>(1, l.reduced / kResultShare);
  const int64_t long_enough = std::max<int64_t>(1, l.reduced / (int64_t{4} * l.rows));
  return std::min({wanted, little, long_enough, kMostSplit});
}

}  // namespace

int64_t Layout::tiles() const { return ceil_div(columns, tile()); }

int64_t Layout::bytes_ahead() const {
  return direct() ? int64_t{threads} * ahead * vector * element_bytes(*this) : ring_bytes();
}

int Layout::resident_blocks(int64_t shared_per_sm) const {
  if (direct()) return static_cast<int>(std::max<int64_t>(1, kDirectResident / threads));
  return static_cast<int>(
      std::max<int64_t>(1, std::min(shared_per_sm / (ring_bytes() + 1024), int64_t{2048} / (threads + kWarp))));
}

Result<Layout> layout_of(const ir::Program& program, const reduction::Shape& shape, const ir::Knobs& knobs,
                         const machine::Machine* machine) {
  if (!shape.strided || shape.rows.empty() || shape.columns.empty()) {
    return refuse("the reduced axis is contiguous in memory: use family `rows`");
  }
  Layout l;
  const Loop& inner = shape.rows.back();
  l.columns = inner.extent;
  l.reduced = shape.column_count;
  l.outer = shape.row_count / l.columns;
  if (l.columns > INT32_MAX / 2 || l.reduced > INT32_MAX / 2) return refuse("an axis has more than 2^30 elements");
  l.streams = streams_of(program, shape);
  if (l.streams.empty()) return refuse("no read moves along the kept axis: use family `rows` or `map`");
  const int widest = vector_of(l, inner);
  l.vector = static_cast<int>(knobs.int_or("vector", widest));
  if (l.vector > widest || widest % l.vector != 0) {
    return refuse(fmt::format("`vector={}`: columns are aligned to {} elements; legal: divisors of {}", l.vector,
                              widest, widest));
  }
  const bool whole =
      l.columns * element_bytes(l) < kShortRow && follow_each_other(shape, l) && l.columns / l.vector <= 512;
  if (!whole && l.columns * element_bytes(l) < kLeastRun) {
    return refuse(
        fmt::format("separate rows of {} columns are too short for bulk copies: use family `rows`", l.columns));
  }
  if (!whole && wants_direct(knobs, l, widest)) {
    lay_out_direct(knobs, l);
    l.split =
        static_cast<int>(std::min(knobs.int_or("split", split_for(l, machine)), ceil_div(l.reduced, int64_t{l.rows})));
    return l;
  }
  whole ? lay_out_whole_rows(knobs, l) : lay_out_tiles(knobs, l);
  const int64_t row = l.tile() * element_bytes(l);
  const int64_t least = whole ? l.groups : 1;
  const int64_t most = whole ? std::max<int64_t>(least, 4096) : kWarp;
  l.rows = static_cast<int>(
      std::clamp(knobs.int_or("rows", (whole ? kWholeBytes : kSlotBytes) / row / least * least), least, most));
  l.slots = static_cast<int>(knobs.int_or("stages", kSlots));
  place_streams(l);
  const int64_t limit = shared_of(machine);
  if (l.ring_bytes() > limit) {
    return refuse(fmt::format("{} stages of {} B = {} KiB > {} KiB of shared memory; fewer `stages` or `rows`", l.slots,
                              l.slot_bytes, l.ring_bytes() / 1024, limit / 1024));
  }
  l.split =
      static_cast<int>(std::min(knobs.int_or("split", split_for(l, machine)), ceil_div(l.reduced, int64_t{l.rows})));
  return l;
}

}  // namespace solstice::families::reduce
