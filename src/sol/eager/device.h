// The GPU as eager kernels meet it: ceilings of the machine, and an L2 that still holds what the last kernels touched.
#pragma once

#include <string>
#include <vector>

#include "base/dtype.h"
#include "machine/machine.h"
#include "sol/eager/call.h"

namespace solstice::sol::eager {

enum class Stream { kCopy, kRead, kWrite };

bool uses_tensor_cores(DType dtype, bool tf32);  // products of it

class Device {
 public:
  Device(const machine::Machine& machine, bool matmul_tf32, bool conv_tf32)
      : machine_(machine), matmul_tf32_(matmul_tf32), conv_tf32_(conv_tf32) {}

  const machine::Machine& machine() const { return machine_; }
  bool matmul_tf32() const { return matmul_tf32_; }
  bool conv_tf32() const { return conv_tf32_; }
  double sms() const { return machine_.sm_count; }
  // Operations a second of products of this dtype; tensor cores for f32 only where `tf32`.
  Result<double> product_rate(DType dtype, bool tf32) const;

  // Seconds to move the distinct bytes of each once, at a share of the ceiling; from then on L2 holds them.
  double moved(const std::vector<Tensor>& reads, const std::vector<Tensor>& writes, Stream stream = Stream::kCopy,
               double share = 1);
  // The same for a whole kernel: at least what an empty one takes, and the gap before it.
  double kernel(const std::vector<Tensor>& reads, const std::vector<Tensor>& writes, Stream stream = Stream::kCopy,
                double share = 1);

 private:
  struct Resident {
    std::string root;
    double bytes;
  };
  double hit(const Tensor& tensor) const;  // share of its bytes that L2 holds
  void touch(const Tensor& tensor);
  double kept() const;
  double rate(Stream stream) const;

  const machine::Machine& machine_;
  bool matmul_tf32_, conv_tf32_;
  std::vector<Resident> resident_;  // oldest first
};

}  // namespace solstice::sol::eager
