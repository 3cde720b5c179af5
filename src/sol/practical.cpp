#include "sol/practical.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sol/fusion.h"
#include "sol/merging.h"
#include "sol/rates.h"

namespace solstice::sol {
namespace {

// Bytes a kernel moves. Intermediates that fit in half of L2 stay there from the kernel that writes to the one that
// reads.
struct Traffic {
  double read = 0;
  double written = 0;
  double l2 = 0;
};

class Estimator {
 public:
  Estimator(const ir::Program& program, const ir::Count& count, const machine::Machine& machine,
            const SolOptions& options)
      : program_(program), count_(count), machine_(machine), options_(options), dtypes_(ir::dtypes_of(program)) {}

  Result<SolBound> run(SolReport& report) {
    SolBound bound;
    bound.name = "practical";
    bound.meaning = "measured ceilings, fused kernels, launches";
    const std::vector<FusedKernel> kernels =
        merge_launches(program_, count_, fuse(program_, count_, row_limit()), issue());
    settle(kernels);
    Seconds longest_time;
    for (size_t k = 0; k < kernels.size(); ++k) {
      SOLSTICE_TRY(const SolKernel kernel, estimate(kernels[k], k, bound.terms));
      bound.time += kernel.time;
      if (kernel.time > longest_time) {
        longest_time = kernel.time;
        bound.limited_by = fmt::format("{} ({})", kernel.tensors.back(), kernel.limited_by);
      }
      report.kernels.push_back(kernel);
    }
    add_notes(report);
    return bound;
  }

