#include "ir/interpret.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "ir/interpret/compile.h"
#include "ir/interpret/hoist.h"
#include "ir/interpret/machine.h"
#include "ir/interpret/rounding.h"
#include "ir/interpret/running.h"

namespace solstice::ir {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;
constexpr int64_t kPointsPerThread = 4096;

// Untouched memory is mapped two megabytes at a time where the system allows it: small pages cost more than the
// arithmetic.
void ask_for_large_pages(const void* begin, size_t bytes) {
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const auto first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) / kPage * kPage;
  const auto last = (reinterpret_cast<uintptr_t>(begin) + bytes) / kPage * kPage;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

class Interpreter {
 public:
  Interpreter(const Program& program, const InterpretOptions& options)
      : original_(program), program_(hoist_reductions(program)), options_(options) {}

  Result<TensorValues> run(const TensorValues& inputs) {
    SOLSTICE_CHECK(allocate(inputs));
    for (const std::vector<int>& group : execution_order()) {
      SOLSTICE_CHECK(program_.equation(group[0]).group >= 0 ? run_recurrence(group) : run_equation(group[0]));
    }
    return collect();
  }

 private:
  bool given(const Tensor& t, int id) const {
    if (t.is_interface() && t.kind != TensorKind::kOutput) return true;
    return std::any_of(program_.opaques.begin(), program_.opaques.end(), [&](const Opaque& o) {
      return std::find(o.results.begin(), o.results.end(), id) != o.results.end();
    });
  }

  Status allocate(const TensorValues& inputs) {
    storage_.tensors.resize(program_.tensors.size());
    values_.resize(program_.tensors.size());
    int64_t total = 0;
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& t = program_.tensors[i];
      const int64_t n = t.elements();
      total += n;
      if (total > kMostElements)
        return fail(Code::too_large, "the interpreter holds at most 16 GiB of values", "shrink the dims");
      Storage::Entry& entry = storage_.tensors[i];
      if (given(t, static_cast<int>(i))) {
        SOLSTICE_TRY(entry.values, values_of(inputs, t));
      } else {
        values_[i].reserve(static_cast<size_t>(n));
        ask_for_large_pages(values_[i].data(), static_cast<size_t>(n) * sizeof(double));
        values_[i].assign(static_cast<size_t>(n), std::numeric_limits<double>::quiet_NaN());
        entry.values = entry.stored = values_[i].data();
      }
      entry.limit(t);
    }
    return success();
  }

  static Result<const double*> values_of(const TensorValues& inputs, const Tensor& t) {
    const auto found = inputs.find(t.name);
    if (found == inputs.end()) return fail(Code::bad_argument, fmt::format("no value for the input `{}`", t.name));
    if (found->second.shape != t.shape || static_cast<int64_t>(found->second.values.size()) != t.elements()) {
      return fail(Code::bad_argument, fmt::format("`{}` has shape [{}] but its value has [{}], {} elements", t.name,
                                                  fmt::join(t.shape, ", "), fmt::join(found->second.shape, ", "),
                                                  found->second.values.size()));
    }
    return found->second.values.data();
  }

  // Equations in execution order; those of one recurrence together.
  std::vector<std::vector<int>> execution_order() const {
    std::vector<std::vector<int>> out;
    const auto add = [&](int id) {
      // Equations that were hoisted out of another stand just before it.
      int first = id;
      while (first > 0 && program_.tensor(program_.equation(first - 1).target).name[0] == '$') --first;
      for (int e = first; e < id; ++e) out.push_back({e});
      const int group = program_.equation(id).group;
      const bool joins = group >= 0 && !out.empty() && program_.equation(out.back()[0]).group == group;
      joins ? out.back().push_back(id) : out.push_back({id});
    };
    for (const Item& item : program_.items) {
      if (item.equation >= 0) add(item.equation);
      if (item.kernel < 0) continue;
      for (const int e : program_.kernels[static_cast<size_t>(item.kernel)].equations) add(e);
    }
    return out;
  }

  Status run_equation(int id) {
    const Routine code = compile(program_, program_.equation(id), options_.coverage != nullptr);
    return run_points(code, -1);
  }

  Status run_points(const Routine& code, int64_t step) {
    const int64_t points = Machine::points(code);
    const int most_threads =
        code.carry ? 1 : std::max(1, options_.threads);  // what is carried comes from the block before
    const auto threads = static_cast<int>(std::clamp<int64_t>(points / kPointsPerThread, 1, most_threads));
    std::vector<Machine> machines;
    for (int t = 0; t < threads; ++t) machines.emplace_back(program_, code, storage_, options_.deadline);
    std::vector<Status> results(static_cast<size_t>(threads), success());
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      const auto work = [&, t] {
        results[static_cast<size_t>(t)] =
            machines[static_cast<size_t>(t)].run(points * t / threads, points * (t + 1) / threads, step);
      };
      t + 1 < threads ? void(workers.emplace_back(work)) : work();
    }
    for (std::thread& w : workers) w.join();
    for (const Machine& m : machines) add_coverage(m);
    for (const Status& r : results) SOLSTICE_CHECK(r);
    return success();
  }

  void add_coverage(const Machine& machine) const {
    if (options_.coverage) machine.add_coverage(*options_.coverage);
  }

  Status run_recurrence(const std::vector<int>& group) {
    if (group.size() == 1 && !options_.coverage) {
      if (const auto code = compile_running(program_, program_.equation(group[0]))) return run_points(*code, -1);
    }
    std::vector<Routine> codes;
    std::vector<int64_t> extents;
    for (const int id : group) {
      const Equation& e = program_.equation(id);
      codes.push_back(compile(program_, e, options_.coverage != nullptr));
      extents.push_back(e.indices[static_cast<size_t>(e.step_index)].extent);
    }
    std::vector<Machine> machines;
    machines.reserve(codes.size());
    for (const Routine& c : codes) machines.emplace_back(program_, c, storage_, options_.deadline);
    const int64_t last = *std::max_element(extents.begin(), extents.end());
    const bool forward = program_.equation(group[0]).step_sign > 0;
    for (int64_t n = 0; n < last; ++n) {
      const int64_t step = forward ? n : last - 1 - n;
      for (size_t k = 0; k < codes.size(); ++k) {
        if (step < extents[k]) SOLSTICE_CHECK(machines[k].run(0, Machine::points(codes[k]), step));
      }
    }
    for (const Machine& m : machines) add_coverage(m);
    return success();
  }

  TensorValues collect() {
    TensorValues out;
    for (size_t i = 0; i < original_.tensors.size(); ++i) {
      const Tensor& t = original_.tensors[i];
      const bool result = t.kind == TensorKind::kOutput || t.into >= 0;
      const bool is_given = given(t, static_cast<int>(i));
      if (result && is_given) {  // the result of an opaque operation
        const double* values = storage_.tensors[i].values;
        out[t.name] = {t.shape, {values, values + t.elements()}};
      } else if (result || (options_.keep_all && !is_given)) {
        out[t.name] = {t.shape, std::move(values_[i])};
      }
    }
    return out;
  }

  const Program& original_;
  const Program program_;
  const InterpretOptions& options_;
  Storage storage_;
  std::vector<std::vector<double>> values_;
};

}  // namespace

Result<TensorValues> interpret(const Program& program, const TensorValues& inputs, const InterpretOptions& options) {
  return Interpreter(program, options).run(inputs);
}

}  // namespace solstice::ir
