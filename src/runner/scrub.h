// Clears what a launch leaves where no pointer leads (kernels/judge/scrub.cu), between launches of device code that a
// program brought: generated kernels do not read what they have not written.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "rt/cuda_driver.h"

namespace solstice::runner {

class Scrub {
 public:
  explicit Scrub(const rt::Driver& driver) : driver_(driver) {}
  Scrub(const Scrub&) = delete;
  ~Scrub();

  // Errors: not_found, io_error; cuda_error.
  Status load(const std::filesystem::path& cubin, const rt::DeviceContext& context);
  // Queued; nothing where nothing was loaded.
  Status launch(cu::Stream stream);
  bool loaded() const { return function_ != nullptr; }
  // After the stream was waited for. Error internal: the blocks of one were not all there at once.
  Status check() const;

 private:
  const rt::Driver& driver_;
  cu::Library library_ = nullptr;
  cu::Function function_ = nullptr;
  cu::DevicePtr arrived_ = 0;
  unsigned blocks_ = 0, shared_bytes_ = 0;
};

}  // namespace solstice::runner
