// The program that prints the machine code of a cubin: nvdisasm, or cuobjdump, which needs nvdisasm beside it. It reads
// what an untrusted compiler made of untrusted source, so it runs in a sandbox: no network, no files but its own,
// limits of time, memory and output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace solstice::toolchain {

// nvdisasm or cuobjdump: the first that a CUDA toolkit, PATH or a Python has; "" where there is none.
std::filesystem::path find_disassembler();

struct Disassembler {
  std::filesystem::path program;
  std::string version;  // "13.2.51"
  int major = 0;
  bool is_cuobjdump() const { return program.filename() == "cuobjdump"; }
};

// A program, or the one that is found. Both are asked once a process. Errors: not_found, naming what to install;
// process_failed where it does not say its version; deadline.
Result<Disassembler> disassembler(const std::filesystem::path& program = {});

struct DisassembleLimits {
  Seconds time{30};
  Bytes memory{4e9};
  Bytes output{256e6};
};

// What it prints with these options. Errors: process_failed (it says no, dies, prints too much), deadline.
Result<std::string> disassemble(const Disassembler& by, std::string_view cubin, const std::vector<std::string>& options,
                                const DisassembleLimits& limits = {});

}  // namespace solstice::toolchain
