#include "sol/eager/device.h"

#include <algorithm>
#include <set>

#include "sol/eager/parameters.h"

namespace solstice::sol::eager {

bool uses_tensor_cores(DType dtype, bool tf32) {
  const bool bytes = dtype == DType::kI8 || dtype == DType::kU8;
  return bytes || (is_float(dtype) && (dtype != DType::kF32 || tf32));
}

Result<double> Device::product_rate(DType dtype, bool tf32) const {
  machine::Pipe pipe = machine::Pipe::kSimtF32;
  if (dtype == DType::kF32 && tf32) {
    pipe = machine::Pipe::kTensorTF32;
  } else if (uses_tensor_cores(dtype, tf32)) {
    SOLSTICE_TRY(pipe, machine::tensor_pipe(dtype));
  }
  SOLSTICE_TRY(const machine::Ceiling ceiling, machine_.ceiling(pipe));
  return ceiling.per_second;
}

double Device::kept() const { return machine_.l2.value * kKept; }

double Device::rate(Stream stream) const {
  const machine::Ceiling ceiling = stream == Stream::kCopy   ? machine_.copy_ceiling()
                                   : stream == Stream::kRead ? machine_.read_ceiling()
                                                             : machine_.write_ceiling();
  return ceiling.per_second * kStream;
}

// Of a tensor that is larger than what L2 keeps, the end that was touched last.
double Device::hit(const Tensor& tensor) const {
  double used = 0;
  for (auto at = resident_.rbegin(); at != resident_.rend(); ++at) {
    used += at->bytes;
    if (at->root != tensor.root) continue;
    return used <= kept() ? 1 : std::clamp(1 - (used - kept()) / std::max(tensor.bytes(), 1.0), 0.0, 1.0);
  }
  return 0;
}

void Device::touch(const Tensor& tensor) {
  std::erase_if(resident_, [&](const Resident& each) { return each.root == tensor.root; });
  resident_.push_back({tensor.root, tensor.bytes()});
}

double Device::moved(const std::vector<Tensor>& reads, const std::vector<Tensor>& writes, Stream stream, double share) {
  double dram = 0, l2 = 0;
  std::set<std::string> seen;
  for (const Tensor& read : reads) {
    if (!seen.insert(read.id).second) continue;
    const double hits = hit(read);
    l2 += hits * read.bytes();
    dram += (1 - hits) * read.bytes();
  }
  for (const Tensor& write : writes) (write.bytes() <= kept() ? l2 : dram) += write.bytes();
  for (const Tensor& read : reads) touch(read);
  for (const Tensor& write : writes) touch(write);
  return (dram / rate(stream) + l2 / machine_.l2_ceiling().per_second) / share;
}

double Device::kernel(const std::vector<Tensor>& reads, const std::vector<Tensor>& writes, Stream stream,
                      double share) {
  return std::max(kLeastKernel, moved(reads, writes, stream, share)) + kGap;
}

}  // namespace solstice::sol::eager
