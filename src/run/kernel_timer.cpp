#include "run/kernel_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "base/clock.h"
#include "base/integer.h"

namespace solstice::run {
namespace {

constexpr int64_t kAlignment = 256;
constexpr size_t kPool = 1 << 20;  // elements drawn; larger tensors repeat them
constexpr int kMost = 15, kLeast = 3;
constexpr Seconds kDeadline{10};
constexpr double kSlow = 3;                           // budgets: what takes longer is timed once
constexpr double kCover = 1.5, kFastestWrite = 8e12;  // as src/runner/timing.cpp has them

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Converts to a normal f16; smaller values become zero.
uint16_t half_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + 15;
  const uint32_t magnitude = exponent <= 0 ? 0 : static_cast<uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ff);
  return static_cast<uint16_t>(bits >> 16 & 0x8000u) | static_cast<uint16_t>(magnitude);
}

void put_float(std::string& out, DType dtype, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  switch (dtype) {
    case DType::kF64:
      return put(out, static_cast<double>(value));
    case DType::kF16:
      return put(out, half_of(value));
    case DType::kBF16:
      return put(out, static_cast<uint16_t>(bits >> 16));
    case DType::kE4M3:
    case DType::kE5M2:
      return put(out, static_cast<uint8_t>(bits >> 16 & 0xbf));  // below 2
    default:
      return put(out, value);
  }
}

std::string pool_of(DType dtype, int64_t limit, size_t count) {
  std::mt19937 draw(1);
  std::normal_distribution<float> normal;
  std::string out;
  out.reserve(count * static_cast<size_t>(size_of(dtype)));
  for (size_t i = 0; i < count; ++i) {
    const int64_t integer = static_cast<int64_t>(draw()) % limit;
    if (is_float(dtype)) {
      put_float(out, dtype, normal(draw));
    } else if (size_of(dtype) == 8) {
      put(out, integer);
    } else if (size_of(dtype) == 4) {
      put(out, static_cast<int32_t>(integer));
    } else {
      put(out, static_cast<uint8_t>(integer));
      out.append(static_cast<size_t>(size_of(dtype) - 1), '\0');
    }
  }
  return out;
}

int64_t reserved(const PlanBuffer& buffer) { return round_up(std::max<int64_t>(buffer.bytes, 1), kAlignment); }

}  // namespace

Result<std::unique_ptr<KernelTimer>> KernelTimer::open(int ordinal) {
  SOLSTICE_TRY(const rt::Driver* const driver, rt::cuda_driver());
  SOLSTICE_TRY(rt::DeviceContext context, rt::DeviceContext::open(*driver, ordinal));
  std::unique_ptr<KernelTimer> out(new KernelTimer(*driver, std::move(context)));
  SOLSTICE_TRY(const int l2, out->context_.attribute(cu::kL2CacheSize));
  SOLSTICE_CHECK(out->reserve(out->flush_, int64_t{2} * l2 + 128));
  for (cu::Event* event : {&out->begin_, &out->end_}) {
    SOLSTICE_CHECK(driver->check(driver->cuEventCreate(event, cu::kEventDefault), "create an event"));
  }
  return out;
}

KernelTimer::~KernelTimer() {
  for (const cu::Event event : {begin_, end_}) {
    if (event) driver_.cuEventDestroy(event);
  }
}

Status KernelTimer::reserve(DeviceBuffer& buffer, int64_t bytes) {
  if (bytes <= buffer.bytes()) return success();
  buffer = DeviceBuffer();
  SOLSTICE_TRY(buffer, DeviceBuffer::allocate(driver_, bytes));
  return success();
}

Status KernelTimer::write(const PlanBuffer& buffer, int64_t limit, cu::DevicePtr at) {
  const int64_t elements = buffer.bytes / size_of(buffer.dtype);
  const std::string pool = pool_of(buffer.dtype, limit, std::min<size_t>(kPool, static_cast<size_t>(elements)));
  SOLSTICE_CHECK(driver_.check(driver_.cuMemcpyHtoD(at, pool.data(), pool.size()), "upload values"));
  const auto bytes = static_cast<size_t>(buffer.bytes);
  for (size_t done = pool.size(); done < bytes;) {
    const size_t more = std::min(done, bytes - done);
    SOLSTICE_CHECK(driver_.check(driver_.cuMemcpyDtoDAsync(at + done, at, more, nullptr), "repeat values"));
    done += more;
  }
  return success();
}

