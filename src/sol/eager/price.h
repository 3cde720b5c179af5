// The kernels that PyTorch eager runs for one call, and their time. Each function prices a class of operators; price()
// chooses by the operator's name.
#pragma once

#include "sol/eager/call.h"
#include "sol/eager/device.h"

namespace solstice::sol::eager {

struct Price {
  double device = 0;                 // seconds of its kernels, with the gaps before them
  int launches = 1;                  // kernels
  bool library = false;              // costs the host as much as a call of cuBLAS or cuDNN
  std::string kind = "elementwise";  // class under which its error is reported: "product", "convolution"
  std::string limit = "memory";      // "memory", "tensor cores", "CUDA cores", "latency"
  bool fitted = true;                // false: no original with this operator was measured
};

// Errors: bad_argument where the machine lacks a pipe.
Result<Price> price(const Call& call, Device& device);

// Of a class each. `call` has the arguments that its operators have.
Result<Price> price_product(const Call& call, Device& device);
Result<Price> price_einsum(const Call& call, Device& device);
Result<Price> price_attention(const Call& call, Device& device);
Result<Price> price_recurrence(const Call& call, Device& device);
Result<Price> price_convolution(const Call& call, Device& device);
Result<Price> price_unmodelled(const Call& call, Device& device);
Price price_by_bytes(const Call& call, Device& device);  // of an operator without a model
Price price_softmax(const Call& call, Device& device);
Price price_logsumexp(const Call& call, Device& device);
Price price_layer_norm(const Call& call, Device& device);
Price price_group_norm(const Call& call, Device& device);
Price price_batch_norm(const Call& call, Device& device);
Price price_pooling(const Call& call, Device& device);

// A product of `batch` matrices m x k and k x n. `reads` and `results` are the tensors behind it.
struct ProductSize {
  double batch = 1, m = 1, n = 1, k = 1;
};
Result<Price> price_matrices(const ProductSize& size, const std::vector<Tensor>& reads,
                             const std::vector<Tensor>& results, Device& device);

// Which of two times is the longer one, for Price::limit.
std::string limit_of(double memory, double compute, bool tensor_cores);

}  // namespace solstice::sol::eager
