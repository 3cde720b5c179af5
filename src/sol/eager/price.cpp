#include "sol/eager/price.h"

#include <set>

#include "sol/eager/parameters.h"
#include "sol/eager/pointwise.h"

namespace solstice::sol::eager {
namespace {

using Names = std::set<std::string_view>;

bool is_product(std::string_view op) {
  static const Names names = {"linear", "matmul",      "mm",    "bmm",     "mv",         "addmm",     "dot",  "baddbmm",
                              "addbmm", "_grouped_mm", "addmv", "_int_mm", "_scaled_mm", "tensordot", "inner"};
  return names.contains(op);
}

bool is_batch_norm(std::string_view op) {
  static const Names names = {"batch_norm", "_native_batch_norm_legit_functional",
                              "_native_batch_norm_legit_no_training", "native_batch_norm", "instance_norm"};
  return names.contains(op);
}

bool is_reduction(std::string_view op) {
  static const Names names = {
      "sum",           "mean",    "amax", "amin", "prod", "any", "all", "var", "std", "norm", "linalg_vector_norm",
      "count_nonzero", "var_mean"};
  return names.contains(op);
}

bool is_arg_reduction(const Call& call) {
  static const Names always = {"argmax", "argmin", "aminmax"}, with_dim = {"max", "min", "median", "mode"};
  return always.contains(call.op()) || (with_dim.contains(call.op()) && call.argument("dim").is_int());
}

bool is_scan(std::string_view op) {
  static const Names names = {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"};
  return names.contains(op);
}

bool is_sort(std::string_view op) {
  static const Names names = {"sort", "argsort", "topk", "kthvalue", "unique", "msort"};
  return names.contains(op);
}

// Their first operand is a table, of which they read as much as they write.
bool is_gather(std::string_view op) {
  static const Names names = {"embedding",     "index_select", "gather",        "index",
                              "_unsafe_index", "take",         "take_along_dim"};
  return names.contains(op);
}

// Memory that nothing fills.
bool is_empty(std::string_view op) {
  static const Names names = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"};
  return names.contains(op);
}

bool is_embedding_bag(std::string_view op) { return op == "embedding_bag" || op == "_embedding_bag"; }

bool is_loss(std::string_view op) {
  return op == "cross_entropy_loss" || op == "nll_loss" || op == "nll_loss_nd" || op == "nll_loss2d";
}

Price price_elementwise(const Call& call, Device& device) {
  Price out{.kind = "elementwise", .limit = "memory"};
  const bool laid_out = call.op() == "clone" || call.op() == "contiguous" || call.op() == "cat" || call.op() == "pad" ||
                        call.op() == "constant_pad_nd" || call.op() == "copy";
  if (laid_out) out.kind = "copy";
  out.device = device.kernel(call.reads(), call.results());
  if (call.op() == "masked_fill" || call.op() == "pad" || call.op() == "constant_pad_nd") {
    // A copy or a fill of the whole, then the part.
    out.device += device.kernel(call.op() == "masked_fill" ? call.results() : std::vector<Tensor>{}, call.results());
    out.launches = 2;
  }
  if (out.device < 2 * (kGap + kLeastKernel)) out.limit = "latency";
  return out;
}

Price price_gather(const Call& call, Device& device) {
  std::vector<Tensor> reads;
  const Tensor* table = call.tensor(call.op() == "embedding" ? "weight" : "self");
  for (const Tensor& read : call.reads()) {
    if (!table || read.id != table->id) reads.push_back(read);
  }
  if (!call.results().empty()) {
    Tensor slice = call.results().front();
    slice.id = slice.root = slice.id + ".read";
    reads.push_back(slice);
  }
  return {.device = device.kernel(reads, call.results()), .kind = "gather", .limit = "memory", .fitted = false};
}

// Sums of rows of a table: those that it looks up.
Price price_embedding_bag(const Call& call, Device& device) {
  const Tensor *table = call.tensor("weight"), *indices = call.tensor("indices");
  std::vector<Tensor> reads;
  if (table && indices) {
    const auto rows = static_cast<int64_t>(indices->elements());
    reads = {*indices, fresh_tensor(call.results().front().id + ".read", table->dtype, {rows, table->extent(1)})};
  }
  return {.device = device.kernel(reads, call.results()), .kind = "gather", .limit = "memory", .fitted = false};
}

Price price_scan(const Call& call, Device& device) {
  Price out{.kind = "scan", .limit = "latency"};
  const Tensor& x = call.reads().front();
  if (!x.contiguous()) {
    out.device = device.kernel({x}, {call.results().front()}, Stream::kCopy, kStrided);
    ++out.launches;
  }
  out.device += device.kernel({x}, call.results(), Stream::kCopy, kScan);
  return out;
}

Price price_loss(const Call& call, Device& device) {
  const Tensor& x = call.reads().front();
  Price out{.kind = "loss", .limit = "latency"};
  const double rows = x.shape.size() > 1 ? x.elements() / static_cast<double>(std::max<int64_t>(x.extent(1), 1)) : 1;
  if (call.op() == "cross_entropy_loss") {
    const Tensor logs = fresh_tensor(call.results().front().id + ".log", x.dtype, x.shape);
    out.device = device.kernel({x}, {logs});
    ++out.launches;
  }
  out.device += rows * kLossRow + kGap;
  return out;
}

Price price_reduction(const Call& call, Device& device, double share) {
  return {.device = device.kernel(call.reads(), call.results(), Stream::kRead, share),
          .kind = "reduction",
          .limit = "memory"};
}

Price price_sort(const Call& call, Device& device) {
  return {.device = kSortPasses * device.kernel(call.reads(), call.results()),
          .launches = static_cast<int>(kSortPasses),
          .kind = "sort",
          .limit = "memory",
          .fitted = false};
}

}  // namespace

Result<Price> price(const Call& call, Device& device) {
  const std::string_view op = call.op();
  if (call.results().empty() || is_empty(op)) return Price{.launches = 0, .kind = "view"};
  if (op == "einsum") return price_einsum(call, device);
  if (op.find("scaled_dot_product") != std::string_view::npos) return price_attention(call, device);
  if (op == "lstm" || op == "gru" || op == "rnn_tanh" || op == "rnn_relu") return price_recurrence(call, device);
  if (is_product(op)) return price_product(call, device);
  if (op.starts_with("conv") || op == "_convolution") return price_convolution(call, device);
  if (call.reads().empty()) return price_elementwise(call, device);  // made from nothing
  if (op == "softmax" || op == "log_softmax" || op == "_softmax" || op == "_log_softmax")
    return price_softmax(call, device);
  if (op == "logsumexp") return price_logsumexp(call, device);
  if (op == "layer_norm" || op == "rms_norm") return price_layer_norm(call, device);
  if (op == "group_norm") return price_group_norm(call, device);
  if (is_batch_norm(op)) return price_batch_norm(call, device);
  if (op.find("_pool") != std::string_view::npos) return price_pooling(call, device);
  if (is_loss(op)) return price_loss(call, device);
  if (is_scan(op)) return price_scan(call, device);
  if (is_arg_reduction(call)) return price_reduction(call, device, kArgReduce);
  if (is_reduction(op)) return price_reduction(call, device, kReduce);
  if (is_sort(op)) return price_sort(call, device);
  if (is_gather(op)) return price_gather(call, device);
  if (is_embedding_bag(op)) return price_embedding_bag(call, device);
  if (is_pointwise(op)) return price_elementwise(call, device);
  return price_unmodelled(call, device);
}

}  // namespace solstice::sol::eager
