// Permissions and limits of an untrusted process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace solstice {

// Absent: as inherited. Sizes in bytes, time in seconds of CPU.
struct ResourceLimits {
  std::optional<uint64_t> address_space;  // not for CUDA processes: the driver reserves terabytes
  std::optional<uint64_t> file_size;
  std::optional<uint64_t> open_files;
  std::optional<uint64_t> cpu_seconds;
  std::optional<uint64_t> core_size;
};

struct SandboxPolicy {
  std::vector<std::filesystem::path> readable = {"/"};  // read and execute beneath; missing ones are skipped
  std::vector<std::filesystem::path> writable;          // everything beneath
  std::vector<std::string> devices;                     // glob patterns of device files: read, write, ioctl
  bool allow_network = false;       // false: no socket of any kind; true: also Unix ones of processes outside
  bool allow_idle_sockets = false;  // Unix sockets that cannot connect or send to an address
  bool allow_exec = true;           // false only where the process sandboxes itself
  bool allow_processes = true;      // false: threads, but no fork and no signals
  ResourceLimits limits;
};

}  // namespace solstice
