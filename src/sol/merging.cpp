#include "sol/merging.h"

#include <algorithm>
#include <map>
#include <set>

namespace solstice::sol {
namespace {

constexpr double kLongestSerial = 1024;  // points a thread reduces alone, as family `map` does

// Kernels that were merged into another are left empty.
class LaunchMerger {
 public:
  LaunchMerger(const ir::Program& program, const ir::Count& count, std::vector<FusedKernel> kernels,
               const IssueRate& issue)
      : program_(program), count_(count), issue_(issue), kernels_(std::move(kernels)) {
    find_edges();
  }

  std::vector<FusedKernel> run() {
    while (merge_side_by_side() || merge_into_reader()) {
    }
    return ordered();
  }

 private:
  using Matrix = std::vector<std::vector<char>>;

  const ir::EquationCount& counted(size_t i) const { return count_.equations[i]; }
  int target(size_t i) const { return program_.equation(counted(i).equation).target; }

  void find_edges() {
    const size_t n = kernels_.size();
    std::map<int, std::set<size_t>> producers;  // of each tensor
    for (size_t k = 0; k < n; ++k) {
      for (const size_t i : kernels_[k].equations) producers[target(i)].insert(k);
    }
    reads_.assign(n, std::vector<char>(n, 0));
    for (size_t k = 0; k < n; ++k) {
      for (const size_t i : kernels_[k].equations) {
        for (const ir::ReadCount& read : counted(i).reads) {
          for (const size_t producer : producers[read.tensor]) reads_[k][producer] = producer != k;
        }
      }
    }
    needs_ = reads_;
    for (size_t via = 0; via < n; ++via) {
      for (size_t k = 0; k < n; ++k) {
        if (needs_[k][via]) add(needs_[via], needs_[k]);
      }
    }
  }

  static void add(const std::vector<char>& more, std::vector<char>& row) {
    for (size_t k = 0; k < row.size(); ++k) row[k] |= more[k];
  }

  std::vector<size_t> alive() const {
    std::vector<size_t> out;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (!kernels_[k].equations.empty()) out.push_back(k);
    }
    return out;
  }

  double work_of(const std::vector<size_t>& equations) const {
    double sum = 0;
    for (const size_t i : equations) {
      const ir::Work& work = counted(i).work;
      sum += work.contraction + work.simt + work.sfu + work.integer;
    }
    return sum;
  }

  bool reads(size_t i, const FusedKernel& producer) const {
    return std::any_of(counted(i).reads.begin(), counted(i).reads.end(), [&](const ir::ReadCount& read) {
      return std::any_of(producer.equations.begin(), producer.equations.end(),
                         [&](size_t p) { return target(p) == read.tensor; });
    });
  }

  // Kernels bound by memory or by their launch; products bound by their operations keep their own.
  bool is_light(const FusedKernel& kernel) const {
    if (kernel.kind == KernelKind::kMap || kernel.kind == KernelKind::kRows) return true;
    if (kernel.kind != KernelKind::kContraction) return false;
    double elements = 0;
    for (const size_t i : kernel.equations) {
      for (const ir::ReadCount& read : counted(i).reads) elements = std::max(elements, read.elements);
    }
    return work_of(kernel.equations) <= std::max(issue_.a_launch, issue_.an_element * elements);
  }

  // The tensor that a kernel reads most of; -1 where it reads nothing.
  int mainly_read(const FusedKernel& kernel) const {
    double most = 0;
    int out = -1;
    for (const size_t i : kernel.equations) {
      for (const ir::ReadCount& read : counted(i).reads) {
        if (read.elements > most) most = read.elements, out = read.tensor;
      }
    }
    return out;
  }

  // Merges first the kernels that mainly read the same data, which is then read once; then those that need equally many
  // others: they are often at the same depth, and leave others there to be merged.
  bool merge_side_by_side() {
    std::vector<size_t> light = alive();
    std::erase_if(light, [&](size_t k) { return !is_light(kernels_[k]); });
    std::vector<int> main(kernels_.size());
    std::vector<std::ptrdiff_t> depth(kernels_.size());
    for (const size_t k : light) {
      main[k] = mainly_read(kernels_[k]);
      depth[k] = std::count(needs_[k].begin(), needs_[k].end(), 1);
    }
    const auto any_pair = [&](const auto& fits) {
      for (const size_t b : light) {
        for (const size_t a : light) {
          if (a == b) break;
          if (needs_[a][b] || needs_[b][a] || !fits(a, b)) continue;
          merge(a, b);
          return true;
        }
      }
      return false;
    };
    return any_pair([&](size_t a, size_t b) { return main[a] == main[b]; }) ||
           any_pair([&](size_t a, size_t b) { return depth[a] == depth[b]; }) ||
           any_pair([](size_t, size_t) { return true; });
  }

