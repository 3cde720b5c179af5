#include "sol/fusion.h"

#include <algorithm>
#include <map>
#include <set>

namespace solstice::sol {
namespace {

class Fuser {
 public:
  Fuser(const ir::Program& program, const ir::Count& count, Bytes row_limit)
      : program_(program), count_(count), row_limit_(row_limit) {
    for (size_t i = 0; i < count.equations.size(); ++i) producers_[equation(i).target].push_back(i);
    home_.assign(count.equations.size(), -1);
  }

  std::vector<FusedKernel> run() {
    for (size_t i = 0; i < count_.equations.size(); ++i) place(i);
    absorb_prologues();
    merge_attention();
    return result();
  }

 private:
  struct Group {
    KernelKind kind = KernelKind::kMap;
    std::set<size_t> equations;
    double elements = 0;  // of the equation that founded it
    int recurrence = -1;
    bool gone = false;
  };

  const ir::EquationCount& counted(size_t i) const { return count_.equations[i]; }
  const ir::Equation& equation(size_t i) const { return program_.equation(counted(i).equation); }

  KernelKind kind_of(size_t i) const {
    if (equation(i).group >= 0) return KernelKind::kRecurrent;
    if (counted(i).work.contraction > 0) return KernelKind::kContraction;
    return counted(i).reduces ? KernelKind::kRows : KernelKind::kMap;
  }

  // Groups that produce what an equation reads.
  std::set<int> sources(size_t i) const {
    std::set<int> out;
    for (const ir::ReadCount& read : counted(i).reads) {
      const auto found = producers_.find(read.tensor);
      if (found == producers_.end()) continue;
      for (size_t producer : found->second) {
        if (home_[producer] >= 0) out.insert(home_[producer]);
      }
    }
    return out;
  }

  void found(size_t i, KernelKind kind) {
    home_[i] = static_cast<int>(groups_.size());
    groups_.push_back({kind, {i}, counted(i).elements, equation(i).group, false});
  }

  void join(size_t i, int group) {
    home_[i] = group;
    groups_[static_cast<size_t>(group)].equations.insert(i);
  }

  void place(size_t i) {
    const KernelKind kind = kind_of(i);
    const int candidate = kind == KernelKind::kContraction ? -1 : partner(i, kind);
    if (candidate < 0) {
      found(i, kind);
      return;
    }
    Group& group = groups_[static_cast<size_t>(candidate)];
    if (kind == KernelKind::kRows && group.kind == KernelKind::kMap) group.kind = KernelKind::kRows;
    join(i, candidate);
  }

