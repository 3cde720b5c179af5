// Small plans for tests.
#pragma once

#include <string>

#include "base/hash.h"
#include "record/plan.h"
#include "rt/load.h"

namespace solstice::rt {

inline const std::string& fake_cubin() {
  static const std::string cubin =
      "\x7f"
      "ELF, for a driver that does not look";
  return cubin;
}

inline PlanBuffer vector_buffer(const std::string& name, BufferKind kind, int64_t n) {
  PlanBuffer out;
  out.name = name;
  out.kind = kind;
  out.shape = {n};
  out.strides = {1};
  out.bytes = n * 4;
  out.alignment = 16;
  return out;
}

inline Argument pointer_argument(const std::string& buffer, int64_t offset = 0) {
  Argument out;
  out.buffer = buffer;
  out.offset = offset;
  return out;
}

inline Step launch_step(const std::string& name, std::vector<Argument> arguments, int64_t blocks = 1) {
  Step out;
  out.name = name;
  out.module = "m";
  out.entry = name;
  out.grid = {blocks, 1, 1};
  out.block = {32, 1, 1};
  out.arguments = std::move(arguments);
  return out;
}

// x -> t -> y over 64 floats.
inline Plan two_step_plan() {
  Plan plan;
  plan.program = "test";
  plan.target = "sm_90a";
  plan.buffers = {vector_buffer("x", BufferKind::kInput, 64), vector_buffer("t", BufferKind::kWorkspace, 64),
                  vector_buffer("y", BufferKind::kOutput, 64)};
  plan.modules = {{"m", "m.cubin", hash_hex(fake_cubin()), ""}};
  plan.steps = {launch_step("first", {pointer_argument("x", 16), pointer_argument("t")}),
                launch_step("second", {pointer_argument("t"), pointer_argument("y")})};
  return plan;
}

}  // namespace solstice::rt
