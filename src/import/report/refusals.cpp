#include "import/report/refusals.h"

#include <fmt/format.h>

#include "ir/opaque.h"

namespace solstice::importer {

Error no_real_tensor(const std::string& op, bool is_complex) {
  if (is_complex) {
    return fail(
        Code::unsupported_operator, fmt::format("`{}` yields complex numbers, and programs hold reals", op),
        fmt::format("take a short transform as a product with cosines and sines; otherwise {}", ir::kRunByPyTorch));
  }
  return fail(Code::unsupported_operator,
              fmt::format("`{}` yields a value that is no real tensor; no program can hold it", op), ir::kRunByPyTorch);
}

Error no_known_shape(const std::string& op, const std::string& way_out) {
  return fail(Code::unsupported_operator, fmt::format("`{}`: {}", op, kVaries),
              fmt::format("{}; otherwise {}", way_out, ir::kRunByPyTorch));
}

Error no_elements(const std::string& what) {
  return fail(Code::unsupported_operator, fmt::format("`{}` has no elements; no program can hold it", what),
              ir::kRunByPyTorch);
}

Error complex_numbers(const std::string& what) {
  return fail(Code::unsupported_operator, what + " is complex; programs hold reals",
              "return its real and its imaginary part: `torch.view_as_real`");
}

Error computes_nothing() {
  return fail(Code::unsupported_operator,
              "the module returns no tensor and writes no buffer; a program of it would compute nothing",
              "let `forward` return a tensor, or a list, tuple or dict of tensors");
}

}  // namespace solstice::importer
