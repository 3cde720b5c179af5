// The function of one nest while it is written: what it is written from, and what all its parts ask.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "codegen/emitter.h"
#include "families/elementwise/nest.h"

namespace solstice::families::elementwise {

struct Draft {
  Draft(const ir::Program& from, Nest& its_nest, const Settings& its_settings)
      : program(from),
        nest(its_nest),
        settings(its_settings),
        unroll(unroll_of(from, its_nest, its_settings)),
        emitter(from, its_nest.flat.indices) {
    emitter.set_short_values(codegen::short_values_of(from, its_nest.flat));
  }
  Draft(const Draft&) = delete;

  const ir::Program& program;
  Nest& nest;
  const Settings& settings;
  int unroll;  // vectors that a thread takes
  codegen::Emitter emitter;

  bool wide() const { return nest.vectors() > INT32_MAX / 2; }
  std::string_view index_type() const { return wide() ? "long long" : "int"; }
  int64_t block_step() const { return int64_t{settings.threads} * unroll; }  // vectors that a block takes
  // The last vector of a flat nest may be short: elements in it, after the whole ones.
  int64_t tail() const { return nest.points % nest.vector; }
  // With shifted rows: whether the element `lane` of the vector that begins at `begin` of its row lies in the row. The
  // text of a family that shifts rows declares `begin`, and `whole` where all of them do.
  std::string inside_row() const {
    return fmt::format("static_cast<unsigned>(begin + lane) < {}u", nest.loops.back().extent);
  }
  int64_t whole_vectors() const { return nest.points / nest.vector; }
  std::string_view storage(int tensor) const { return codegen::storage_type(*program.tensor(tensor).dtype); }
};

}  // namespace solstice::families::elementwise