  Result<std::vector<std::vector<SolTerm>>> terms_of(const std::vector<FusedKernel>& kernels) {
    settle(kernels);
    std::vector<std::vector<SolTerm>> out;
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].equations.empty()) {
        out.emplace_back();
        continue;
      }
      SOLSTICE_TRY(std::vector<SolTerm> terms, terms_of(kernels[k], traffic(kernels[k], k)));
      out.push_back(std::move(terms));
    }
    return out;
  }

 private:
  void settle(const std::vector<FusedKernel>& kernels) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      for (size_t i : kernels[k].equations) home_[target(i)] = k;
    }
  }

  int target(size_t i) const { return program_.equation(count_.equations[i].equation).target; }
  double bytes(int tensor, double elements) const { return elements * size_of(dtypes_[static_cast<size_t>(tensor)]); }
  bool resident(double size) const { return size <= machine_.l2.value / 2; }

  bool leaves(int tensor, size_t k) const {
    const ir::Tensor& declared = program_.tensor(tensor);
    if (declared.kind == ir::TensorKind::kOutput || declared.into >= 0) return true;
    return used_elsewhere(tensor, k);
  }

  bool used_elsewhere(int tensor, size_t k) const {
    return std::any_of(count_.equations.begin(), count_.equations.end(), [&](const ir::EquationCount& each) {
      const auto home = home_.find(program_.equation(each.equation).target);
      if (home != home_.end() && home->second == k) return false;
      return std::any_of(each.reads.begin(), each.reads.end(), [&](const auto& r) { return r.tensor == tensor; });
    });
  }

  // A warp instruction a clock in each of an SM's four schedulers.
  IssueRate issue() const {
    const double rate = machine_.sm_count * 4.0 * 32.0 * machine_.max_clock.value, element = 4;
    return {machine_.measured.launch ? machine_.measured.launch->value * rate : 0,
            rate * element / machine_.read_ceiling().per_second};
  }

  // The shared memory of one cluster.
  Bytes row_limit() const { return machine_.shared_per_block * machine_.max_cluster; }

  bool reads_any(size_t i, const std::set<int>& tensors) const {
    const auto& reads = count_.equations[i].reads;
    return std::any_of(reads.begin(), reads.end(),
                       [&](const ir::ReadCount& read) { return tensors.contains(read.tensor); });
  }

  // Equations that use what a reduction of this kernel found.
  std::set<size_t> after_reductions(const FusedKernel& kernel) const {
    std::set<size_t> out;
    std::set<int> found;
    for (const size_t i : kernel.equations) {
      if (reads_any(i, found)) out.insert(i);
      if (count_.equations[i].reduces || out.contains(i)) found.insert(target(i));
    }
    return out;
  }

  // Equations that a reduction of this kernel needs, and the reductions.
  std::set<size_t> into_reductions(const FusedKernel& kernel) const {
    std::set<size_t> out;
    std::set<int> needed;
    for (auto i = kernel.equations.rbegin(); i != kernel.equations.rend(); ++i) {
      const ir::EquationCount& each = count_.equations[*i];
      if (!each.reduces && !needed.contains(target(*i))) continue;
      out.insert(*i);
      for (const ir::ReadCount& read : each.reads) needed.insert(read.tensor);
    }
    return out;
  }

  // Elements of each tensor from outside; of a gather's table as many as there are lookups. A row that does not fit on
  // chip is read once to reduce it and once to use it.
  std::map<int, double> reads_of(const FusedKernel& kernel, size_t k) const {
    std::map<int, double> elements;
    std::map<int, std::set<bool>> passes;  // in which a tensor is read: for a reduction of this kernel, after one
    const std::set<size_t> after = after_reductions(kernel), into = into_reductions(kernel);
    double rows = 0;
    for (size_t i : kernel.equations) {
      const ir::EquationCount& each = count_.equations[i];
      if (each.reduces) rows = std::max(rows, each.elements);
      const auto inside = [&](const ir::ReadCount& read) {
        const auto home = home_.find(read.tensor);
        return home != home_.end() && home->second == k;
      };
      for (const ir::ReadCount& read : each.reads) {
        if (inside(read)) continue;
        elements[read.tensor] = std::max(elements[read.tensor], read.most);
        if (after.contains(i) || into.contains(i)) passes[read.tensor].insert(after.contains(i));
      }
    }
    for (auto& [tensor, count] : elements) {
      const bool twice = kernel.kind == KernelKind::kRows && passes[tensor].size() > 1 && rows > 0;
      if (twice && bytes(tensor, count) / rows > row_limit().value) count *= 2;
    }
    return elements;
  }

  Traffic traffic(const FusedKernel& kernel, size_t k) const {
    Traffic out;
    for (const auto& [tensor, elements] : reads_of(kernel, k)) {
      const double size = bytes(tensor, elements);
      (home_.count(tensor) && resident(size) ? out.l2 : out.read) += size;
    }
    std::set<int> written;
    for (size_t i : kernel.equations) {
      const int tensor = target(i);
      if (!leaves(tensor, k) || !written.insert(tensor).second) continue;
      const double size = bytes(tensor, static_cast<double>(program_.tensor(tensor).elements()));
      const bool kept = program_.tensor(tensor).kind == ir::TensorKind::kTensor ||
                        program_.tensor(tensor).kind == ir::TensorKind::kLocal;
      (kept && program_.tensor(tensor).into < 0 && resident(size) ? out.l2 : out.written) += size;
    }
    return out;
  }

  void byte_term(const char* what, double amount, const machine::Ceiling& ceiling, const char* resource,
                 const std::string& cause, std::vector<SolTerm>& terms) const {
    if (amount <= 0) return;
    terms.push_back({.resource = resource,
                     .what = what,
                     .time = Seconds(amount / ceiling.per_second),
                     .amount = amount,
                     .unit = "B",
                     .rate = ceiling.per_second,
                     .measured = ceiling.measured,
                     .cause = cause});
  }

  Result<std::vector<SolTerm>> terms_of(const FusedKernel& kernel, const Traffic& moved) const {
    const std::string& cause = program_.tensor(target(kernel.equations.back())).name;
    std::vector<SolTerm> terms;
    const double copied = std::min(moved.read, moved.written);
    byte_term("copy", 2 * copied, machine_.copy_ceiling(), "dram", cause, terms);
    byte_term("read", moved.read - copied, machine_.read_ceiling(), "dram", cause, terms);
    byte_term("write", moved.written - copied, machine_.write_ceiling(), "dram", cause, terms);
    byte_term("intermediates", moved.l2, machine_.l2_ceiling(), "l2", cause, terms);
    for (size_t i : kernel.equations) {
      SOLSTICE_TRY(const std::vector<SolTerm> work,
                   work_terms(program_, count_.equations[i], machine_, options_, Basis::kCeiling));
      terms.insert(terms.end(), work.begin(), work.end());
    }
    return terms;
  }

  Result<SolKernel> estimate(const FusedKernel& kernel, size_t k, std::vector<SolTerm>& all) const {
    SolKernel out;
    out.kind = name_of(kernel.kind);
    for (size_t i : kernel.equations) out.tensors.push_back(program_.tensor(target(i)).name);
    const std::string& cause = out.tensors.back();
    const Traffic moved = traffic(kernel, k);
    SOLSTICE_TRY(std::vector<SolTerm> terms, terms_of(kernel, moved));
    const Longest most = longest(terms);
    const Seconds waits = latency(kernel);
    out.time = std::max(most.time, waits);
    out.limited_by = waits > most.time ? "sequential steps" : most.resource;
    if (waits > most.time)
      terms.push_back(counted("sequential steps", "steps", waits, *machine_.measured.grid_sync, cause));
    if (machine_.measured.launch) {
      const Seconds launch = *machine_.measured.launch;
      if (launch > out.time) out.limited_by = "launch";
      terms.push_back(counted("launch", "launches", launch, launch, cause));
      out.time += launch;
    }
    out.dram = Bytes(moved.read + moved.written);
    out.l2 = Bytes(moved.l2);
    all.insert(all.end(), terms.begin(), terms.end());
    return out;
  }

  // A term of counted events: the time of one, and of all.
  static SolTerm counted(const char* what, const char* unit, Seconds time, Seconds each, const std::string& cause) {
    return {.resource = "latency",
            .what = what,
            .time = time,
            .amount = time / each,
            .unit = unit,
            .rate = 1 / each.value,
            .measured = true,
            .cause = cause};
  }

  // Every step of a recurrence with a contraction waits for all SMs.
  Seconds latency(const FusedKernel& kernel) const {
    int64_t steps = 0;
    bool contracts = false;
    for (size_t i : kernel.equations) {
      steps = std::max(steps, count_.equations[i].steps);
      contracts = contracts || count_.equations[i].work.contraction > 0;
    }
    const auto& sync = machine_.measured.grid_sync;
    return contracts && sync ? *sync * static_cast<double>(steps) : Seconds(0);
  }

  void add_notes(SolReport& report) const {
    if (!machine_.measured.launch) {
      report.notes.push_back(fmt::format("practical counts no launches: `{}` has no measured `launch`", machine_.name));
    }
    int64_t steps = 0;
    for (const ir::EquationCount& each : count_.equations) steps = std::max(steps, each.steps);
    if (steps > 0 && !machine_.measured.grid_sync) {
      report.notes.push_back(
          fmt::format("{} sequential steps: practical counts no latency for them, since `{}` has no "
                      "measured `grid_sync`",
                      steps, machine_.name));
    }
  }

  const ir::Program& program_;
  const ir::Count& count_;
  const machine::Machine& machine_;
  const SolOptions& options_;
  std::vector<DType> dtypes_;
  std::map<int, size_t> home_;  // kernel that defines a tensor
};

}  // namespace

Result<SolBound> practical_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine,
                                 const SolOptions& options, SolReport& report) {
  return Estimator(program, count, machine, options).run(report);
}

Result<std::vector<std::vector<SolTerm>>> terms_of_kernels(const ir::Program& program, const ir::Count& count,
                                                           const machine::Machine& machine, const SolOptions& options,
                                                           const std::vector<FusedKernel>& kernels) {
  return Estimator(program, count, machine, options).terms_of(kernels);
}

}  // namespace solstice::sol
