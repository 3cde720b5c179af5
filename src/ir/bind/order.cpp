// Order inside a block: definitions before reads, cycles become recurrences, each contiguous.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"

namespace solstice::ir {
namespace {

// Strongly connected components; component of each node, numbered so that a node's dependencies come no
// later.
class Components {
 public:
  explicit Components(const std::vector<std::vector<int>>& edges)
      : edges_(edges), order_(edges.size(), -1), low_(edges.size(), 0), component_(edges.size(), -1) {
    for (size_t n = 0; n < edges.size(); ++n) {
      if (order_[n] < 0) visit(static_cast<int>(n));
    }
  }
  const std::vector<int>& component() const { return component_; }

 private:
  // No recursion: a path may be as long as the block.
  void visit(int root) {
    std::vector<std::pair<size_t, size_t>> path;  // nodes, and how many of their edges were followed
    const auto enter = [&](int n) {
      order_[static_cast<size_t>(n)] = low_[static_cast<size_t>(n)] = clock_++;
      stack_.push_back(n);
      path.emplace_back(n, 0);
    };
    for (enter(root); !path.empty();) {
      const auto [at, followed] = path.back();
      if (followed < edges_[at].size()) {
        const int next = edges_[at][path.back().second++];
        const auto to = static_cast<size_t>(next);
        if (order_[to] < 0) enter(next);
        if (component_[to] < 0) low_[at] = std::min(low_[at], low_[to]);
        continue;
      }
      path.pop_back();
      if (low_[at] == order_[at]) close(static_cast<int>(at));
      if (!path.empty() && component_[at] < 0) low_[path.back().first] = std::min(low_[path.back().first], low_[at]);
    }
  }

  void close(int n) {
    int member = -1;
    while (member != n) {
      member = stack_.back();
      stack_.pop_back();
      component_[static_cast<size_t>(member)] = count_;
    }
    ++count_;
  }

