// NVIDIA's Nsight Compute, as a program: where it is, which metrics it has, how it is asked to profile one launch.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace solstice::diagnose {

// SOLSTICE_NCU, else `ncu` on PATH, in a CUDA toolkit (/usr/local/cuda, cuda-*), in /opt/nvidia/nsight-compute/VERSION,
// the newest. Error not_found: where it was looked for, and the way out.
Result<std::filesystem::path> find_ncu();

// "2025.3.1.0"; "" where it does not say.
std::string ncu_version(const std::filesystem::path& ncu);

// ncu's name of the GPUs that cubins of this architecture are for: "gh100" of "sm_90a"; "" where it is not known.
std::string_view ncu_chip(std::string_view arch);

// Those of `metrics` that this ncu can count on the chip, and those that it cannot tell of (names without a suffix). It
// needs no GPU. Empty where the question fails: they are then tried as they are.
std::set<std::string> known_metrics(const std::filesystem::path& ncu, std::string_view chip,
                                    const std::vector<std::string>& metrics);

struct NcuLaunches {
  std::string kernels;  // a symbol, or "regex:" and an expression for several
  int skip = 0;         // launches of these kernels before the first that counts
  size_t count = 1;     // that follow each other
  std::vector<std::string> metrics;
  bool sampling = true;
};

// Files of one process of ncu, below a folder that the runner cannot write.
struct NcuFiles {
  std::filesystem::path report, log, sections;
};

// ncu with its options; the profiled program's command line follows. Each pass of a launch begins with flushed caches,
// as a timed call does (docs/diagnosis.md, "Caches"), at the clocks that the GPU has, and on the memory that the launch
// found.
std::vector<std::string> ncu_command(const std::filesystem::path& ncu, const NcuLaunches& launches,
                                     const NcuFiles& files);

// A page of a report: "raw" or "source", kernels by their symbols. Errors process_failed (with ncu's words), deadline.
Result<std::string> print_page(const std::filesystem::path& ncu, const std::filesystem::path& report,
                               std::string_view page, Seconds limit);

}  // namespace solstice::diagnose