  bool merge_into_reader() {
    for (const size_t a : alive()) {
      std::vector<size_t> readers = alive();
      std::erase_if(readers, [&](size_t k) { return !reads_[k][a]; });
      if (readers.size() != 1 || !recomputes(kernels_[a], kernels_[readers[0]])) continue;
      merge(a, readers[0]);
      return true;
    }
    return false;
  }

  // The equations of `kernel` that `reader` needs, at once or through others.
  std::vector<size_t> needed_by(const FusedKernel& reader, const FusedKernel& kernel) const {
    std::set<int> tensors;
    std::vector<size_t> out;
    const auto add_reads = [&](size_t i) {
      for (const ir::ReadCount& read : counted(i).reads) tensors.insert(read.tensor);
    };
    for (const size_t i : reader.equations) add_reads(i);
    for (auto i = kernel.equations.rbegin(); i != kernel.equations.rend(); ++i) {
      if (!tensors.contains(target(*i))) continue;
      out.push_back(*i);
      add_reads(*i);
    }
    return out;
  }

  bool is_short(const std::vector<size_t>& equations) const {
    return std::all_of(equations.begin(), equations.end(), [&](size_t i) {
      const ir::EquationCount& each = counted(i);
      double points = each.work.contraction;
      for (const ir::ReadCount& read : each.reads) {
        if (each.work.contraction == 0) points = std::max(points, read.elements);
      }
      return !each.reduces || points <= kLongestSerial * each.elements;
    });
  }

  // `reader` computes the results of `kernel` anew wherever it reads them. A window of a window is memory's work
  // either way; of products as much is repeated as a launch is worth.
  bool recomputes(const FusedKernel& kernel, const FusedKernel& reader) const {
    const auto other = [](const FusedKernel& k) {
      return k.kind == KernelKind::kAttention || k.kind == KernelKind::kRecurrent;
    };
    const std::vector<size_t> again = needed_by(reader, kernel);
    if (other(kernel) || other(reader) || !is_short(again)) return false;
    const auto is_product = [&](size_t i) { return counted(i).work.contraction > 0; };
    double elements = 0, read = 0;
    bool products = std::any_of(again.begin(), again.end(), is_product);
    for (const size_t i : again) elements = std::max(elements, counted(i).elements);
    for (const size_t i : reader.equations) {
      if (!reads(i, kernel)) continue;
      products = products || is_product(i);
      read = std::max({read, counted(i).work.contraction, counted(i).work.simt, counted(i).elements});
    }
    const double repeats = elements > 0 ? std::max(1.0, read / elements) : 1;
    return !products || work_of(again) * (repeats - 1) <= issue_.a_launch;
  }

  static KernelKind kind_of(const FusedKernel& a, const FusedKernel& b) {
    for (const KernelKind kind : {KernelKind::kContraction, KernelKind::kRows}) {
      if (a.kind == kind || b.kind == kind) return kind;
    }
    return KernelKind::kMap;
  }

  void merge(size_t from, size_t into) {
    FusedKernel& kept = kernels_[into];
    kept.kind = kind_of(kernels_[from], kept);
    kept.equations.insert(kept.equations.end(), kernels_[from].equations.begin(), kernels_[from].equations.end());
    std::sort(kept.equations.begin(), kept.equations.end());
    kernels_[from].equations.clear();
    for (Matrix* edges : {&reads_, &needs_}) {
      add((*edges)[from], (*edges)[into]);
      (*edges)[from].assign(kernels_.size(), 0);
      for (std::vector<char>& row : *edges) {
        row[into] |= row[from];
        row[from] = 0;
      }
      (*edges)[into][into] = 0;
    }
    for (std::vector<char>& row : needs_) {
      if (row[into]) add(needs_[into], row);
    }
  }

  // Producers before consumers, otherwise by first equation.
  std::vector<FusedKernel> ordered() const {
    std::vector<size_t> left = alive();
    std::sort(left.begin(), left.end(),
              [&](size_t a, size_t b) { return kernels_[a].equations.front() < kernels_[b].equations.front(); });
    std::vector<FusedKernel> out;
    while (!left.empty()) {
      const auto is_free = [&](size_t k) {
        return std::none_of(left.begin(), left.end(), [&](size_t other) { return needs_[k][other]; });
      };
      // If recurrences read each other's results nothing is free, and the text's order holds.
      auto next = std::find_if(left.begin(), left.end(), is_free);
      if (next == left.end()) next = left.begin();
      out.push_back(kernels_[*next]);
      left.erase(next);
    }
    return out;
  }

  const ir::Program& program_;
  const ir::Count& count_;
  IssueRate issue_;
  std::vector<FusedKernel> kernels_;
  Matrix reads_;  // [k][a]: k reads what a defines
  Matrix needs_;  // the same, at once or through others
};

}  // namespace

std::vector<FusedKernel> merge_launches(const ir::Program& program, const ir::Count& count,
                                        std::vector<FusedKernel> kernels, const IssueRate& issue) {
  return LaunchMerger(program, count, std::move(kernels), issue).run();
}

}  // namespace solstice::sol
