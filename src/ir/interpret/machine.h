// Runs a register program over blocks of points (private to src/ir/interpret).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ir/interpret/code.h"

namespace solstice::ir {

inline constexpr int kLanes = 256;

// The values that equations read and write: one row-major array a tensor. This is the seam for evaluation on
// demand, where a tensor is a function of its indices instead of an array.
struct Storage {
  struct Entry {
    double* values = nullptr;
    int64_t elements = 0;
    double low = 0, high = 0;  // of what may be stored
    bool whole = false;        // integers
  };
  std::vector<Entry> tensors;
};

class Machine {
 public:
  Machine(const Program& program, const Routine& code, const Storage& storage, const std::optional<Deadline>& deadline);

  // Evaluates points [begin, end) of the free indices (row-major); `step` fixes the step index of a
  // recurrence.
  Status run(int64_t begin, int64_t end, int64_t step = -1);
  static int64_t points(const Routine& code);  // of the free indices, without the step

 private:
  struct State {
    int lanes = 0;
    bool identity = true;  // lane i belongs to lane i of the parent
    bool uniform = false;  // all lanes have the same own indices
    std::vector<int> parent_lane;
    std::vector<std::vector<int64_t>> index;  // own indices, by lane (or one value if uniform)
    std::vector<std::vector<double>> own;     // registers computed here
    std::vector<const double*> data;          // registers as read
    std::vector<std::vector<int64_t>> own_integers;
    std::vector<const int64_t*> integers;
    std::vector<int64_t> scratch;
  };
  struct Lanes {  // what a reduction keeps for each lane of its parent
    std::vector<double> total, carry, extra;
    std::vector<int64_t> count;
  };
  struct Ranking {  // the last permutation, and for which indices it holds
    std::vector<int64_t> key;
    std::vector<int64_t> order;
  };

  Frame const& frame(int f) const { return code_.frames[static_cast<size_t>(f)]; }
  State& state(int f) { return states_[static_cast<size_t>(f)]; }
  void fill_root(int64_t begin, int64_t end, int64_t step);
  void enter(int f);  // imports and addresses
  void execute(int f);
  void execute(const Instruction& i, int f);
  void read(const Instruction& i, State& s);
  void read_plainly(const Instruction& i, State& s, double* out, const double* data) const;
  void resolve(const Address& a, const State& s, int64_t* out) const;
  void cast(const Instruction& i, State& s);
  void store();

  // reductions (reduce.cpp)
  template <typename Visit>
  void for_chunks(const Instruction& i, int f, const std::vector<int>& wanted, Visit&& visit);
  void fill(int f, const std::vector<int>& wanted, bool all, int64_t start, int64_t count);
  bool keep_true(const Instruction& i);
  std::vector<int> wanted_lanes(const Instruction& i, const State& s) const;
  void reduce(const Instruction& i, int f);
  void accumulate(const Instruction& i, Lanes& lanes, int pass);
  void position(const Instruction& i, Lanes& lanes);
  void finish(const Instruction& i, State& s, const Lanes& lanes);
  void rank(const Instruction& i, int f);
  void rank_values(const Instruction& i, int f, int lane, Ranking& ranking);
  int64_t index_value(int id, int f, int lane) const;
  void fail_at(std::string message);
  bool failed() const { return error_.has_value(); }

  const Program& program_;
  const Routine& code_;
  const Storage& storage_;
  const std::optional<Deadline>& deadline_;
  std::vector<State> states_;
  std::vector<Ranking> rankings_;  // by body frame
  std::optional<Error> error_;
  int64_t ticks_ = 0;
};

}  // namespace solstice::ir
