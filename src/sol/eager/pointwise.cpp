#include "sol/eager/pointwise.h"

#include <set>

namespace solstice::sol::eager {

bool is_pointwise(std::string_view op) {
  static const std::set<std::string_view> names = {
      "_to_copy", "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "alpha_dropout", "angle", "arange",
      "arccos", "arcsin", "arctan", "arctan2", "asin", "asinh", "atan", "atan2", "atanh", "bernoulli",
      "binary_cross_entropy", "binary_cross_entropy_with_logits", "bitwise_and", "bitwise_left_shift", "bitwise_not",
      "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cat", "ceil", "celu", "channel_shuffle", "clamp",
      "clamp_max", "clamp_min", "clip", "clone", "complex", "concat", "conj_physical", "constant_pad_nd",
      "contiguous", "copy", "copysign", "cos", "cosh", "deg2rad", "digamma", "div", "divide", "dropout", "elu", "eq",
      "erf", "erfc", "erfinv", "exp", "exp2", "expand_as", "expm1", "eye", "feature_dropout", "fill", "flatten",
      "flip", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "frexp", "full", "full_like",
      "gcd", "ge", "gelu", "gelu_backward", "glu", "greater", "greater_equal", "gt", "hardshrink", "hardsigmoid",
      "hardswish", "hardtanh", "heaviside", "hstack", "huber_loss", "hypot", "i0", "igamma", "igammac", "im2col",
      "imag", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "l1_loss", "lcm", "ldexp", "le",
      "leaky_relu", "lerp", "less", "less_equal", "lgamma", "lift_fresh_copy", "linspace", "log", "log10", "log1p",
      "log2", "log_sigmoid", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor",
      "logit", "logit_backward", "logsigmoid", "lt", "masked_fill", "max", "maximum", "meshgrid", "min", "minimum",
      "mish", "mse_loss", "mul", "multiply", "mvlgamma", "nan_to_num", "native_dropout", "native_dropout_backward",
      "ne", "neg", "negative", "new_full", "new_ones", "new_zeros", "nextafter", "normal", "not_equal", "one_hot",
      "ones", "ones_like", "outer", "pad", "pixel_shuffle", "pixel_unshuffle", "polar", "polygamma", "positive",
      "pow", "prelu", "rad2deg", "rand", "rand_like", "randn", "randn_like", "real", "reciprocal", "reflection_pad1d",
      "reflection_pad2d", "reflection_pad3d", "relu", "relu6", "remainder", "repeat", "repeat_interleave",
      "replication_pad1d", "replication_pad2d", "replication_pad3d", "reshape", "roll", "round", "rrelu", "rsqrt",
      "rsub", "scalar_tensor", "selu", "sgn", "sigmoid", "sigmoid_backward", "sign", "signbit", "silu",
      "silu_backward", "sin", "sinc", "sinh", "smooth_l1_loss", "softplus", "softshrink", "special_airy_ai",
      "special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1",
      "special_chebyshev_polynomial_t", "special_chebyshev_polynomial_u", "special_chebyshev_polynomial_v",
      "special_chebyshev_polynomial_w", "special_entr", "special_erf", "special_erfcx", "special_expit",
      "special_hermite_polynomial_h", "special_hermite_polynomial_he", "special_i0e", "special_i1", "special_i1e",
      "special_laguerre_polynomial_l", "special_legendre_polynomial_p", "special_log1p", "special_log_ndtr",
      "special_modified_bessel_i0", "special_modified_bessel_i1", "special_modified_bessel_k0",
      "special_modified_bessel_k1", "special_ndtri", "special_scaled_modified_bessel_k0",
      "special_scaled_modified_bessel_k1", "special_shifted_chebyshev_polynomial_t",
      "special_shifted_chebyshev_polynomial_u", "special_shifted_chebyshev_polynomial_v",
      "special_shifted_chebyshev_polynomial_w", "special_spherical_bessel_j0", "special_xlog1py", "special_zeta",
      "sqrt", "square", "stack", "sub", "subtract", "tan", "tanh", "tanh_backward", "threshold", "threshold_backward",
      "tile", "to", "tril", "triu", "true_divide", "trunc", "type_as", "unfold", "uniform", "view_as_complex",
      "vstack", "where", "xlogy", "zeros", "zeros_like",
  };
  return names.contains(op);
}

}  // namespace solstice::sol::eager
