#include "run/case_copies.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::run {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

// Calls visit(tensor) for every tensor of the cases.
template <typename Cases, typename Visit>
void for_each_tensor(Cases& cases, const Visit& visit) {
  for (auto& test : cases) {
    for (auto& each : test.given) visit(each.second);
    for (auto& each : test.expected) {
      visit(each.second.oracle);
      if (each.second.eager) visit(*each.second.eager);
      if (each.second.room) visit(*each.second.room);
    }
  }
}

Status check_room(const Judge& to, double bytes, Bytes beside) {
  SOLSTICE_TRY(const Bytes free, to.free_memory());
  if (bytes + beside.value <= free.value) return success();
  return fail(
      Code::too_large,
      fmt::format("copies of inputs and results take {:.2f} GiB there, a candidate {:.2f} GiB or more, and {:.2f} "
                  "GiB are free",
                  bytes / kGib, beside.value / kGib, free.value / kGib));
}

}  // namespace

std::vector<DeviceTensor> tensors_of(const std::vector<JudgeCase>& cases) {
  std::map<cu::DevicePtr, DeviceTensor> largest;
  for_each_tensor(cases, [&](const DeviceTensor& tensor) {
    const auto [at, fresh] = largest.emplace(tensor.address, tensor);
    if (!fresh && tensor.bytes > at->second.bytes) at->second = tensor;
  });
  std::vector<DeviceTensor> out;
  for (const auto& [address, tensor] : largest) {
    if (address != 0 && tensor.bytes > 0) out.push_back(tensor);
  }
  return out;
}

Result<CaseCopies> CaseCopies::make(const std::vector<JudgeCase>& cases, const Judge& from, const Judge& to,
                                    Bytes beside) {
  const std::vector<DeviceTensor> tensors = tensors_of(cases);
  double bytes = 0;
  for (const DeviceTensor& tensor : tensors) bytes += static_cast<double>(tensor.bytes);
  SOLSTICE_CHECK(check_room(to, bytes, beside));
  const rt::Driver& driver = to.driver();
  CaseCopies out;
  std::map<cu::DevicePtr, cu::DevicePtr> moved;
  for (const DeviceTensor& tensor : tensors) {
    SOLSTICE_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(driver, tensor.bytes));
    SOLSTICE_CHECK(driver.check(driver.cuMemcpyPeer(buffer.address(), to.device().handle(), tensor.address,
                                                    from.device().handle(), static_cast<size_t>(tensor.bytes)),
                                "copy a tensor to another GPU"));
    moved[tensor.address] = buffer.address();
    out.memory_.push_back(std::move(buffer));
  }
  SOLSTICE_CHECK(driver.check(driver.cuCtxSynchronize(), "wait for the copies of the cases"));
  out.cases_ = cases;
  for_each_tensor(out.cases_, [&](DeviceTensor& tensor) {
    if (const auto found = moved.find(tensor.address); found != moved.end()) tensor.address = found->second;
  });
  return out;
}

}  // namespace solstice::run
