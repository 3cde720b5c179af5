// Convolutions and pooling.
#include <algorithm>
#include <cmath>

#include "sol/eager/parameters.h"
#include "sol/eager/price.h"

namespace solstice::sol::eager {
namespace {

double round_up(double extent, double to) { return std::ceil(extent / to) * to; }

struct Convolution {
  const Tensor &input, &weight, &output;
  bool biased = false, transposed = false;
  double groups = 1;

  double taps() const { return weight.extents(2); }
  size_t axes() const { return weight.shape.size() - 2; }
  double inputs() const { return static_cast<double>(input.extent(1)) / groups; }
  double outputs() const { return static_cast<double>(output.extent(1)) / groups; }
  bool depthwise() const { return groups > 1 && inputs() == 1 && outputs() == 1 && axes() == 2 && !transposed; }
  // Multiply-adds; a transposed one spreads each input over its taps.
  double macs() const {
    return transposed ? input.elements() * taps() * outputs() : output.elements() * taps() * inputs();
  }
};

Price price_depthwise(const Convolution& conv, Device& device) {
  const double compute = conv.output.elements() * (kDepthwiseOutput + kDepthwiseTap * conv.taps());
  const double memory = device.moved({conv.input, conv.weight}, {conv.output});
  return {.device = std::max(compute, memory) + kGap,
          .library = true,
          .kind = "convolution, depthwise",
          .limit = limit_of(memory, compute, false)};
}

// Too few channels for the tensor cores' layout.
Result<Price> price_few_channels(const Convolution& conv, DType dtype, Device& device) {
  SOLSTICE_TRY(const double rate, device.product_rate(dtype, false));
  const double padding = round_up(conv.outputs(), kOutPadded) / conv.outputs();
  const double compute = 2 * conv.macs() * padding / (rate * kFewChannels);
  const double written = device.moved({}, {conv.output}, Stream::kWrite);
  return Price{.device = compute + written + kGap,
               .library = true,
               .kind = "convolution, few channels",
               .limit = limit_of(written, compute, false)};
}

Result<Price> price_implicit(const Convolution& conv, DType dtype, Device& device) {
  const bool tensor = dtype != DType::kF32 || device.conv_tf32();
  SOLSTICE_TRY(double rate, device.product_rate(dtype, device.conv_tf32()));
  if (tensor) rate *= conv.axes() == 3 ? kConv3dTensor : kConvTensor;
  const double padding = tensor ? round_up(conv.inputs(), kInPadded) / conv.inputs() *
                                      round_up(conv.outputs(), kOutPadded) / conv.outputs()
                                : 1;
  const Tensor in = fresh_tensor(conv.output.id + ".in", conv.input.dtype, conv.input.shape);
  const Tensor out = fresh_tensor(conv.output.id + ".out", conv.output.dtype, conv.output.shape);
  double permuted = tensor ? device.kernel({conv.input}, {in}) : 0;
  const double compute = 2 * conv.macs() * padding / rate, memory = device.moved({in, conv.weight}, {out});
  permuted += tensor ? device.kernel({out}, {conv.output}) : 0;
  return Price{.device = permuted + std::max(compute, memory) + kGap,
               .library = true,
               .kind = "convolution",
               .limit = limit_of(memory + permuted, compute, tensor)};
}

}  // namespace

Result<Price> price_convolution(const Call& call, Device& device) {
  const Tensor *input = call.tensor("input"), *weight = call.tensor("weight");
  if (!input || !weight || weight->shape.size() < 3 || call.results().empty())
    return Price{.device = device.kernel(call.reads(), call.results()), .library = true, .kind = "convolution"};
  const bool transposed = call.op().find("transpose") != std::string_view::npos;
  const Convolution conv{*input,
                         *weight,
                         call.results().front(),
                         call.tensor("bias") != nullptr,
                         transposed,
                         static_cast<double>(std::max<int64_t>(call.argument("groups").as_int(1), 1))};
  if (conv.depthwise()) return price_depthwise(conv, device);
  const DType dtype = storage_dtype(input->dtype).value_or(DType::kF32);
  SOLSTICE_TRY(Price out,
               conv.inputs() < 8 ? price_few_channels(conv, dtype, device) : price_implicit(conv, dtype, device));
  if (conv.biased) {
    out.device += device.kernel({conv.output}, {conv.output});
    ++out.launches;
  }
  if (transposed) out.kind = "convolution, transposed";
  out.fitted = !transposed;
  return out;
}

Price price_pooling(const Call& call, Device& device) {
  Price out{.kind = "pooling", .limit = "memory"};
  std::vector<Tensor> writes = call.results();
  double taps = 0;
  if (call.op().starts_with("max") && !writes.empty()) {
    const Tensor& pooled = writes.front();
    taps = pooled.elements();
    const std::vector<int64_t> window = call.list("kernel_size");
    for (const int64_t extent : window) taps *= static_cast<double>(extent);
    if (writes.size() == 1) writes.push_back(fresh_tensor(pooled.id + ".at", GraphDType::kI64, pooled.shape));
  }
  const double memory = device.kernel(call.reads(), writes), compute = taps / kPoolTaps + kGap;
  out.limit = limit_of(memory, compute, false);
  out.device = std::max(memory, compute);
  return out;
}

}  // namespace solstice::sol::eager
