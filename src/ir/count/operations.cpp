#include "ir/count/operations.h"

namespace solstice::ir {

Work& Work::operator+=(const Work& other) {
  contraction += other.contraction;
  simt += other.simt;
  sfu += other.sfu;
  integer += other.integer;
  return *this;
}

}  // namespace solstice::ir