  const std::vector<std::vector<int>>& edges_;
  std::vector<int> order_, low_, component_, stack_;
  int clock_ = 0;
  int count_ = 0;
};

}  // namespace

// May the read see an element that `writer` defines? Decided per dimension, so pieces of one tensor are kept
// apart.
bool Binder::may_touch(const Draft& reader, const TensorRead& read, const Equation& writer) const {
  const size_t rank = writer.lhs.size();
  if (read.read->args.size() < rank) return true;  // a whole tensor
  Integers known = integers(reader, read.facts);
  Integers written(writer.indices, [](int) { return std::nullopt; });
  for (size_t d = 0; d < rank; ++d) {
    const ValueRange w = written.interval(written.linear(writer.lhs[d]));
    const Linear form = known.linear(read.read->args[d]);
    const ValueRange r = known.interval(form);
    if (r.high < w.low || r.low > w.high) return false;
    if (r.low >= w.low && r.high <= w.high) continue;
    if (w.has_low() && known.prove_at_most(form, w.low - 1) == Proof::kProved) return false;
    if (w.has_high() && known.prove_at_least(form, w.high + 1) == Proof::kProved) return false;
  }
  return true;
}

std::vector<int> Binder::dependencies(int reader, const Writers& writers, bool& forward) const {
  std::set<int> out;
  const Draft& d = drafts_[static_cast<size_t>(reader)];
  for (const TensorRead& r : d.reads) {
    const auto found = writers.find(r.read->id);
    if (found == writers.end()) continue;
    for (const int w : found->second) {
      if (!out.count(w) && may_touch(d, r, drafts_[static_cast<size_t>(w)].equation)) out.insert(w);
    }
  }
  forward |= !out.empty() && *out.rbegin() >= reader;
  return {out.begin(), out.end()};
}

// Tensors must have a definition that the read can see: an earlier block, or this one.
void Binder::check_defined(const Draft& d) {
  for (const TensorRead& r : d.reads) {
    const Tensor& t = program_.tensor(r.read->id);
    TensorState& state = states_[static_cast<size_t>(r.read->id)];
    const bool given = t.is_interface() && t.kind != TensorKind::kOutput;
    if (given || state.poisoned) continue;
    if (written_.count(r.read->id) || !state.writers.empty()) {
      state.early_reads.push_back(r);
      continue;
    }
    error("E010", r.span, fmt::format("`{}` is read before it is defined", t.name),
          "move its equations above this one");
    state.poisoned = true;
  }
}

void Binder::order(int kernel_id) {
  std::vector<std::vector<int>> edges(drafts_.size());
  bool forward = false;
  Writers writers;
  for (size_t i = 0; i < drafts_.size(); ++i) {
    if (!drafts_[i].failed) writers[drafts_[i].equation.target].push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < drafts_.size(); ++i) {
    if (!drafts_[i].failed) edges[i] = dependencies(static_cast<int>(i), writers, forward);
  }
  for (const Draft& d : drafts_) {
    if (!d.failed) check_defined(d);
  }
  if (!forward) {
    for (size_t i = 0; i < drafts_.size(); ++i) emit(static_cast<int>(i), kernel_id);
    return;
  }
  const Components found(edges);
  std::map<int, std::vector<int>> members;  // components in dependency order
  for (size_t i = 0; i < drafts_.size(); ++i) members[found.component()[i]].push_back(static_cast<int>(i));
  // Text order wherever dependencies allow it: a component is emitted at its first member, after what it
  // needs. No recursion: a chain of needs may be as long as the block.
  struct Opened {
    int first;
    std::vector<int> needed;
    size_t placed = 0;
  };
  std::vector<bool> done(drafts_.size(), false);
  std::vector<Opened> path;
  const auto open = [&](int n) {
    if (done[static_cast<size_t>(n)]) return;
    Opened opened{n, {}};
    for (const int m : members[found.component()[static_cast<size_t>(n)]]) {
      done[static_cast<size_t>(m)] = true;
      opened.needed.insert(opened.needed.end(), edges[static_cast<size_t>(m)].begin(),
                           edges[static_cast<size_t>(m)].end());
    }
    path.push_back(std::move(opened));
  };
  for (size_t i = 0; i < drafts_.size(); ++i) {
    for (open(static_cast<int>(i)); !path.empty();) {
      if (path.back().placed < path.back().needed.size()) {
        open(path.back().needed[path.back().placed++]);
        continue;
      }
      const int first = path.back().first;
      path.pop_back();
      place(members[found.component()[static_cast<size_t>(first)]], first, edges[static_cast<size_t>(first)],
            kernel_id);
    }
  }
}

// The equations of one component, one met first; `needed` is what that one reads.
void Binder::place(const std::vector<int>& group, int first, const std::vector<int>& needed, int kernel_id) {
  if (group.size() > 1 || std::find(needed.begin(), needed.end(), first) != needed.end()) {
    check_recurrence(group);
  } else {
    for (const int other : needed) {
      if (other <= first) continue;
      error("E010", drafts_[static_cast<size_t>(first)].equation.span,
            fmt::format("`{}` is read before it is defined",
                        program_.target_of(drafts_[static_cast<size_t>(other)].equation).name),
            "move the equation that defines it above this one");
    }
  }
  for (const int m : group) emit(m, kernel_id);
}

void Binder::emit(int draft_id, int kernel_id) {
  Draft& d = drafts_[static_cast<size_t>(draft_id)];
  if (d.equation.target < 0) return;
  TensorState& state = states_[static_cast<size_t>(d.equation.target)];
  if (d.failed) {
    state.poisoned = true;
    return;
  }
  const int id = static_cast<int>(program_.equations.size());
  state.writers.push_back(id);
  Tensor& t = program_.tensors[static_cast<size_t>(d.equation.target)];
  if (t.kernel < 0) t.kernel = kernel_id;
  program_.equations.push_back(d.equation);
  if (kernel_id >= 0) {
    program_.kernels[static_cast<size_t>(kernel_id)].equations.push_back(id);
  } else {
    Item entry;
    entry.equation = id;
    program_.items.push_back(entry);
  }
}

}  // namespace solstice::ir
