#include "record/verdict.h"

namespace solstice {

std::vector<const char*> enum_names(Outcome) {
  return {"passed",   "wrong_result", "nan_mismatch", "not_written", "wrote_input",
          "red_zone", "crashed",      "hung",         "load_failed", "out_of_memory"};
}

}  // namespace solstice
