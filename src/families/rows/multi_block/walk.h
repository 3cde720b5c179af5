// The walk of a team's block over rows: piece by piece, three times. The copying warp brings the pieces into the ring;
// the computing threads take each when it arrives, and again when its row's results are known.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "families/rows/draft.h"
#include "families/rows/multi_block/plan.h"

namespace solstice::families::rows {

std::string_view row_type(const Shape& shape);

class MultiBlockWalk {
 public:
  MultiBlockWalk(Draft& draft, const MultiBlock& team) : draft_(draft), team_(team) {}

  // Binds the row's indices from `row`, in the scope `depth`.
  void bind_row(int depth);
  // Place of a piece, from `chunk`, its number in the block's part: `run` of the row, `begin` and `size` in vectors.
  // For shifted vectors also `at`, its first element (before the run's first: negative), and `apart`, true if it has
  // partial vectors.
  std::string piece_text() const;
  // `shift_of(row, run)` of shifted vectors: the number of elements by which the first one begins before the run.
  Result<std::string> shift_text();
  // Binds a piece's column indices to its first element.
  void bind_piece(int depth);
  // Binds them to the vector number `c`, of the run or of a flat row.
  void bind_vector(int depth);

  // The copying warp's loop.
  Result<std::string> copying();
  // Addresses of the piece's data in the present slot of `ring`, for bindings of bind_piece in the scope `depth`.
  Result<std::string> pointers(std::string_view ring, int depth);
  // A thread's steps over the piece: number `k` of the thread, `v` of the piece, `c`.
  std::string steps(const std::string& step) const;
  // The same for steps that must not touch elements outside the run. Of shifted vectors: `whole`, and `has(lane)`.
  std::string guarded_steps(const std::string& step) const;
  // For each lane of a vector, in guarded steps.
  std::string lanes(const std::string& lane) const;
  std::string loads() const;         // of a step's vectors, to x0[k], x1[k], ..
  std::string declarations() const;  // of these

 private:
  // True if most pieces have as many vectors for each thread: these (`full`) are walked without tests.
  bool has_full() const;
  std::string loop(const std::string& step, bool tested) const;
  void bind_run(int depth);
  codegen::Binding at(const std::string& vector, const std::string& element, int depth) const;

  Draft& draft_;
  const MultiBlock& team_;
};

}  // namespace solstice::families::rows
