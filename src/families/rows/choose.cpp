#include "families/rows/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/integer.h"
#include "families/reduction/reduction_text.h"
#include "families/rows/online/legality.h"
#include "families/rows/residency.h"
#include "families/rows/thread_layout.h"
#include "families/usual_machine.h"

namespace solstice::families::rows {
namespace {

using codegen::Access;

Status check_online_knobs(const Shape& shape, const ir::Knobs& knobs) {
  SOLSTICE_CHECK(check_online(shape));
  if (knobs.find("rows_per_block") || knobs.find("parts"))
    return fail(Code::illegal_knobs, "`residency=once` needs one or more blocks per row",
                "drop `rows_per_block` and `parts`");
  return success();
}

Status check_cluster(const Settings& s) {
  if (s.cluster == 1 || (!s.strided && s.group == s.threads && s.threads % kWarp == 0)) return success();
  return fail(Code::illegal_knobs, "`cluster` needs rows that are contiguous in memory and whole warps to a block",
              "drop it");
}

// Several rows to a block are contiguous ones, each held by some of the block's threads alone.
Status check_rows_per_block(const ir::Knobs& knobs, const Settings& s) {
  const int64_t asked = knobs.int_or("rows_per_block", 1);
  if (asked == 1) return success();
  const auto refuse = [&](const std::string& why, std::string hint) {
    return fail(Code::illegal_knobs, fmt::format("rows_per_block={}: {}", asked, why), std::move(hint));
  };
  if (s.strided)
    return refuse(fmt::format("this kernel assigns neighbouring rows to lanes, {} per block", s.rows_per_block()),
                  "drop it");
  if (s.cluster > 1)
    return refuse(fmt::format("cluster={} needs whole blocks per row", s.cluster), "drop one of the two");
  if (asked > s.threads)
    return refuse(fmt::format("a block of {} threads", s.threads), fmt::format("legal: up to {}", s.threads));
  return success();
}

// Shared memory through which threads exchange all reductions.
int64_t exchanged_bytes(const Phases& phases, const Settings& s) {
  int64_t reductions = 0;
  for (const Sweep& sweep : phases.sweeps) reductions += static_cast<int64_t>(sweep.reductions.size());
  return round_up(exchange_bytes(s) * reductions, 128);
}

Status check_exchanged(int64_t exchanged, int64_t limit, const Settings& s) {
  if (exchanged <= limit) return success();
  return fail(Code::illegal_knobs,
              fmt::format("reductions of {} threads exchange {} KiB of shared memory > {} KiB: fewer `threads`",
                          s.threads * s.cluster, exchanged / 1024, limit / 1024));
}

}  // namespace

int vector_of(const ir::Program& program, const Shape& shape) {
  if (shape.strided || shape.columns.empty()) return 1;
  const codegen::Loop& lane = shape.columns.back();
  int64_t width = 16;
  int smallest = 8;
  for (const Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!depends_on_any(access, shape.columns) || !access.offset || access.offset->coefficient(lane.stepping()) != 1)
      continue;
    smallest = std::min(smallest, size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32)));
    width = std::min(width, codegen::alignment_of(access, lane, width));
  }
  width = std::min<int64_t>(width, std::min(16 / smallest, 8));
  while (lane.extent % width != 0) width /= 2;
  return static_cast<int>(width);
}

Result<int> vector_for(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs) {
  const int widest = vector_of(program, shape);
  const auto vector = static_cast<int>(knobs.int_or("vector", widest));
  if (vector > widest || widest % vector != 0) {
    return fail(Code::illegal_knobs,
                fmt::format("`vector={}`: this kernel's rows are aligned to {} elements", vector, widest),
                fmt::format("legal: divisors of {}", widest));
  }
  return vector;
}

Result<Settings> settings_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs,
                             const machine::Machine* machine) {
  Settings s;
  const int64_t limit = shared_of(machine);
  SOLSTICE_TRY(s.vector, vector_for(program, shape, knobs));
  s.streaming = streaming_of(knobs, s.streaming);
  if (wants_online(shape, knobs, s.vector, sms_of(machine))) {
    SOLSTICE_CHECK(check_online_knobs(shape, knobs));
    choose_online_layout(shape, knobs, sms_of(machine), s);
    SOLSTICE_CHECK(check_cluster(s));
    SOLSTICE_CHECK(check_exchanged(exchanged_bytes(phases_of(shape, false), s), limit, s));
    return s;
  }
  choose_layout(shape, knobs, machine, s);
  widen(program, shape, knobs, sms_of(machine), s);
  if (s.parts > 1 && (!divisible(shape) || s.cluster > 1 || knobs.find("rows_per_block"))) {
    return fail(
        Code::illegal_knobs,
        fmt::format(
            "parts={}: only contiguous rows with a single pass of reductions can be split, without `cluster` and "
            "`rows_per_block`",
            s.parts),
        "legal: 1");
  }
  SOLSTICE_CHECK(check_rows_per_block(knobs, s));
  SOLSTICE_CHECK(check_cluster(s));
  if (!s.strided &&
      (s.threads % s.group != 0 || !std::has_single_bit(static_cast<unsigned>(s.group)) || s.threads % kWarp != 0)) {
    return fail(Code::illegal_knobs,
                fmt::format("threads={} and {} threads a row: both must be powers of two, threads a multiple of 32",
                            s.threads, s.group));
  }
  const int64_t kept = resident_bytes(program, shape, s);
  const int64_t registers = std::max(kept, ahead_bytes(program, shape, s));
  if (!knobs.find("blocks")) s.blocks = resident_blocks(kept, s);
  const Phases phases = phases_of(shape, true);
  const int64_t exchanged = exchanged_bytes(phases, s);
  const int64_t held =
      shared_places(program, shape, phases, s.vector).bytes * s.vector * s.steps(shape);  // of a thread
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
        fmt::format("residency=registers: {} bytes of a row's values a thread > {}", registers, 2 * kRegisterBytes),
        "more `threads`, a `cluster`, or residency=shared");
  }
  if (s.residency == Residency::kShared && held > 0 && !in_shared) {
    return fail(Code::illegal_knobs,
                fmt::format("residency=shared: {} threads x {} B + {} B for what they exchange = {} KiB > {} KiB",
                            s.threads, held, exchanged, ceil_div(held * s.threads + exchanged, 1024), limit / 1024),
                "a larger `cluster`, or residency=l2");
  }
  SOLSTICE_CHECK(check_exchanged(exchanged, limit, s));
  return s;
}

}  // namespace solstice::families::rows
