#include "ir/interpret/interpret_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/interpret/compile.h"
#include "ir/interpret/hoist.h"
#include "ir/interpret/machine.h"
#include "ir/interpret/memo.h"
#include "ir/interpret/places.h"
#include "ir/interpret/rounding.h"
#include "ir/interpret/steps.h"

namespace solstice::ir {
namespace {

constexpr int kDeepest = 200;  // tensors between an element and the inputs
constexpr int kLookUp = 4;     // operations that reading one element counts

using Columns = std::vector<std::vector<int64_t>>;  // by free index, by lane

}  // namespace

class PointInterpreter::Evaluator : public TensorSource {
 public:
  explicit Evaluator(const Program& program) : program_(hoist_reductions(program)), memos_(program_.tensors.size()) {
    pieces_.resize(program_.tensors.size());
    defined_.assign(program_.tensors.size(), false);
    units_.resize(program_.equations.size());
    for (size_t e = 0; e < program_.equations.size(); ++e) {
      const Equation& equation = program_.equations[e];
      pieces_[static_cast<size_t>(equation.target)].push_back(static_cast<int>(e));
      defined_[static_cast<size_t>(equation.target)] = true;
      if (equation.group >= 0) recurrences_[equation.group].equations.push_back(static_cast<int>(e));
    }
    for (const Tensor& t : program_.tensors) {
      Storage::Entry entry;
      entry.limit(t);
      storage_.tensors.push_back(entry);
    }
    storage_.source = this;
    storage_.meter = &meter_;
  }

  void begin(InputFunction inputs, int64_t operations, std::optional<Deadline> deadline) {
    inputs_ = std::move(inputs);
    deadline_ = deadline;
    meter_ = {0, operations};
    for (Memo& m : memos_) m.clear();
    for (auto& [group, r] : recurrences_) r.next.clear(), r.running = false;
    depth_ = 0;
  }

  Status fetch(int tensor, const int64_t* at, int n, double* out) override {
    meter_.used += int64_t{kLookUp} * n;
    if (!defined_[static_cast<size_t>(tensor)]) {
      inputs_(tensor, at, n, out);
      return success();
    }
    const Memo& memo = memos_[static_cast<size_t>(tensor)];
    std::vector<int64_t> missing;
    for (int k = 0; k < n; ++k) {
      const double* known = memo.find(at[k]);
      known ? void(out[k] = *known) : missing.push_back(at[k]);
    }
    if (missing.empty()) return success();
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    SOLSTICE_CHECK(compute(tensor, std::move(missing)));
    for (int k = 0; k < n; ++k) out[k] = *memo.find(at[k]);
    return success();
  }

  void add_coverage(Coverage& out) const {
    for (const auto& u : units_) {
      if (u) u->machine.add_coverage(out);
    }
  }

  Meter meter_;

 private:
  struct Unit {  // an equation, ready to run
    Unit(const Program& program, const Equation& equation, const Storage& storage,
         const std::optional<Deadline>& deadline)
        : code(compile(program, equation, true)),
          machine(program, code, storage, deadline),
          places(program, equation) {}
    const Routine code;
    Machine machine;
    const Places places;
  };
  using Fixed = std::map<int, int64_t>;  // values of separate classes
  struct Recurrence {
    std::vector<int> equations;
    std::unique_ptr<StepClasses> classes;
    std::map<Fixed, int64_t> next;  // the step that has not been run yet, counted from the first one
    bool running = false;
  };

  Unit& unit(int equation) {
    auto& out = units_[static_cast<size_t>(equation)];
    if (!out) out = std::make_unique<Unit>(program_, program_.equation(equation), storage_, deadline_);
    return *out;
  }

  Error too_large(int tensor, const char* why) const {
    return fail(Code::too_large,
                fmt::format("elements of `{}` cannot be computed alone: {}", program_.tensor(tensor).name, why));
  }

  // Elements that are not known yet.
  Status compute(int tensor, std::vector<int64_t> positions) {
    if (++depth_ > kDeepest) return too_large(tensor, "they depend on too many tensors");
    std::vector<int64_t> values;
    for (const int piece : pieces_[static_cast<size_t>(tensor)]) {
      const Equation& equation = program_.equation(piece);
      Columns columns(equation.free.size());
      std::vector<int64_t> here, others;
      for (const int64_t p : positions) {
        if (!unit(piece).places.solve(p, values)) {
          others.push_back(p);
          continue;
        }
        here.push_back(p);
        for (size_t k = 0; k < values.size(); ++k) columns[k].push_back(values[k]);
      }
      if (!here.empty()) SOLSTICE_CHECK(equation.group >= 0 ? advance(piece, columns) : run(piece, columns, here));
      positions = std::move(others);
    }
    --depth_;
    if (positions.empty()) return success();
    return fail(Code::program_invalid,
                fmt::format("an element of `{}` is never defined", program_.tensor(tensor).name));
  }

  // Points of one equation, in blocks.
  Status run(int equation, const Columns& columns, const std::vector<int64_t>& positions) {
    Unit& u = unit(equation);
    Memo& memo = memos_[static_cast<size_t>(u.code.target)];
    Columns block(columns.size());
    double out[kLanes];
    for (size_t first = 0; first < positions.size(); first += kLanes) {
      const size_t n = std::min<size_t>(kLanes, positions.size() - first);
      for (size_t k = 0; k < columns.size(); ++k)
        block[k].assign(columns[k].begin() + static_cast<ptrdiff_t>(first),
                        columns[k].begin() + static_cast<ptrdiff_t>(first + n));
      SOLSTICE_CHECK(u.machine.evaluate(block, static_cast<int>(n), out));
      for (size_t l = 0; l < n; ++l) memo.insert(positions[first + l], out[l]);
      if (meter_.passed()) return too_large(u.code.target, "the operations are spent");
    }
    return success();
  }

