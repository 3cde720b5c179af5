#include "import/report/refusal.h"

namespace solstice::importer {

Error without_elements(const std::string& what) {
  return fail(Code::unsupported_operator, "`" + what + "` has no elements; no program can hold it");
}

Error complex_value(const std::string& what) {
  return fail(Code::unsupported_operator, what + " is complex; programs hold reals: see `torch.view_as_real`");
}

Error no_real_tensor(const std::string& op, bool is_complex) {
  if (!is_complex) {
    return fail(Code::unsupported_operator,
                "`" + op + "` yields a value that is no real tensor; no program can hold it");
  }
  return fail(Code::unsupported_operator,
              "`" + op +
                  "` yields complex numbers, and programs hold reals: take a short transform as a product with "
                  "cosines and sines, or call it outside of the module");
}

}  // namespace solstice::importer
