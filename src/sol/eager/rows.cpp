// Softmax and normalisations.
#include <algorithm>
#include <cmath>

#include "sol/eager/parameters.h"
#include "sol/eager/price.h"

namespace solstice::sol::eager {
namespace {

const Tensor& subject(const Call& call) { return call.reads().front(); }

// Statistics of groups, a block each, by Welford's update.
double moments(const Tensor& x, double groups, Device& device) {
  const double size = x.elements() / groups;
  const double read = device.moved({x}, {}, Stream::kRead);
  const double lanes = 128, clock = device.machine().max_clock.value;
  const double issue = x.elements() * kMomentInstructions / (device.sms() * lanes * clock);
  const double block = std::ceil(groups / (device.sms() * kMomentBlocks)) * size * x.item() / kMomentBlock;
  const double steps = kGroupStep * std::ceil(groups / (device.sms() * 32));
  const bool few = groups < 2 * device.sms();
  return std::max({read, few ? 0 : issue, few ? block : 0, size < kShortGroup ? std::max(block, steps) : 0}) + kGap;
}

}  // namespace

Price price_softmax(const Call& call, Device& device) {
  const Tensor& x = subject(call);
  const auto rank = static_cast<int64_t>(x.shape.size());
  const int64_t given = call.argument("dim").as_int(-1);
  const auto dim = static_cast<size_t>(std::max<int64_t>(given < 0 ? given + rank : given, 0));
  const double inner = x.extents(dim + 1), row = static_cast<double>(x.extent(static_cast<int>(dim))) * x.item();
  double seconds = device.moved({x}, call.results());
  const double l2 = device.machine().l2_ceiling().per_second;
  if (inner > 1) {
    seconds += 2 * x.bytes() / l2;
  } else if (row > kSoftmaxShared) {
    // The row is read three times: again from L2 where the rows of all resident blocks, two to an SM, fit there.
    const bool stays = 2 * device.sms() * row <= device.machine().l2.value;
    seconds += 2 * x.bytes() / (stays ? l2 : device.machine().read_ceiling().per_second);
  }
  return {.device = seconds + kGap, .kind = "softmax", .limit = "memory"};
}

// Several kernels: the largest of each row, the differences, exp, their sum, and a few over the rows' results.
Price price_logsumexp(const Call& call, Device& device) {
  const Tensor& x = subject(call);
  const Tensor made = fresh_tensor(call.results().front().id + ".exp", x.dtype, x.shape);
  double seconds = device.moved({x}, call.results(), Stream::kRead) + kGap;
  seconds += device.kernel({x}, {made}) + device.kernel({made}, {made});
  seconds += device.moved({made}, {}, Stream::kRead) + kGap;
  seconds += kLogSumExpTail * (kGap + kLeastKernel);
  return {.device = seconds, .launches = 4 + kLogSumExpTail, .kind = "softmax", .limit = "memory"};
}

Price price_layer_norm(const Call& call, Device& device) {
  const Tensor& x = subject(call);
  double size = 1;
  for (const int64_t extent : call.list("normalized_shape")) size *= static_cast<double>(extent);
  Price out{.library = true, .kind = "normalisation", .limit = "memory"};
  if (size > kLongRow) {
    out.limit = "latency";
    out.device = moments(x, x.elements() / size, device);
  } else if (!x.contiguous()) {
    out.device = device.kernel({x}, call.results(), Stream::kCopy, kStrided);
    ++out.launches;
  }
  out.device += device.kernel({x}, call.results());
  return out;
}

Price price_group_norm(const Call& call, Device& device) {
  const Tensor& x = subject(call);
  const double groups = static_cast<double>(x.extent(0) * std::max<int64_t>(call.argument("num_groups").as_int(1), 1));
  Price out{.launches = 3, .library = true, .kind = "normalisation", .limit = "CUDA cores"};
  out.device = moments(x, groups, device) + device.kernel({x}, call.results()) + 2 * kGap;
  return out;
}

// In training over the batch: cuDNN gives each channel a block; a matrix goes through PyTorch's own kernels.
Price price_batch_norm(const Call& call, Device& device) {
  const Tensor& x = subject(call);
  const bool instance = call.op() == "instance_norm";
  const double channels = static_cast<double>(x.extent(1) * (instance ? x.extent(0) : 1));
  Price out{.library = true, .kind = "normalisation", .limit = "memory"};
  const std::vector<Tensor> result{call.results().front()};
  const Json& training = call.argument("training");
  const bool evaluates = call.op() == "_native_batch_norm_legit_no_training" ||
                         (training.is_bool() && !training.as_bool()) ||
                         (instance && !call.argument("use_input_stats").as_bool(true));
  if (evaluates) {
    out.device = device.kernel({x}, result);
    return out;
  }
  const double read = device.moved({x}, {}, Stream::kRead);
  if (x.shape.size() == 2) {
    out.launches = 3;
    out.device = read + 2 * kGap + kLeastKernel + device.kernel({x}, result);
    return out;
  }
  const double memory = read + device.moved({x}, result);
  const double rounds = channels / device.sms();
  const double waves = rounds > 1 ? std::min(std::ceil(rounds), rounds + kTailShare) : 1;
  const double blocks = x.bytes() / channels * waves / kBatchNormBlock;
  if (blocks > memory) out.limit = "latency";
  out.device = std::max(memory, blocks) + kGap;
  return out;
}

}  // namespace solstice::sol::eager
