// Lines of an operand that do not lie one after another, on their way to shared memory: 128 threads, each 16 bytes of
// every 16th row of 128 bytes, swizzled as wgmma reads them. Thread t: piece t % 8 of row t / 8.
#pragma once

#include "copy/async.h"
#include "mma/descriptor.h"

// part: producer

namespace solstice::mainloop {

// An operand whose lines may have to be gathered.
struct GatheredOperand {
  const u8* data;
  i64 stride;  // bytes between lines
  int list;    // of the table of lines
};

SOLSTICE_DEVICE u32 own_place(u32 to, int thread) {
  return to + thread / 8 * mma::kRowBytes + ((thread % 8 ^ (thread / 8 & 7)) << 4);
}
// A line from element `at` on; of line -1 it has no element, and no address that may be read.
struct LineRest {
  const u8* begin;
  int elements;  // that it has; none where this is not positive

  SOLSTICE_DEVICE LineRest(const GatheredOperand& x, int line, int at, int extent)
      : begin(x.data + line * x.stride + 2 * at), elements(line < 0 ? 0 : extent - at) {}
  // The 8 elements `skip` behind the first one, as far as there are such; then zeros. A producer that gathers two
  // operands has 24 of these a stage, and is what the tensor cores wait for: pieces that are there as a whole or not at
  // all, as of any extent that is a multiple of 8, take a comparison and a copy.
  SOLSTICE_DEVICE void load_piece(u32 to, int skip, bool in_wholes) const {
    const int left = elements - skip;
    if (in_wholes)
      copy::load_async_if<16>(left > 0, to, begin + 2 * skip);
    else
      copy::load_async<16>(to, begin + (left > 0 ? 2 * skip : 0), larger(0, smaller(16, 2 * left)));
  }
};

// Lines of the operand that a thread reads of kLines rows; -1 behind the group's end.
template <int kLines>
struct Lines {
  int at[kLines / 16];

  // `Table`: list(i)[position] is the line of operand `list` at a position in the order.
  template <class Table>
  SOLSTICE_DEVICE void find(const Table& table, const GatheredOperand& x, bool plain, int first, int end, int thread) {
#pragma unroll
    for (int j = 0; j < kLines / 16; ++j) {
      const int position = first + thread / 8 + 16 * j;
      at[j] = position >= end ? -1 : plain ? position : table.list(x.list)[position];
    }
  }
};

// A K-major tile: 64 k of kRows lines.
template <int kRows>
SOLSTICE_DEVICE void gather_rows(u32 to, int thread, const GatheredOperand& x, const Lines<kRows>& lines, int k,
                                 int extent) {
#pragma unroll
  for (int j = 0; j < kRows / 16; ++j) {
    const LineRest rest(x, lines.at[j], k + thread % 8 * 8, extent);
    rest.load_piece(own_place(to, thread) + j * 16 * mma::kRowBytes, 0, extent % 8 == 0);
  }
}
// An MN-major tile: kColumns elements of 64 lines.
template <int kColumns>
SOLSTICE_DEVICE void gather_k(u32 to, int thread, const GatheredOperand& x, const Lines<64>& lines, int column,
                              int extent) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const LineRest rest(x, lines.at[j], column + thread % 8 * 8, extent);
#pragma unroll
    for (int g = 0; g < kColumns / 64; ++g)
      rest.load_piece(own_place(to, thread) + g * mma::kGroupBytes + j * 16 * mma::kRowBytes, 64 * g, extent % 8 == 0);
  }
}

}  // namespace solstice::mainloop
