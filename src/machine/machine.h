// Machine: what a GPU can do, with units. Read from machines/NAME.toml; nothing else in the program knows a hardware
// number (no SM count, no bandwidth, no shared-memory limit is written in code).
//
// Two kinds of figures are kept apart. Datasheet figures are upper limits: bounds are computed from them. Measured
// ceilings are what the best known kernel reaches on one such GPU: estimates are computed from them. All FLOP rates
// are dense (never the doubled "with sparsity" figure); an FMA is two operations.
//
// A pipe that the machine lacks is an error wherever its rate is asked for, never a fallback to another pipe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/units.h"

namespace solstice::machine {

// An execution pipe and the operand format it multiplies. Tensor pipes accumulate in fp32 (tensor.f64 in fp64,
// tensor.i8 in int32); tf32 is such a format though it is no storage dtype. sfu counts exp2, log2, rsqrt, sin, tanh...
// simt.i32 counts multiply-adds and other 32-bit integer and logic operations.
enum class Pipe {
  kTensorF64,
  kTensorTF32,
  kTensorF16,
  kTensorBF16,
  kTensorF8,
  kTensorI8,
  kSimtF64,
  kSimtF32,
  kSimtF16,
  kSimtBF16,
  kSimtI32,
  kSfu,
};

std::string_view name_of(Pipe pipe);  // "tensor.tf32", "simt.f32", "sfu"
std::optional<Pipe> pipe_from_name(std::string_view name);
const std::vector<Pipe>& all_pipes();

// Operations (an FMA is two) that one SM completes a clock, and the clock at which the datasheet quotes the pipe.
struct PipeRate {
  double per_sm_per_clock = 0;
  Hertz clock;
  FlopsPerSecond datasheet;  // as printed by the vendor, dense; 0 where the vendor prints none
};

// Ceilings measured on one GPU of this kind; absent ones were not measured. The last three say how to get them again.
struct Measured {
  std::optional<BytesPerSecond> copy;  // bytes read plus bytes written, DRAM to DRAM
  std::optional<BytesPerSecond> read;
  std::optional<BytesPerSecond> write;
  std::optional<BytesPerSecond> l2_read;  // working set well inside L2
  std::map<Pipe, FlopsPerSecond> pipes;   // of a large product (tensor, simt) or a chain-free loop (sfu)
  std::optional<Seconds> launch;          // one more small kernel in a stream of them: its share of the span
  std::optional<Seconds> eager_launch;    // one more PyTorch operator call on the host
  std::optional<Seconds> grid_sync;       // one barrier over all SMs of a persistent kernel
  std::optional<int> clusters_of_4;       // resident at once, a block an SM: GPCs leave SMs over
  std::optional<int> clusters_of_8;
  std::string date;      // "2026-01-31"
  std::string versions;  // driver, CUDA, PyTorch
  std::string command;   // command that measured them

  bool empty() const {
    return !copy && !read && !write && !l2_read && pipes.empty() && !launch && !eager_launch && !grid_sync &&
           !clusters_of_4 && !clusters_of_8;
  }
};

// A rate and where it comes from.
struct Ceiling {
  double per_second = 0;  // bytes or operations
  bool measured = false;  // false: datasheet
};

struct Machine {
  std::string name;    // "h200"
  std::string title;   // "NVIDIA H200 SXM, 141 GB"
  std::string arch;    // "sm_90a": what device code is compiled for
  std::string source;  // source of the datasheet figures
  std::string device;  // the driver's name ("NVIDIA H200"), to recognise the GPU at hand

  int sm_count = 0;
  Hertz max_clock;  // the highest SM clock the part runs at
  Watts power_limit;

  Bytes memory;
  BytesPerSecond dram_rate;  // datasheet
  Bytes l2;
  int l2_bytes_per_sm_per_clock = 0;  // one direction of an SM's port to L2
  Bytes sector;                       // granularity of a DRAM or L2 access

  Bytes shared_per_sm;
  Bytes shared_per_block;           // the opt-in limit of one block, dynamic and static together
  Bytes shared_reserved_per_block;  // taken by the system from shared_per_sm for every resident block
  int registers_per_sm = 0;         // 32-bit
  int registers_per_thread = 0;     // limit
  int register_unit = 0;            // registers are handed out to a warp in multiples of this
  int warps_per_sm = 0;
  int blocks_per_sm = 0;
  int threads_per_block = 0;
  int max_cluster = 0;  // blocks, portable
  bool tma = false;
  bool wgmma = false;

  std::map<Pipe, PipeRate> pipes;
  Measured measured;
  std::filesystem::path file;  // file that it was read from

  bool has(Pipe pipe) const { return pipes.count(pipe) != 0; }
  // Datasheet peak: SMs x operations per clock x clock. Error bad_argument, naming the pipes there are.
  Result<FlopsPerSecond> peak(Pipe pipe) const;
  // The same at max_clock: no run can be faster, whatever clock the datasheet quotes.
  Result<FlopsPerSecond> peak_at_max_clock(Pipe pipe) const;
  // The measured ceiling where there is one, else the datasheet peak, labelled.
  Result<Ceiling> ceiling(Pipe pipe) const;
  // The most that L2 can deliver to all SMs, or take from them: an upper limit, no run reaches it.
  BytesPerSecond l2_rate() const;
  Ceiling copy_ceiling() const;
  Ceiling read_ceiling() const;
  Ceiling write_ceiling() const;
  Ceiling l2_ceiling() const;
  // The measured `launch`, else 2.5 us: the host's time for a bare launch, 2.3 to 2.8 us on an H200
  // (docs/measuring.md). A stream of launches that is full takes less for each.
  Seconds launch_time() const;
  // Clusters of so many blocks that are resident at once, where an SM holds `on_an_sm` of these blocks; at least
  // 1. A cluster lies in one GPC, whose SMs it need not divide: by the measured number of the smallest size that
  // holds it; where none was measured as many as all SMs have places for, which is an upper limit.
  int64_t clusters_at_once(int64_t blocks, int64_t on_an_sm = 1) const;
};

// The pipe that multiplies elements of this storage format: tensor (error for f32, which has none) or simt.
Result<Pipe> tensor_pipe(DType dtype);
Result<Pipe> simt_pipe(DType dtype);

// A name ("h200") is looked up in the machine folders, a path (with '/' or ending in ".toml") is read as it is.
// Errors: not_found (names what there is), bad_machine (file, line, the closest legal key).
Result<Machine> load_machine(std::string_view name_or_path);
Result<Machine> parse_machine(std::string_view toml, const std::filesystem::path& file);
// Names of all machine files, sorted. A calibrated file of the user's folder hides the shipped one of its name.
Result<std::vector<std::string>> list_machines();
// The machine whose `device` the driver calls so ("NVIDIA H200"); not_found says how to describe a new one.
Result<Machine> machine_of_device(std::string_view device);
// Folders of machine files, first match wins: $XDG_CONFIG_HOME/solstice/machines (default ~/.config), then
// machines/ of the program's data (base/paths.h).
std::vector<std::filesystem::path> machine_folders();
// The file `solstice calibrate` writes for a machine of this name: in the user's folder.
std::filesystem::path calibrated_path(std::string_view name);

// The machine as a file, units written out; parse_machine gives the same machine back.
std::string to_toml(const Machine& machine);
// Writes `machine` with these ceilings to `file`. `measured` replaces what the machine had, ceiling by ceiling:
// one that was not measured this time keeps its old value. Date, versions and command must be given.
Status write_measured(const Machine& machine, const Measured& measured, const std::filesystem::path& file);

}  // namespace solstice::machine
