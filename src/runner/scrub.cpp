#include "runner/scrub.h"

#include <fmt/format.h>

#include "base/file.h"
#include "rt/arena.h"

namespace solstice::runner {
namespace {

constexpr int kBlocksAnSm = 2;   // 2048 threads: all that an SM holds
constexpr int kAllShared = 100;  // per cent of an SM's memory that are to be shared memory

}  // namespace

Scrub::~Scrub() {
  if (arrived_) driver_.cuMemFree(arrived_);
  if (library_) driver_.cuLibraryUnload(library_);
}

Status Scrub::load(const std::filesystem::path& cubin, const rt::DeviceContext& context) {
  SOLSTICE_TRY(const std::string bytes, read_file(cubin));
  SOLSTICE_TRY(const int multiprocessors, context.attribute(cu::kMultiprocessors));
  SOLSTICE_TRY(const int shared, context.attribute(cu::kSharedMemoryPerMultiprocessor));
  SOLSTICE_TRY(const int reserved, context.attribute(cu::kReservedSharedMemoryPerBlock));
  blocks_ = static_cast<unsigned>(kBlocksAnSm * multiprocessors);
  const int each = shared / kBlocksAnSm - reserved;
  shared_bytes_ = static_cast<unsigned>(each);
  cu::Kernel kernel = nullptr;
  SOLSTICE_CHECK(driver_.check(
      driver_.cuLibraryLoadData(&library_, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "load `scrub`"));
  SOLSTICE_CHECK(driver_.check(driver_.cuLibraryGetKernel(&kernel, library_, "scrub"), "find `scrub`"));
  SOLSTICE_CHECK(driver_.check(driver_.cuKernelSetAttribute(cu::kMaxDynamicSharedBytes, each, kernel, context.device()),
                               "give `scrub` its shared memory"));
  SOLSTICE_CHECK(
      driver_.check(driver_.cuKernelSetAttribute(cu::kPreferredSharedCarveout, kAllShared, kernel, context.device()),
                    "give `scrub` its shared memory"));
  SOLSTICE_CHECK(driver_.check(driver_.cuKernelGetFunction(&function_, kernel), "load `scrub`"));
  SOLSTICE_CHECK(driver_.check(driver_.cuMemAlloc(&arrived_, rt::kMappedPage), "allocate what `scrub` counts in"));
  SOLSTICE_CHECK(
      driver_.check(driver_.cuMemsetD8Async(arrived_, 0, rt::kMappedPage, nullptr), "clear what `scrub` counts in"));
  return driver_.check(driver_.cuCtxSynchronize(), "clear what `scrub` counts in");
}

Status Scrub::launch(cu::Stream stream) {
  if (!function_) return success();
  // All but the second word, in which failures add up.
  constexpr size_t kKept = 2 * sizeof(unsigned);
  SOLSTICE_CHECK(driver_.check(driver_.cuMemsetD8Async(arrived_, 0, sizeof(unsigned), stream), "launch `scrub`"));
  SOLSTICE_CHECK(
      driver_.check(driver_.cuMemsetD8Async(arrived_ + kKept, 0, rt::kMappedPage - kKept, stream), "launch `scrub`"));
  cu::LaunchConfig config{};
  config.grid[0] = blocks_;
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.block[0] = 1024;
  config.shared_bytes = shared_bytes_;
  config.stream = stream;
  int words = static_cast<int>(shared_bytes_ / sizeof(unsigned));
  void* parameters[] = {&arrived_, &words};
  return driver_.check(driver_.cuLaunchKernelEx(&config, function_, parameters, nullptr), "launch `scrub`");
}

Status Scrub::check() const {
  if (!function_) return success();
  unsigned counted[2] = {};
  SOLSTICE_CHECK(driver_.check(driver_.cuMemcpyDtoH(counted, arrived_, sizeof counted), "read what `scrub` counted"));
  if (counted[0] == blocks_ && counted[1] == 0) return success();
  return fail(Code::internal, fmt::format("`scrub` had {} of {} blocks on the GPU at once, {} waited in vain",
                                          counted[0], blocks_, counted[1]));
}

}  // namespace solstice::runner
