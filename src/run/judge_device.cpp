#include "run/judge_device.h"

#include "base/log.h"

namespace solstice::run {

JudgeDevice::JudgeDevice(const rt::Driver& driver, rt::DeviceContext context, JudgeOptions options)
    : driver_(driver), context_(std::move(context)), options_(std::move(options)), imports_(driver) {}

JudgeDevice::~JudgeDevice() {
  const rt::InContext inside(driver_, context_);
  imports_.close_all();
  kernels_.reset();
}

Status JudgeDevice::start() {
  SOLSTICE_TRY(kernels_, JudgeKernels::create(driver_, context_, options_.compile));
  SOLSTICE_TRY(const int l2, context_.attribute(cu::kL2CacheSize));
  // An odd multiple of a line: a candidate's own memset is hardly ever of exactly this size.
  flush_bytes_ = int64_t{2} * l2 + 128;
  if (auto clocks = GpuClocks::open(context_.bus_id()); clocks.ok()) {
    clocks_ = std::move(clocks).value();
  } else {
    log_warning("clocks are not recorded: " + clocks.error().message);
  }
  return success();
}

ClockReading JudgeDevice::clocks() const { return clocks_ ? clocks_->read() : ClockReading{}; }
std::optional<double> JudgeDevice::joules() const { return clocks_ ? clocks_->joules() : std::nullopt; }

bool JudgeDevice::sound() const { return context_.make_current().ok() && driver_.cuCtxSynchronize() == cu::kSuccess; }

Result<Bytes> JudgeDevice::free_memory() const {
  size_t free_bytes = 0, total = 0;
  SOLSTICE_CHECK(driver_.check(driver_.cuMemGetInfo(&free_bytes, &total), "read the free memory"));
  return Bytes(static_cast<double>(free_bytes));
}

Result<Bytes> JudgeDevice::total_memory() const {
  size_t free_bytes = 0, total = 0;
  SOLSTICE_CHECK(driver_.check(driver_.cuMemGetInfo(&free_bytes, &total), "read the memory's size"));
  return Bytes(static_cast<double>(total));
}

Result<std::string> JudgeDevice::scrub() {
  const auto path = [this] { return (scrub_->path() / "scrub.cubin").string(); };
  if (scrub_) return path();
  SOLSTICE_TRY(const std::string cubin, compile_judge_kernels("scrub.cu", context_, options_.compile));
  SOLSTICE_TRY(TempFolder folder, TempFolder::create("scrub"));
  SOLSTICE_CHECK(write_file(folder.path() / "scrub.cubin", cubin));
  scrub_.emplace(std::move(folder));
  return path();
}

}  // namespace solstice::run
