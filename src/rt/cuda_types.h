// The few types of the CUDA driver API that Solstice uses, declared here so that it builds where CUDA is not installed.
// Layouts and numbers are those of cuda.h (CUDA 12.0 and later; the driver keeps them stable); a unit test compares
// them with the real header where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace solstice::cu {

using Result = int;  // CUresult
using Device = int;
using DevicePtr = uint64_t;
using Context = struct ContextTag*;
using Library = struct LibraryTag*;
using Kernel = struct KernelTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;

constexpr Result kSuccess = 0;
constexpr Result kNotFound = 500;
constexpr Result kNotReady = 600;

enum DeviceAttribute : int {
  kL2CacheSize = 38,
  kMultiprocessors = 16,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedMemoryPerBlockOptin = 97,
  kCooperativeLaunch = 95,
  kSharedMemoryPerMultiprocessor = 81,
  kReservedSharedMemoryPerBlock = 111,
};

enum FunctionAttribute : int {
  kLocalBytes = 3,
  kRegisters = 4,
  kMaxDynamicSharedBytes = 8,
  kPreferredSharedCarveout = 9,
  kNonPortableClusterAllowed = 14,
};

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDefault = 0;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kIpcLazyPeerAccess = 1;
constexpr int kCaptureRelaxed = 2;

struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

struct IpcMemHandle {
  char reserved[64];
};

struct Uuid {
  unsigned char bytes[16];
};

enum LaunchAttributeId : int {
  kAttributeCooperative = 2,
  kAttributeClusterDimension = 4,
  kAttributeProgrammaticStreamSerialization = 6,
};

union LaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } cluster;
  int programmatic_stream_serialization;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

static_assert(sizeof(TensorMap) == 128 && sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

}  // namespace solstice::cu
