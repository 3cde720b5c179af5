// Accumulators of online reductions (reduction/online.h) as text: the part of a thread, piece by piece (a chunk in an
// online kernel), its centers, and the correction of an accumulator from one center to another. Sums
// that round are added up in doubles from piece to piece.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "families/reduction/online.h"
#include "families/reduction/reduction_text.h"
#include "families/rows/sweep_step.h"

namespace solstice::families::rows {

// The accumulators of a thread, warp, block or row: of_NAME0, of_NAME1, ..
struct AccumulatorSet {
  std::string name;
  std::string elements;    // number of elements in them
  std::string index = "";  // "[k]" where there are several of the name
  bool whole_row = false;  // these are the row's results

  std::string of(size_t number) const;
};

class AccumulatorText {
 public:
  // `vectors`: the loop around what is done with each vector of a piece.
  AccumulatorText(Draft& draft, SweepStep& step, LoopAround vectors)
      : draft_(draft), step_(step), vectors_(std::move(vectors)) {}
  // Before all others. Error: online_reductions_of.
  Status find();

  // Reductions by number: those of the row's data alone, then those around a center. They are known once their
  // text was written.
  size_t count() const { return order_.size(); }
  size_t firsts() const { return reductions_.first.size(); }
  const Reduction& total(size_t number) const { return order_[number].total; }
  std::string start(size_t number) const;  // the value of none
  const std::vector<Corrected>& corrected() const { return reductions_.second; }
  size_t number_of(const Corrected& c) const { return firsts() + static_cast<size_t>(&c - reductions_.second.data()); }
  // True if the element count of an accumulator is used.
  bool counts() const;

  // A thread: its state from piece to piece, and its start with another row.
  const AccumulatorSet& thread() const { return thread_; }
  std::string state_text() const;
  std::string restart_text() const;
  // Its work on a piece, in this order: reductions of the row's data alone, its centers, reductions around these. A
  // mean that is a center is that of the row's first piece (`is_first`), which is near enough to the row's; a maximum
  // is the largest so far, and what was found around a smaller one is corrected.
  Result<std::string> first_text() { return accumulation_text(reductions_.first); }
  Result<std::string> centers_text(const std::string& is_first);
  Result<std::string> second_text();

  // The accumulator of `from`, corrected to the center of `to`; computes both centers.
  Result<std::string> correction_text(const Corrected& c, const AccumulatorSet& from, const AccumulatorSet& to);
  // A thread's accumulator, corrected to another center.
  std::string correction_text(const Corrected& c, const std::string& center) const;

  // From here on the equations see the holder's first `count` accumulators, in the scope `depth`: parts' as those of a
  // row that is everywhere like them, which is near enough for a center.
  void see(const AccumulatorSet& holder, size_t count, int depth);
  // Results and centers as the equations see them at this place of the text; nothing: the node is neither.
  Result<std::optional<codegen::Value>> seen(const ir::ExprRef& node) const;

 private:
  struct Found {
    ir::ExprRef node;
    Reduction total;  // of all pieces
  };

  // With the statements that compute it.
  struct Center {
    std::string statements, text;
    codegen::CType type;
  };

  Result<std::string> accumulation_text(const std::vector<ir::ExprRef>& reductions);
  Result<VectorText> vector_text(const Sweep& sweep, std::vector<Reduction>& reductions);
  Result<Center> center_of(const Corrected& c, const AccumulatorSet& holder);
  std::string center_name(const Corrected& c) const;  // of a thread's
  std::string corrected_text(const Corrected& c, const AccumulatorSet& holder, const std::string& own,
                             const std::string& center) const;
  std::string value_of(size_t number, const AccumulatorSet& holder) const;

  const AccumulatorSet thread_{"thread", "elements"};
  Draft& draft_;
  SweepStep& step_;
  LoopAround vectors_;
  OnlineReductions reductions_;
  std::vector<Found> order_;                        // by number
  std::map<const ir::Expr*, codegen::Value> seen_;  // results of reductions, at this place of the text
  std::map<const ir::Expr*, codegen::Value>
      around_;                                       // the thread's centers, while accumulators around them are written
  std::map<const ir::Expr*, codegen::CType> types_;  // of a reduction's center
};

}  // namespace solstice::families::rows
