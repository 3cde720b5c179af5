// Runs a register program over blocks of points (private to src/ir/interpret).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ir/interpret/code.h"
#include "ir/interpret/coverage.h"

namespace solstice::ir {

inline constexpr int kLanes = 256;

// Tensors whose elements are computed when they are read.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // Elements at the row-major positions `at`.
  virtual Status fetch(int tensor, const int64_t* at, int n, double* out) = 0;
};

// Instructions run, times lanes. Error too_large when the limit is passed.
struct Meter {
  int64_t used = 0;
  int64_t limit = std::numeric_limits<int64_t>::max();
  bool passed() const { return used > limit; }
};

// The values that equations read and write: one row-major array a tensor, or null where `source` has it.
struct Storage {
  struct Entry {
    const double* values = nullptr;
    double* stored = nullptr;  // the same array where an equation writes it
    double low = 0, high = 0;  // of what may be stored
    bool whole = false;        // integers

    void limit(const Tensor& tensor);
  };
  std::vector<Entry> tensors;
  TensorSource* source = nullptr;
  Meter* meter = nullptr;
};

class Machine {
 public:
  Machine(const Program& program, const Routine& code, const Storage& storage, const std::optional<Deadline>& deadline);
  Machine(Machine&&) = default;
  Machine(const Machine&) = delete;  // registers are known by their addresses

  // Evaluates points [begin, end) of the free indices (row-major) and stores them; `step` fixes the step index of a
  // recurrence.
  Status run(int64_t begin, int64_t end, int64_t step = -1);
  static int64_t points(const Routine& code);  // of the free indices, without the step

  // Evaluates `n` <= kLanes points, given by the values of each free index, without storing them.
  Status evaluate(const std::vector<std::vector<int64_t>>& points, int n, double* out);

  void add_coverage(Coverage& out) const;

 private:
  // An integer for each lane: base + step * lane, plus values[lane] where there are any.
  struct Form {
    int64_t base = 0;
    int64_t step = 0;
    const int64_t* values = nullptr;
    int64_t at(int lane) const { return base + step * lane + (values ? values[lane] : 0); }
  };
  struct State {
    int lanes = 0;
    bool identity = true;    // lane i belongs to lane i of the parent
    int single_parent = -1;  // the parent's lane to which all belong, where there is one
    // Own indices: start[k], plus the lane for the one that moves (-1: none); or index[k][lane] if not regular.
    bool regular = true;
    int moving = -1;
    std::vector<int64_t> start;
    std::vector<std::vector<int64_t>> index;
    std::vector<int> parent_lane;
    std::vector<std::vector<double>> own;  // registers computed here
    std::vector<const double*> data;       // registers as read
    std::vector<std::vector<int64_t>> own_integers;
    std::vector<Form> integers;
    std::vector<int64_t> scratch, positions;
    int64_t index_at(size_t k, int lane) const {
      if (!regular) return index[k][static_cast<size_t>(lane)];
      return start[k] + (static_cast<int>(k) == moving ? lane : 0);
    }
  };
  struct Lanes {  // state of a reduction for each lane of its parent
    std::vector<double> total, carry, extra;
    std::vector<int64_t> count;
    std::vector<int> wanted;
    std::vector<int64_t> low, high;  // the values of a bounded index: low .. high-1
    bool same_bounds(const std::vector<int>& of) const;
  };
  struct Cursor {  // among the wanted lanes, and among the values of the bounded index there
    size_t lane = 0;
    int64_t done = 0;
  };
  struct Ranking {  // the last permutation, and for which indices it holds
    std::vector<int64_t> key;
    std::vector<int64_t> order;
  };
  struct Inside;  // lanes of a read that are in range

  Frame const& frame(int f) const { return code_.frames[static_cast<size_t>(f)]; }
  State& state(int f) { return states_[static_cast<size_t>(f)]; }
  int inner() const;
  void fill_root(int64_t begin, int64_t end, int64_t step);
  int64_t root_block(int64_t begin, int64_t end) const;
  void enter(int f);  // imports and addresses
  void execute(int f);
  void execute(const Instruction& i, int f);
  static Form resolve(const Address& a, const State& s, int64_t* buffer);

  // reads (read.cpp)
  void read(const Instruction& i, State& s);
  void load(int tensor, const Form& at, int first, int last, double* out, State& s);
  const double* load_all(int tensor, const Form& at, double* out, State& s);
  Inside inside_of(const Instruction& i, State& s) const;
  void read_some(const Instruction& i, State& s, const Form& at, const Inside& inside);
  void cast(const Instruction& i, State& s);
  bool divides(const Instruction& i, const State& s);  // no divisor that is wanted is 0
  void note(const Instruction& i, const State& s);
  void note_condition(int branch, const double* values, int lanes);
  bool fits(const double* values, int lanes);
  void check_exact(const Instruction& i, const State& s);
  void store();
  const double* carry_on(const double* values);

  // reductions (reduce.cpp)
  template <typename Visit>
  void for_chunks(const Instruction& i, int f, const std::vector<int>& wanted, Visit&& visit);
  static int64_t chunk_at(const Frame& body, int64_t at, int64_t end, int64_t lanes);
  void fill(int f, const std::vector<int>& wanted, bool all, int64_t start, int64_t count);
  bool keep_true(const Instruction& i);
  static void wanted_lanes(const Instruction& i, const State& s, std::vector<int>& out);
  void reduce(const Instruction& i, int f);
  void start(const Instruction& i, Lanes& lanes, size_t n);
  void centre(Lanes& lanes);
  void accumulate(const Instruction& i, Lanes& lanes, int pass);
  void position(const Instruction& i, Lanes& lanes);
  void finish(const Instruction& i, State& s, const Lanes& lanes);

  // bounded indices (bounds.cpp)
  void note_range(int branch, int64_t points, int64_t extent);
  void bound(const Instruction& i, State& s, Lanes& lanes);
  static bool is_prefixes(const State& s, const Lanes& lanes);
  void accumulate_prefixes(const Instruction& i, Lanes& lanes);
  bool fill_pairs(int f, const Lanes& lanes, const std::vector<int>& wanted, Cursor& at);

  void rank(const Instruction& i, int f);
  void rank_values(const Instruction& i, int f, int lane, Ranking& ranking);
  int64_t index_value(int id, int f, int lane) const;
  void fail_at(std::string message);
  void fail_inexact();
  bool failed() const { return error_.has_value(); }
  bool stopped();  // by the deadline or the meter

  const Program& program_;
  const Routine& code_;
  const Storage& storage_;
  const std::optional<Deadline>& deadline_;
  std::vector<State> states_;
  std::vector<Lanes> lanes_;       // by body frame
  std::vector<Ranking> rankings_;  // by body frame
  std::vector<Sides> taken_;       // by branch of the routine
  std::vector<double> running_;    // a block of a routine that carries
  double carried_ = 0;
  std::optional<Error> error_;
  int64_t ticks_ = 0;
};

}  // namespace solstice::ir
