// The thread layout of a rows kernel, and the bytes that it takes of registers and shared memory.
#pragma once

#include "base/result.h"
#include "families/emission.h"
#include "families/reduction/phases.h"
#include "families/reduction/shape.h"
#include "ir/knobs.h"
#include "machine/machine.h"

namespace solstice::families::rows {

using namespace reduction;  // whose analysis of rows the family schedules

inline constexpr int kWarp = 32;  // threads

// Storage of a row between passes; kOnline: none (online/emit.h).
enum class Residency { kRegisters, kShared, kReload, kOnline };

struct Settings {
  int threads = 256;  // a block
  int group = 32;     // threads of a block that share a row; strided: threads of a block that hold one row's columns
  int cluster = 1;    // blocks that share a row
  int parts = 1;      // blocks that each take a part of a row, folded by a second kernel; then there is no cluster
  int vector = 1;     // neighbouring elements a thread takes at once
  int blocks = 1;     // resident blocks of an SM that registers must leave room for
  Residency residency = Residency::kRegisters;
  Streaming streaming{false, false};
  bool strided = false;  // lanes of a warp hold neighbouring rows
  bool shifted =
      false;  // rows are not aligned, vectors are: they begin before a row, and all that lies along rows alike

  int rows_per_block() const { return threads / group; }
  int sharers() const { return cluster * parts; }
  // Vectors of a row that one thread takes.
  int64_t steps(const Shape& shape) const;
  // True if the last step of some threads lies beyond the row.
  bool ragged(const Shape& shape) const;
  // True if some threads of the last block have no row of their own.
  bool spare_rows(const Shape& shape) const { return shape.row_count % rows_per_block() != 0; }
  int64_t grid(const Shape& shape) const;  // blocks of the launch
};

// Bytes of shared memory in which the threads of a row exchange one reduction.
int64_t exchange_bytes(const Settings& settings);

// Bytes of registers that a thread's kept values take in all its steps.
int64_t resident_bytes(const ir::Program& program, const Shape& shape, const Settings& settings);

// Bytes of the row's data that a thread loads ahead of a sweep without keeping it; residency=registers only.
int64_t ahead_bytes(const ir::Program& program, const Shape& shape, const Settings& settings);

}  // namespace solstice::families::rows
