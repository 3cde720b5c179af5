#include "run/device_memory.h"

#include <fmt/format.h>

#include <utility>

#include "rt/hex.h"

namespace solstice::run {

int64_t DeviceTensor::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

bool DeviceTensor::dense() const {
  const std::vector<int64_t> wanted = dense_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] != wanted[i]) return false;
  }
  return true;
}

Result<DeviceBuffer> DeviceBuffer::allocate(const rt::Driver& driver, int64_t bytes) {
  DeviceBuffer out;
  out.driver_ = &driver;
  out.bytes_ = bytes;
  if (bytes == 0) return out;
  SOLSTICE_CHECK(driver.check(driver.cuMemAlloc(&out.address_, static_cast<size_t>(bytes)),
                              fmt::format("allocate {} bytes on the GPU", bytes)));
  return out;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  if (address_) driver_->cuMemFree(address_);
  driver_ = other.driver_;
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_) driver_->cuMemFree(address_);
}

IpcImports::~IpcImports() { close_all(); }

Result<cu::DevicePtr> IpcImports::open(const std::string& hex_handle) {
  if (const auto found = open_.find(hex_handle); found != open_.end()) return found->second.address;
  SOLSTICE_TRY(const cu::IpcMemHandle handle, rt::handle_from_hex(hex_handle));
  cu::DevicePtr address = 0;
  SOLSTICE_CHECK(driver_.check(driver_.cuIpcOpenMemHandle(&address, handle, cu::kIpcLazyPeerAccess),
                               "open another process's GPU memory"));
  open_[hex_handle] = {address, owner_};
  return address;
}

void IpcImports::close(const std::string& hex_handle) {
  const auto found = open_.find(hex_handle);
  if (found == open_.end()) return;
  driver_.cuIpcCloseMemHandle(found->second.address);
  open_.erase(found);
}

void IpcImports::close_all() {
  for (const auto& [handle, opened] : open_) driver_.cuIpcCloseMemHandle(opened.address);
  open_.clear();
}

void IpcImports::close_all_of(const void* owner) {
  std::erase_if(open_, [&](const auto& each) {
    const bool its = each.second.owner == owner;
    if (its) driver_.cuIpcCloseMemHandle(each.second.address);
    return its;
  });
}

}  // namespace solstice::run
