// Operators whose kernels have no model: their bytes, and the launches that are known of their class. No original with
// them was measured.
#include <algorithm>
#include <set>

#include "sol/eager/parameters.h"
#include "sol/eager/price.h"

namespace solstice::sol::eager {
namespace {

using Names = std::set<std::string_view>;

bool is_factorisation(std::string_view op) {
  static const Names names = {"inverse",
                              "linalg_inv",
                              "linalg_inv_ex",
                              "linalg_solve",
                              "linalg_solve_ex",
                              "_linalg_solve_ex",
                              "det",
                              "linalg_det",
                              "_linalg_det",
                              "logdet",
                              "slogdet",
                              "linalg_slogdet",
                              "_linalg_slogdet",
                              "cholesky",
                              "linalg_cholesky",
                              "linalg_cholesky_ex",
                              "cholesky_inverse",
                              "cholesky_solve",
                              "linalg_qr",
                              "qr",
                              "linalg_lu",
                              "linalg_lu_factor",
                              "linalg_lu_factor_ex",
                              "linalg_lu_solve",
                              "linalg_ldl_factor",
                              "linalg_solve_triangular",
                              "triangular_solve",
                              "linalg_tensorinv",
                              "linalg_lstsq",
                              "linalg_householder_product"};
  return names.contains(op);
}

// By iterations, each over all columns.
bool is_iterative(std::string_view op) {
  static const Names names = {"linalg_svd",         "_linalg_svd",       "svd",        "linalg_svdvals", "linalg_eigh",
                              "_linalg_eigh",       "linalg_eigvalsh",   "linalg_eig", "linalg_eigvals", "linalg_pinv",
                              "linalg_matrix_rank", "linalg_matrix_exp", "linalg_cond"};
  return names.contains(op);
}

// Column after column, and the multiply-adds of all matrices.
Result<Price> price_factorisation(const Call& call, Device& device) {
  const Tensor& matrix = call.reads().front();
  const double columns = static_cast<double>(std::min(matrix.extent(-1), matrix.extent(-2)));
  const double steps = is_iterative(call.op()) ? kFactorIterations : 1;
  SOLSTICE_TRY(const double rate, device.product_rate(DType::kF32, false));
  const double work = 2 * steps * matrix.elements() * columns / rate;
  const double memory = device.kernel(call.reads(), call.results());
  const double latency = steps * columns * kFactorColumn;
  return Price{.device = std::max({memory, work, latency}) + kFactorLaunches * kGap,
               .launches = kFactorLaunches,
               .library = true,
               .kind = "factorisation",
               .limit = latency >= work ? "latency" : "CUDA cores",
               .fitted = false};
}

struct Known {
  const char* kind;
  int launches;  // each moves the call's bytes
};

Known known_of(std::string_view op) {
  static const Names counting = {"nonzero", "masked_select", "bincount", "histc", "histogram", "unique_dim"};
  static const Names cells = {"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"};
  const auto begins = [&](std::string_view with) { return op.starts_with(with); };
  if (begins("grid_sample") || begins("upsample") || begins("_upsample")) return {"resampling", 1};
  if (begins("fft_") || begins("_fft") || op == "stft" || op == "istft") return {"transform", 2};
  if (begins("scatter") || begins("index_") || op == "masked_scatter" || op == "put") return {"scatter", 2};
  if (counting.contains(op)) return {"counting", 3};
  if (cells.contains(op)) return {"recurrence", 3};  // two products and what follows them
  return {"other", 1};
}

}  // namespace

Result<Price> price_unmodelled(const Call& call, Device& device) {
  if (is_factorisation(call.op()) || is_iterative(call.op())) return price_factorisation(call, device);
  return price_by_bytes(call, device);
}

Price price_by_bytes(const Call& call, Device& device) {
  const Known known = known_of(call.op());
  Price out{.device = 0, .launches = known.launches, .kind = known.kind, .limit = "memory", .fitted = false};
  for (int i = 0; i < known.launches; ++i) out.device += device.kernel(call.reads(), call.results());
  if (out.device < 2 * known.launches * (kGap + kLeastKernel)) out.limit = "latency";
  return out;
}

}  // namespace solstice::sol::eager
