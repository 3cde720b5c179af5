// Products of matrices, attention and recurrences.
#include <algorithm>
#include <cmath>
#include <set>

#include "sol/eager/parameters.h"
#include "sol/eager/price.h"

namespace solstice::sol::eager {
namespace {

DType product_dtype(const std::vector<Tensor>& reads) {
  return reads.empty() ? DType::kF32 : storage_dtype(reads.front().dtype).value_or(DType::kF32);
}

double padded(double extent) { return std::ceil(extent / kPadded) * kPadded; }

// Share of the machine that the tiles of a product leave idle, as a factor on its time.
double idle_factor(double tiles, double k, double sms) {
  if (tiles >= sms) {
    const double waves = tiles / sms;
    return 1 + (std::ceil(waves) / waves - 1) * kTailShare;
  }
  return sms / std::min(sms, tiles * std::max(1.0, std::floor(k / kSplitDepth)));
}

bool aligned(const ProductSize& size, DType dtype) {
  const double line = 16.0 / size_of(dtype);
  return std::fmod(size.k, line) == 0 && std::fmod(size.n, line) == 0;
}

// A batch axis that does not fold into the others is copied first.
double copies_of(const std::vector<const Tensor*>& operands, Device& device, int& launches) {
  double out = 0;
  for (const Tensor* operand : operands) {
    if (operand->shape.size() < 4 || operand->contiguous()) continue;
    const size_t last = operand->shape.size() - 1;
    if (operand->stride[last] == operand->shape[last - 1] || operand->stride[last - 1] == 1) continue;
    out += device.kernel({*operand}, {*operand});
    ++launches;
  }
  return out;
}

ProductSize size_of_linear(const Tensor& input, const Tensor& weight) {
  const auto k = static_cast<double>(weight.extent(-1));
  return {1, input.elements() / std::max(k, 1.0), static_cast<double>(weight.shape.size() > 1 ? weight.extent(0) : 1),
          k};
}

ProductSize size_of_matmul(const Tensor& left, const Tensor& right) {
  const auto k = static_cast<double>(left.extent(-1));
  const double n = right.shape.size() > 1 ? static_cast<double>(right.extent(-1)) : 1;
  if (right.shape.size() <= 2) return {1, left.elements() / std::max(k, 1.0), n, k};
  const auto m = static_cast<double>(left.extent(-2));
  const double batch = std::max(left.elements() / std::max(m * k, 1.0), right.elements() / std::max(n * k, 1.0));
  return {batch, m, n, k};
}

// Any number of contracted axes.
ProductSize size_of_contraction(const Tensor& left, const Tensor& right, const Tensor& result) {
  const double k = std::sqrt(left.elements() * right.elements() / std::max(result.elements(), 1.0));
  return {1, left.elements() / std::max(k, 1.0), right.elements() / std::max(k, 1.0), k};
}

ProductSize size_of_product(const Call& call, const Tensor& left, const Tensor& right) {
  const std::string_view op = call.op();
  if (op == "linear") return size_of_linear(left, right);
  if (op == "tensordot" || op == "inner") return size_of_contraction(left, right, call.results().front());
  return size_of_matmul(left, right);
}

}  // namespace

std::string limit_of(double memory, double compute, bool tensor_cores) {
  if (memory >= compute) return "memory";
  return tensor_cores ? "tensor cores" : "CUDA cores";
}

Result<Price> price_matrices(const ProductSize& size, const std::vector<Tensor>& reads,
                             const std::vector<Tensor>& results, Device& device) {
  const DType dtype = product_dtype(reads);
  const bool tensor = uses_tensor_cores(dtype, device.matmul_tf32());
  SOLSTICE_TRY(double rate, device.product_rate(dtype, device.matmul_tf32()));
  if (tensor && !aligned(size, dtype)) rate *= kUnaligned;
  const double read = device.moved(reads, {}, Stream::kRead), written = device.moved({}, results, Stream::kWrite);
  Price out{.kind = "product", .limit = "memory"};
  if (std::min(size.m, size.n) == 1) {
    out.device = read / kGemv + written + kGap;
    return out;
  }
  const double tiles = size.batch * std::ceil(size.m / kTile) * std::ceil(size.n / kTile);
  const double work = 2 * size.batch * padded(size.m) * padded(size.n) * (size.k + kDepthOverhead);
  const double compute = std::max(work / rate * idle_factor(tiles, size.k, device.sms()),
                                  kLeastTile * std::ceil(tiles / (2 * device.sms())));
  out.library = true;
  out.limit = limit_of(read, compute, tensor);
  out.device = std::max(read, compute) + written + kGap + kFill;
  return out;
}

Result<Price> price_product(const Call& call, Device& device) {
  const bool linear = call.op() == "linear";
  const bool added = call.op() == "addmm" || call.op() == "baddbmm" || call.op() == "addbmm";
  const Tensor* left = call.tensor(linear ? "input" : added ? "mat1" : "self");
  const Tensor* right = call.tensor(linear ? "weight" : "other");
  if (added && !left) left = call.tensor("batch1");
  for (const char* name : {"mat2", "batch2", "vec", "tensor"}) {
    if (!right) right = call.tensor(name);
  }
  if (!left || !right) return Price{.device = device.kernel(call.reads(), call.results()), .kind = "product"};
  int copied = 0;
  const double copies = copies_of({left, right}, device, copied);
  const ProductSize size = size_of_product(call, *left, *right);
  SOLSTICE_TRY(Price out, price_matrices(size, {*left, *right}, call.results(), device));
  out.device += copies;
  out.launches += copied;
  out.library = true;
  return out;
}

Result<Price> price_attention(const Call& call, Device& device) {
  const Tensor *query = call.tensor("query"), *key = call.tensor("key"), *value = call.tensor("value");
  Price out{.kind = "attention", .limit = "memory"};
  const double memory = device.moved(call.reads(), call.results());
  out.library = true;
  if (!query || !key || !value) {
    out.device = memory + kGap;
    return out;
  }
  const DType dtype = storage_dtype(query->dtype).value_or(DType::kF32);
  SOLSTICE_TRY(const double rate, device.product_rate(dtype, false));
  const double rows = query->elements() / static_cast<double>(std::max<int64_t>(query->extent(-1), 1));
  const double work = 2 * rows * static_cast<double>(key->extent(-2) * (query->extent(-1) + value->extent(-1)));
  const double compute = work / (rate * kAttention);
  out.limit = limit_of(memory, compute, dtype != DType::kF32);
  out.device = std::max(memory, compute) + kGap;
  return out;
}

// Layers one after the other, each with a product for all steps and then a product a step.
Result<Price> price_recurrence(const Call& call, Device& device) {
  Price out{.kind = "recurrence", .limit = "latency", .fitted = false};
  out.library = true;
  const Tensor* input = call.tensor("input");
  const double layers = std::max<double>(1, static_cast<double>(call.argument("num_layers").as_int(1)));
  const double ways = call.argument("bidirectional").as_bool() ? 2 : 1;
  const bool first = call.argument("batch_first").as_bool();
  const double steps = input ? static_cast<double>(input->extent(first ? 1 : 0)) : 1;
  double weights = 0;
  for (const Tensor& read : call.reads()) weights += read.shape.size() == 2 ? read.elements() : 0;
  const double rows = input ? input->elements() / std::max(1.0, static_cast<double>(input->extent(-1))) : 1;
  const DType dtype = input ? storage_dtype(input->dtype).value_or(DType::kF32) : DType::kF32;
  SOLSTICE_TRY(const double rate, device.product_rate(dtype, device.matmul_tf32()));
  out.device =
      2 * weights * rows / rate + steps * layers * ways * kRecurrentStep + device.kernel(call.reads(), call.results());
  return out;
}

}  // namespace solstice::sol::eager
