#include "import/graph/damage.h"

#include <utility>

namespace solstice::importer {

void damaged(std::string why) { throw Damage{std::move(why)}; }

int64_t sum_of(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) damaged("a size beyond 64 bits");
  return out;
}

int64_t product_of(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) damaged("a size beyond 64 bits");
  return out;
}

}  // namespace solstice::importer
