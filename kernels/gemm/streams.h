// Which operand a product reads once: line `line` of it and line `held` of the other meet in element (m, n) of the
// result. The same of extents: m(lines, held lines) is the result's m.
#pragma once

#include "ptx/types.h"

namespace solstice::gemm {

struct StreamsA {
  SOLSTICE_DEVICE static constexpr int m(int line, int) { return line; }
  SOLSTICE_DEVICE static constexpr int n(int, int held) { return held; }
};
struct StreamsB {
  SOLSTICE_DEVICE static constexpr int m(int, int held) { return held; }
  SOLSTICE_DEVICE static constexpr int n(int line, int) { return line; }
};

}  // namespace solstice::gemm
