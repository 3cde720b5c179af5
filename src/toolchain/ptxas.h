// Messages of ptxas about a compile (its -v output, which NVRTC puts in the log): resources of each kernel, and notes
// such as "(C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized ...". Also errors with
// positions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/fields.h"

namespace solstice::toolchain {

// Bytes are per thread (stack, spills) or per block (shared, static only).
struct KernelResources {
  std::string entry;
  int64_t registers = 0;
  int64_t shared_bytes = 0;
  int64_t stack_bytes = 0;
  int64_t spill_stores = 0;
  int64_t spill_loads = 0;
  int64_t barriers = 0;
  static auto fields() {
    return std::make_tuple(field("entry", &KernelResources::entry, "kernel"),
                           field("registers", &KernelResources::registers, "a thread"),
                           field("shared_bytes", &KernelResources::shared_bytes, "static, a block"),
                           field("stack_bytes", &KernelResources::stack_bytes, "a thread"),
                           field("spill_stores", &KernelResources::spill_stores, "bytes a thread"),
                           field("spill_loads", &KernelResources::spill_loads, "bytes a thread"),
                           field("barriers", &KernelResources::barriers, "named barriers used"));
  }
};

struct PtxasNote {
  std::string code;    // "C7514", "" for a plain warning
  std::string kernel;  // "" where the note names none
  std::string text;
  static auto fields() {
    return std::make_tuple(field("code", &PtxasNote::code, "ptxas's number"),
                           field("kernel", &PtxasNote::kernel, "kernel it names"),
                           field("text", &PtxasNote::text, "what it says"));
  }
};

struct CompilerMessage {
  std::string file;
  int line = 0;
  std::string severity;  // "error", "warning"
  std::string text;
};

std::vector<KernelResources> parse_resources(std::string_view log);
std::vector<PtxasNote> parse_notes(std::string_view log);
// Front-end messages: `file(line): error: text`, and nvcc's `file(line): error #20: text`.
std::vector<CompilerMessage> parse_messages(std::string_view log);

}  // namespace solstice::toolchain