Status KernelTimer::fill(const Plan& plan, const std::map<std::string, int64_t>& limits) {
  int64_t bytes = 0;
  for (const PlanBuffer& buffer : plan.buffers) bytes += rt::is_interface(buffer) ? reserved(buffer) : 0;
  SOLSTICE_CHECK(reserve(tensors_, bytes));
  addresses_.clear();
  cu::DevicePtr at = tensors_.address();
  for (const PlanBuffer& buffer : plan.buffers) {
    if (!rt::is_interface(buffer)) continue;
    const auto limit = limits.find(buffer.name);
    if (buffer.kind != BufferKind::kOutput && buffer.bytes > 0)
      SOLSTICE_CHECK(write(buffer, limit == limits.end() ? 1 : limit->second, at));
    addresses_[buffer.name] = reinterpret_cast<void*>(at);
    at += static_cast<cu::DevicePtr>(reserved(buffer));
  }
  return driver_.check(driver_.cuCtxSynchronize(), "fill tensors");
}

std::vector<void*> KernelTimer::tensors_of(const rt::Executor& executor) const {
  std::vector<void*> out;
  for (size_t i = 0; i < executor.tensor_count(); ++i) out.push_back(addresses_.at(executor.tensor(i).name));
  return out;
}

Status KernelTimer::wait() const {
  const Deadline deadline(kDeadline);
  while (true) {
    const cu::Result state = driver_.cuStreamQuery(nullptr);
    if (state != cu::kNotReady) return driver_.check(state, "run a kernel");
    if (deadline.passed()) return fail(Code::deadline, fmt::format("not done after {} s", kDeadline.value));
  }
}

Result<double> KernelTimer::time_once(rt::Executor& executor, int flushes) {
  const std::vector<void*> tensors = tensors_of(executor);
  for (int i = 0; i < flushes; ++i) {
    SOLSTICE_CHECK(driver_.check(
        driver_.cuMemsetD8Async(flush_.address(), 0, static_cast<size_t>(flush_.bytes()), nullptr), "flush the L2"));
  }
  SOLSTICE_CHECK(driver_.check(driver_.cuEventRecord(begin_, nullptr), "record an event"));
  SOLSTICE_CHECK(executor.launch(tensors, reinterpret_cast<void*>(workspace_.address()), nullptr));
  SOLSTICE_CHECK(driver_.check(driver_.cuEventRecord(end_, nullptr), "record an event"));
  SOLSTICE_CHECK(wait());
  float milliseconds = 0;
  SOLSTICE_CHECK(driver_.check(driver_.cuEventElapsedTime(&milliseconds, begin_, end_), "read an event"));
  return milliseconds * 1e-3;
}

Result<std::vector<double>> KernelTimer::time(const Plan& plan, std::vector<std::string> cubins, Seconds budget) {
  SOLSTICE_TRY(rt::LoadedPlan loaded, rt::make_loaded_plan(plan, std::move(cubins)));
  SOLSTICE_TRY(const auto executor, rt::Executor::create(driver_, std::move(loaded)));
  SOLSTICE_CHECK(reserve(workspace_, std::max<int64_t>(executor->workspace_bytes(), kAlignment)));
  const std::vector<void*> tensors = tensors_of(*executor);
  SOLSTICE_CHECK(executor->prepare(tensors, reinterpret_cast<void*>(workspace_.address()), nullptr));
  SOLSTICE_TRY(const double first, time_once(*executor, 1));
  if (first > kSlow * budget.value) return std::vector<double>{first};
  const Seconds begin = monotonic_now();
  SOLSTICE_CHECK(executor->launch(tensors, reinterpret_cast<void*>(workspace_.address()), nullptr));
  const double call = (monotonic_now() - begin).value;
  SOLSTICE_CHECK(wait());
  const int flushes =
      std::clamp(static_cast<int>(kCover * call * kFastestWrite / static_cast<double>(flush_.bytes())), 1, 64) + 1;
  std::vector<double> out;
  const int repetitions = std::clamp(static_cast<int>(budget.value / std::max(first, 1e-6)), kLeast, kMost);
  for (int i = 0; i < repetitions; ++i) {
    SOLSTICE_TRY(const double seconds, time_once(*executor, flushes));
    out.push_back(seconds);
  }
  return out;
}

}  // namespace solstice::run
