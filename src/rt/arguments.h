// Kernel arguments in memory, as a launch wants them: values packed once, pointers and TMA descriptors filled in again
// only when a buffer moved.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "record/plan.h"
#include "rt/cuda_driver.h"
#include "rt/tensor_map.h"

namespace solstice::rt {

class PackedArguments {
 public:
  // `arguments` must outlive this object: descriptors are encoded from them again.
  static Result<PackedArguments> pack(const std::vector<Argument>& arguments,
                                      const std::map<std::string, size_t>& buffers);

  PackedArguments() = default;
  PackedArguments(PackedArguments&&) = default;
  PackedArguments& operator=(PackedArguments&&) = default;
  PackedArguments(const PackedArguments&) = delete;  // parameters() points into this object's storage

  // Writes the addresses of the buffers marked in `moved` (one flag a plan buffer).
  Status bind(const Driver& driver, const std::vector<cu::DevicePtr>& bases, const std::vector<char>& moved);

  void** parameters() { return parameters_.data(); }
  size_t count() const { return parameters_.size(); }

 private:
  struct alignas(128) Chunk {
    std::byte bytes[128];
  };
  struct Patch {
    size_t at = 0;  // bytes into the storage
    size_t buffer = 0;
    const Argument* argument = nullptr;
  };
  std::byte* at(size_t offset) { return chunks_.data()->bytes + offset; }
  void reserve(size_t bytes) { chunks_.resize((bytes + sizeof(Chunk) - 1) / sizeof(Chunk)); }

  std::vector<Chunk> chunks_;
  std::vector<void*> parameters_;
  std::vector<Patch> pointers_, maps_;
};

}  // namespace solstice::rt