  // Runs a recurrence until all of these points of one of its equations are known.
  Status advance(int equation, const Columns& columns) {
    const Equation& e = program_.equation(equation);
    Recurrence& r = recurrences_.at(e.group);
    if (r.running) return too_large(e.target, "a step reads elements that its own indices do not determine");
    if (!r.classes) r.classes = std::make_unique<StepClasses>(program_, r.equations);
    const std::vector<int> separate = r.classes->separate(equation);
    const int64_t steps = steps_of(r);
    std::map<int64_t, std::vector<Fixed>> waiting;  // by the next step
    int64_t last = 0;
    for (size_t p = 0; p < columns[0].size(); ++p) {
      Fixed fixed;
      for (size_t k = 0; k < separate.size(); ++k) {
        if (separate[k] >= 0) fixed[separate[k]] = columns[k][p];
        if (e.free[k] == e.step_index)
          last = std::max(last, e.step_sign > 0 ? columns[k][p] : steps - 1 - columns[k][p]);
      }
      if (r.next.emplace(fixed, 0).second || r.next[fixed] <= last) waiting[r.next[fixed]].push_back(fixed);
    }
    r.running = true;
    for (auto& [next, rows] : waiting) {
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      for (int64_t step = next; step <= last; ++step)
        SOLSTICE_CHECK(run_step(r, e.step_sign > 0 ? step : steps - 1 - step, rows));
      for (const Fixed& row : rows) r.next[row] = std::max(r.next[row], last + 1);
    }
    r.running = false;
    return success();
  }

  int64_t steps_of(const Recurrence& r) const {
    int64_t out = 0;
    for (const int id : r.equations) {
      const Equation& e = program_.equation(id);
      out = std::max(out, e.indices[static_cast<size_t>(e.step_index)].extent);
    }
    return out;
  }

  Status run_step(const Recurrence& r, int64_t step, const std::vector<Fixed>& rows) {
    for (const int id : r.equations) {
      const Equation& e = program_.equation(id);
      if (step >= e.indices[static_cast<size_t>(e.step_index)].extent) continue;
      const std::vector<int> separate = r.classes->separate(id);
      Columns columns(e.free.size());
      std::vector<int64_t> positions;
      for (const Fixed& row : rows) SOLSTICE_CHECK(add_points(id, step, row, separate, columns, positions));
      SOLSTICE_CHECK(run(id, columns, positions));
    }
    return success();
  }

  // All points of a step at which the separate indices have the row's values.
  Status add_points(int id, int64_t step, const Fixed& row, const std::vector<int>& separate, Columns& columns,
                    std::vector<int64_t>& positions) {
    const Equation& e = program_.equation(id);
    std::vector<int64_t> values(e.free.size(), 0), extents(e.free.size(), 1);
    int64_t points = 1;
    for (size_t k = 0; k < e.free.size(); ++k) {
      const int64_t extent = e.indices[static_cast<size_t>(e.free[k])].extent;
      const auto fixed = row.find(separate[k]);
      if (e.free[k] == e.step_index) {
        values[k] = step;
      } else if (separate[k] >= 0 && fixed != row.end()) {
        values[k] = fixed->second;
      } else {
        points *= extents[k] = extent;
      }
    }
    meter_.used += points;
    if (meter_.passed() || points > meter_.limit) return too_large(e.target, "the operations are spent");
    const std::vector<int64_t> base = values;
    for (int64_t p = 0; p < points; ++p) {
      int64_t rest = p;
      for (size_t k = values.size(); k-- > 0;) {
        values[k] = base[k] + rest % extents[k];
        rest /= extents[k];
      }
      for (size_t k = 0; k < values.size(); ++k) columns[k].push_back(values[k]);
      positions.push_back(unit(id).places.position(values));
    }
    return success();
  }

  const Program program_;
  Storage storage_;
  InputFunction inputs_;
  std::optional<Deadline> deadline_;
  std::vector<Memo> memos_;
  std::vector<std::vector<int>> pieces_;  // by tensor
  std::vector<bool> defined_;             // by tensor
  std::vector<std::unique_ptr<Unit>> units_;
  std::map<int, Recurrence> recurrences_;  // by group
  int depth_ = 0;
};

PointInterpreter::PointInterpreter(const Program& program) : evaluator_(std::make_unique<Evaluator>(program)) {}
PointInterpreter::~PointInterpreter() = default;

void PointInterpreter::begin(InputFunction inputs, int64_t operations, std::optional<Deadline> deadline) {
  evaluator_->begin(std::move(inputs), operations, deadline);
}

Result<std::vector<double>> PointInterpreter::at(int tensor, const std::vector<int64_t>& positions) {
  std::vector<double> out(positions.size());
  for (size_t first = 0; first < positions.size(); first += kLanes) {
    const auto n = static_cast<int>(std::min<size_t>(kLanes, positions.size() - first));
    SOLSTICE_CHECK(evaluator_->fetch(tensor, positions.data() + first, n, out.data() + first));
  }
  return out;
}

void PointInterpreter::add_coverage(Coverage& out) const { evaluator_->add_coverage(out); }

int64_t PointInterpreter::operations() const { return evaluator_->meter_.used; }

}  // namespace solstice::ir