  // The group an equation can be computed in: the last one it depends on, so that no cycle arises; for one that reads
  // interface tensors alone, a row kernel that reads the same ones.
  int partner(size_t i, KernelKind kind) const {
    if (kind == KernelKind::kRecurrent) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].recurrence >= 0 && groups_[g].recurrence == equation(i).group) return static_cast<int>(g);
      }
      return -1;
    }
    const std::set<int> from = sources(i);
    if (from.empty()) return kind == KernelKind::kRows ? sharing_reads(i) : -1;
    const Group& last = groups_[static_cast<size_t>(*from.rbegin())];
    const bool pointwise = kind == KernelKind::kMap && last.elements == counted(i).elements;
    // A tensor that only a contraction reads is computed as it is read.
    const bool on_rows = last.kind == KernelKind::kRows && (pointwise || row_fits(i, last)) && !is_operand(i);
    const bool fits = on_rows || (last.kind == KernelKind::kMap && kind == KernelKind::kRows) ||
                      (last.kind != KernelKind::kRecurrent && pointwise);
    if (fits) return *from.rbegin();
    const int other = kind == KernelKind::kRows ? sharing_reads(i) : -1;
    return other > *from.rbegin() ? other : -1;
  }

  bool is_operand(size_t i) const {
    const ir::Tensor& target = program_.target_of(equation(i));
    if (counted(i).reduces || target.kind == ir::TensorKind::kOutput || target.into >= 0) return false;
    bool any = false;
    for (const ir::EquationCount& each : count_.equations) {
      const auto is_it = [&](const ir::ReadCount& r) { return r.tensor == equation(i).target; };
      if (!std::any_of(each.reads.begin(), each.reads.end(), is_it)) continue;
      if (each.work.contraction == 0) return false;
      any = true;
    }
    return any;
  }

  // Equation i fits the rows of a row kernel by its reads.
  bool row_fits(size_t i, const Group& group) const {
    double most = 0;
    for (const ir::ReadCount& read : counted(i).reads) most = std::max(most, read.elements);
    return most * size_of(counted(i).dtype) <= row_limit_.value * group.elements;
  }

  int sharing_reads(size_t i) const {
    const auto reads = [&](size_t e, int tensor) {
      const auto& all = counted(e).reads;
      return std::any_of(all.begin(), all.end(), [&](const ir::ReadCount& r) { return r.tensor == tensor; });
    };
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].kind != KernelKind::kRows || groups_[g].elements != counted(i).elements) continue;
      const size_t first = *groups_[g].equations.begin();
      for (const ir::ReadCount& read : counted(i).reads) {
        if (reads(first, read.tensor)) return static_cast<int>(g);
      }
    }
    return -1;
  }

  // Groups that read what group g defines; -1 stands for the outside world.
  std::set<int> consumers(int g) const {
    std::set<int> out;
    for (size_t i : groups_[static_cast<size_t>(g)].equations) {
      const ir::Tensor& target = program_.target_of(equation(i));
      if (target.kind == ir::TensorKind::kOutput || target.into >= 0) out.insert(-1);
      for (size_t e = 0; e < count_.equations.size(); ++e) {
        for (const ir::ReadCount& read : counted(e).reads) {
          if (read.tensor == equation(i).target && home_[e] != g) out.insert(home_[e]);
        }
      }
    }
    return out;
  }

  void merge(int from, int into) {
    Group& gone = groups_[static_cast<size_t>(from)];
    for (size_t i : gone.equations) join(i, into);
    gone.equations.clear();
    gone.gone = true;
  }

  // A map with a single consumer is computed as its operands are read.
  void absorb_prologues() {
    for (int g = static_cast<int>(groups_.size()) - 1; g >= 0; --g) {
      if (groups_[static_cast<size_t>(g)].kind != KernelKind::kMap) continue;
      const std::set<int> users = consumers(g);
      if (users.size() == 1 && *users.begin() > g) merge(g, *users.begin());
    }
  }

  double reads_of(int g) const {
    double sum = 0;
    for (size_t i : groups_[static_cast<size_t>(g)].equations) {
      for (const ir::ReadCount& read : counted(i).reads) sum += read.elements;
    }
    return sum;
  }

  void merge_attention() {
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
      if (groups_[static_cast<size_t>(g)].kind != KernelKind::kContraction) continue;
      const std::set<int> rows = consumers(g);
      if (rows.size() != 1 || *rows.begin() < 0) continue;
      const int middle = *rows.begin();
      if (groups_[static_cast<size_t>(middle)].kind != KernelKind::kRows) continue;
      const std::set<int> ends = consumers(middle);
      if (ends.size() != 1 || *ends.begin() <= middle) continue;
      Group& last = groups_[static_cast<size_t>(*ends.begin())];
      const double between = groups_[static_cast<size_t>(g)].elements;
      if (last.kind != KernelKind::kContraction || between < reads_of(g)) continue;
      merge(g, *ends.begin());
      merge(middle, *ends.begin());
      last.kind = KernelKind::kAttention;
    }
  }

  std::vector<FusedKernel> result() const {
    std::vector<FusedKernel> out;
    for (const Group& group : groups_) {
      if (!group.gone) out.push_back({group.kind, {group.equations.begin(), group.equations.end()}});
    }
    return out;
  }

  const ir::Program& program_;
  const ir::Count& count_;
  Bytes row_limit_;
  std::map<int, std::vector<size_t>> producers_;  // of each tensor
  std::vector<int> home_;                         // group of each equation
  std::vector<Group> groups_;
};

}  // namespace

const char* name_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::kMap:
      return "map";
    case KernelKind::kRows:
      return "rows";
    case KernelKind::kContraction:
      return "contraction";
    case KernelKind::kAttention:
      return "attention";
    case KernelKind::kRecurrent:
      return "recurrent";
  }
  return "";
}

std::vector<FusedKernel> fuse(const ir::Program& program, const ir::Count& count, Bytes row_limit) {
  return Fuser(program, count, row_limit).run();
}

}  // namespace solstice::sol
