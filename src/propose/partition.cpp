#include "propose/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "propose/storage.h"

namespace solstice::propose {
namespace {

// Who reads and who writes each tensor, by equation, and what it is stored as.
struct Dataflow {
  std::vector<DType> formats;
  std::vector<std::optional<DType>> declared;
  std::vector<std::vector<int>> reads;    // equation -> tensors
  std::vector<std::vector<int>> readers;  // tensor -> equations
  std::vector<std::vector<int>> writers;  // tensor -> equations (pieces)

  explicit Dataflow(const ir::Program& program)
      : formats(storage_formats(program)),
        reads(program.equations.size()),
        readers(program.tensors.size()),
        writers(program.tensors.size()) {
    for (const ir::Tensor& tensor : program.tensors) declared.push_back(tensor.dtype);
    for (size_t e = 0; e < program.equations.size(); ++e) {
      const ir::Equation& equation = program.equations[e];
      std::set<int> read;
      ir::walk(equation.rhs, [&](const ir::Expr& x) {
        if (x.op == ir::Op::kRead) read.insert(x.id);
      });
      reads[e].assign(read.begin(), read.end());
      for (int tensor : read) readers[static_cast<size_t>(tensor)].push_back(static_cast<int>(e));
      writers[static_cast<size_t>(equation.target)].push_back(static_cast<int>(e));
    }
  }
};

bool is_intermediate(const ir::Tensor& tensor) {
  return tensor.kind == ir::TensorKind::kLocal || tensor.kind == ir::TensorKind::kTensor;
}

// Marks which tensors of `group` stay on chip: those that nobody outside reads.
void place_tensors(ir::Program& program, const Dataflow& flow, const std::vector<int>& group, int kernel) {
  const std::set<int> members(group.begin(), group.end());
  const auto inside = [&](const std::vector<int>& list) {
    return std::all_of(list.begin(), list.end(), [&](int e) { return members.contains(e); });
  };
  for (int id : group) {
    const int target = program.equation(id).target;
    ir::Tensor& tensor = program.tensors[static_cast<size_t>(target)];
    tensor.kernel = kernel;
    if (!is_intermediate(tensor) || tensor.into >= 0 || tensor.same >= 0) continue;
    const size_t t = static_cast<size_t>(target);
    if (inside(flow.readers[t]) && inside(flow.writers[t])) {
      tensor.kind = ir::TensorKind::kLocal;
      tensor.dtype = flow.declared[t];  // a format that nobody wrote is no permission to round
    } else {
      tensor.kind = ir::TensorKind::kTensor;
      tensor.dtype = flow.formats[t];
    }
  }
}

// One program to ask families about groups in, without copying it for each question.
class Scratch {
 public:
  // What `known` holds is not asked again, and what is asked goes there.
  Scratch(const ir::Program& problem, const Dataflow& flow, Assessed* known)
      : program_(problem), flow_(flow), known_(known) {
    program_.kernels.resize(1);
    program_.kernels[0].name = "k";
    for (size_t t = 0; t < program_.tensors.size(); ++t) {
      ir::Tensor& tensor = program_.tensors[t];
      if (!is_intermediate(tensor)) continue;
      tensor.kind = ir::TensorKind::kTensor;
      tensor.dtype = flow.formats[t];
    }
    declared_ = program_.tensors;
  }

  // The cheapest family for these equations.
  Group assess(std::vector<int> equations, const PlanningContext& context) {
    if (!known_) return ask(std::move(equations), context);
    const auto found = known_->find(equations);
    if (found != known_->end()) return found->second;
    Group out = ask(equations, context);
    known_->emplace(std::move(equations), out);
    return out;
  }

 private:
  Group ask(std::vector<int> equations, const PlanningContext& context) {
    place_tensors(program_, flow_, equations, 0);
    ir::Kernel& kernel = program_.kernels[0];
    kernel.equations = equations;
    Group best;
    best.equations = std::move(equations);
    for (const families::Family* family : families::all_families()) {
      if (!family->available || !family->match || !family->propose) continue;
      kernel.family = std::string(family->name);
      const families::Match match = family->match(program_, kernel);
      if (!match.ok) {
        best.reason += fmt::format("{}{}: {}", best.reason.empty() ? "" : "; ", family->name, match.reason);
        continue;
      }
      const families::Context ask{program_, context.machine, context.numerics, context.frozen};
      const Result<families::Cost> cost = family->cost(ask, kernel);
      if (!cost.ok()) {
        best.reason += fmt::format("{}{}: {}", best.reason.empty() ? "" : "; ", family->name, cost.error().message);
      } else if (!best.family || cost->time < best.cost) {
        best.family = family;
        best.cost = cost->time;
      }
    }
    restore(best.equations);
    return best;
  }

  void restore(const std::vector<int>& equations) {
    for (int id : equations) {
      const size_t target = static_cast<size_t>(program_.equation(id).target);
      program_.tensors[target] = declared_[target];
    }
  }

  ir::Program program_;
  const Dataflow& flow_;
  Assessed* known_;
  std::vector<ir::Tensor> declared_;
};

// Groups live in a fixed vector; a group that was merged into another is left empty. Equations are in text order, which
// is an order of execution, so a group can only depend on groups with a smaller first equation.
class Merger {
 public:
  Merger(const ir::Program& problem, const PlanningContext& context)
      : context_(context),
        program_(problem),
        flow_(problem),
        scratch_(problem, flow_, nullptr),
        owner_(problem.equations.size()) {
    std::map<int, std::vector<int>> recurrences;
    for (size_t e = 0; e < problem.equations.size(); ++e) {
      const int group = problem.equations[e].group;
      if (group >= 0) {
        recurrences[group].push_back(static_cast<int>(e));
      } else {
        add({static_cast<int>(e)});
      }
    }
    for (auto& [id, equations] : recurrences) add(std::move(equations));
  }

  // Cut as given.
  Merger(const ir::Program& problem, const PlanningContext& context, const Partition& cut, Assessed* known)
      : context_(context),
        program_(problem),
        flow_(problem),
        scratch_(problem, flow_, known),
        owner_(problem.equations.size()) {
    for (const Group& group : cut.groups) {
      for (int e : group.equations) owner_[static_cast<size_t>(e)] = groups_.size();
      groups_.push_back(group);
    }
  }

  // Passes over all groups until one merges nothing. A group that grew is tried again at once.
  void merge_all() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t consumer = 0; consumer < groups_.size(); ++consumer) {
        while (merge_one(consumer)) changed = true;
      }
    }
  }

  std::vector<Recut> fused() {
    std::map<std::pair<Kind, Kind>, std::vector<std::pair<size_t, size_t>>> pairs;
    for (size_t consumer = 0; consumer < groups_.size(); ++consumer) {
      for (const size_t other : partners_of(consumer))
        pairs[{kind_of(other), kind_of(consumer)}].emplace_back(other, consumer);
    }
    std::vector<Recut> out;
    for (const auto& [kinds, alike] : pairs) {
      Changes changes;
      std::set<size_t> taken;
      for (const auto& [other, consumer] : alike) {
        if (taken.contains(other) || taken.contains(consumer)) continue;
        std::vector<int> both = groups_[other].equations;
        both.insert(both.end(), groups_[consumer].equations.begin(), groups_[consumer].equations.end());
        std::sort(both.begin(), both.end());
        Group merged = scratch_.assess(std::move(both), context_);
        if (!merged.family) continue;
        taken.insert({other, consumer});
        changes.emplace_back(other, Group{});
        changes.emplace_back(consumer, std::move(merged));
      }
      if (changes.empty()) continue;
      const std::string step = fmt::format("fuses {} and {}{}", name_of(changes[0].first), name_of(changes[1].first),
                                           more(changes.size() / 2));
      if (std::optional<Recut> cut = with(changes, step)) out.push_back(std::move(*cut));
    }
    return out;
  }

  std::vector<Recut> split() {
    std::map<Kind, std::vector<size_t>> kinds;
    for (size_t g = 0; g < groups_.size(); ++g) kinds[kind_of(g)].push_back(g);
    std::vector<Recut> out;
    for (const auto& [kind, alike] : kinds) {
      for (size_t at = 1; at < groups_[alike[0]].equations.size() && at <= kMostSplits; ++at) {
        Changes changes;
        for (const size_t g : alike) split_before(g, at, changes);
        if (changes.empty()) continue;
        const size_t first = changes[0].first;
        const std::string target = program_.tensor(program_.equation(groups_[first].equations[at]).target).name;
        const std::string step =
            fmt::format("splits {} before `{}`{}", name_of(first), target, more(changes.size() / 2));
        if (std::optional<Recut> cut = with(changes, step)) out.push_back(std::move(*cut));
      }
    }
    return out;
  }

  std::vector<Group> ordered() const {
    std::vector<Group> out;
    std::vector<char> placed(groups_.size(), 0);
    for (size_t g = 0; g < groups_.size(); ++g) place(g, placed, out);
    return out;
  }

 private:
  static constexpr size_t kMostSplits = 8;  // of a group

  // Groups of a kind are alike, repeated layers above all: they are fused or split together. By the family's name, so
  // that ties have one order.
  using Kind = std::tuple<std::string_view, double, size_t>;
  Kind kind_of(size_t group) const {
    return {groups_[group].family->name, groups_[group].cost.value, groups_[group].equations.size()};
  }

  // New groups, by where they go: an empty one is gone, those beyond the last are new.
  using Changes = std::vector<std::pair<size_t, Group>>;

  // As apply() calls its kernel.
  std::string name_of(size_t group) const { return fmt::format("{}{}", groups_[group].family->name, group + 1); }
  static std::string more(size_t count) { return count > 1 ? fmt::format(", and {} alike", count - 1) : ""; }

  // What it may be fused with.
  std::set<size_t> partners_of(size_t consumer) const {
    std::set<size_t> out = producers_of(consumer);
    for (size_t sibling : siblings_of(consumer)) {
      if (sibling < consumer && !producers_of(sibling).contains(consumer) && !has_detour(consumer, sibling))
        out.insert(sibling);
    }
    std::erase_if(out, [&](size_t other) { return has_detour(other, consumer); });
    return out;
  }

  // Nothing where a recurrence would be torn apart, or no family runs a part.
  void split_before(size_t group, size_t at, Changes& changes) {
    const std::vector<int> equations = groups_[group].equations;
    const auto middle = equations.begin() + static_cast<std::ptrdiff_t>(at);
    const int recurrence = program_.equation(*middle).group;
    if (recurrence >= 0 && recurrence == program_.equation(*(middle - 1)).group) return;
    Group front = scratch_.assess({equations.begin(), middle}, context_),
          back = scratch_.assess({middle, equations.end()}, context_);
    if (!front.family || !back.family) return;
    changes.emplace_back(group, std::move(front));
    changes.emplace_back(groups_.size() + changes.size() / 2, std::move(back));
  }

  // The cut with some groups replaced, in an order in which it can run. Nothing where there is none: fusing several
  // pairs at once may close a circle that one alone does not.
  std::optional<Recut> with(const Changes& changes, std::string step) {
    const std::vector<Group> groups = groups_;
    const std::vector<size_t> owner = owner_;
    for (const auto& [at, group] : changes) {
      groups_.resize(std::max(groups_.size(), at + 1));
      groups_[at] = group;
      for (int e : group.equations) owner_[static_cast<size_t>(e)] = at;
    }
    Recut out{{ordered()}, std::move(step), Seconds(0)};
    const bool runs = in_order(out.partition);
    for (const Group& group : out.partition.groups) out.cost += group.cost;
    groups_ = groups;
    owner_ = owner;
    return runs ? std::optional(std::move(out)) : std::nullopt;
  }

  // Whether every group comes behind those that it reads from.
  bool in_order(const Partition& cut) const {
    std::set<size_t> done;
    for (const Group& group : cut.groups) {
      const size_t here = owner_[static_cast<size_t>(group.equations.front())];
      for (const size_t producer : producers_of(here)) {
        if (!done.contains(producer)) return false;
      }
      done.insert(here);
    }
    return true;
  }

  void add(std::vector<int> equations) {
    for (int e : equations) owner_[static_cast<size_t>(e)] = groups_.size();
    groups_.push_back(scratch_.assess(std::move(equations), context_));
  }

  bool alive(size_t group) const { return !groups_[group].equations.empty(); }

  std::set<size_t> producers_of(size_t group) const {
    std::set<size_t> out;
    for (int e : groups_[group].equations) {
      for (int tensor : flow_.reads[static_cast<size_t>(e)]) {
        for (int writer : flow_.writers[static_cast<size_t>(tensor)]) out.insert(owner_[static_cast<size_t>(writer)]);
      }
    }
    out.erase(group);
    return out;
  }

  // Producers before consumers.
  void place(size_t group, std::vector<char>& placed, std::vector<Group>& out) const {
    if (placed[group] || !alive(group)) return;
    placed[group] = 1;
    for (size_t producer : producers_of(group)) place(producer, placed, out);
    out.push_back(groups_[group]);
  }

  // A path from producer to consumer through a third group forbids merging the two.
  bool has_detour(size_t producer, size_t consumer) const {
    const int earliest = groups_[producer].equations.front();
    std::vector<size_t> todo;
    std::set<size_t> seen;
    const auto visit = [&](size_t group) {
      if (groups_[group].equations.back() > earliest && seen.insert(group).second) todo.push_back(group);
    };
    for (size_t p : producers_of(consumer)) {
      if (p != producer) visit(p);
    }
    while (!todo.empty()) {
      const size_t at = todo.back();
      todo.pop_back();
      for (size_t p : producers_of(at)) {
        if (p == producer) return true;
        visit(p);
      }
    }
    return false;
  }

  bool merge_one(size_t consumer) {
    if (!alive(consumer)) return false;
    const std::set<size_t> producers = producers_of(consumer);
    for (size_t producer : producers) {
      if (try_merge(producer, consumer, false)) return true;
    }
    for (size_t sibling : siblings_of(consumer)) {
      if (producers.contains(sibling) || producers_of(sibling).contains(consumer) || has_detour(consumer, sibling))
        continue;
      if (try_merge(sibling, consumer, true)) return true;
    }
    return false;
  }

  // The largest tensor that a group reads from outside; -1 if none.
  int mainly_read(size_t group) const {
    int out = -1;
    for (int e : groups_[group].equations) {
      for (int tensor : flow_.reads[static_cast<size_t>(e)]) {
        const auto& writers = flow_.writers[static_cast<size_t>(tensor)];
        const bool own =
            std::any_of(writers.begin(), writers.end(), [&](int w) { return owner_[static_cast<size_t>(w)] == group; });
        if (!own && (out < 0 || program_.tensor(tensor).elements() > program_.tensor(out).elements())) out = tensor;
      }
    }
    return out;
  }

  // Groups for which the same tensor is the main one: together they read it once (the mean and the variance of data).
  std::set<size_t> siblings_of(size_t group) const {
    std::set<size_t> out;
    const int tensor = mainly_read(group);
    if (tensor < 0) return out;
    for (int reader : flow_.readers[static_cast<size_t>(tensor)]) {
      const size_t other = owner_[static_cast<size_t>(reader)];
      if (other != group && mainly_read(other) == tensor) out.insert(other);
    }
    return out;
  }

  // `gainful`: only where one kernel is faster than two, not where it is as fast.
  bool try_merge(size_t producer, size_t consumer, bool gainful) {
    const Group& a = groups_[producer];
    const Group& b = groups_[consumer];
    std::vector<int> both = a.equations;
    both.insert(both.end(), b.equations.begin(), b.equations.end());
    std::sort(both.begin(), both.end());
    if (refused_.contains(both) || has_detour(producer, consumer)) return false;
    Group merged = scratch_.assess(both, context_);
    const bool apart_is_possible = a.family && b.family;
    const Seconds apart = a.cost + b.cost;
    const bool worth = !apart_is_possible ? !gainful : gainful ? merged.cost < apart : merged.cost <= apart;
    if (!merged.family || !worth) {
      refused_.insert(std::move(both));
      return false;
    }
    for (int e : a.equations) owner_[static_cast<size_t>(e)] = consumer;
    groups_[consumer] = std::move(merged);
    groups_[producer] = Group{};
    return true;
  }

  const PlanningContext& context_;
  const ir::Program& program_;
  Dataflow flow_;
  Scratch scratch_;
  std::vector<Group> groups_;
  std::vector<size_t> owner_;  // equation -> its group
  std::set<std::vector<int>> refused_;
};

Status can_be_cut(const ir::Program& problem) {
  if (!problem.opaques.empty()) return fail(Code::unsupported_operator, problem.opaques[0].op);
  if (problem.equations.empty()) return fail(Code::bad_argument, "the program has no equations: nothing to run");
  return success();
}

Result<Partition> runnable(const ir::Program& problem, Partition found) {
  for (const Group& group : found.groups) {
    if (group.family) continue;
    const ir::Equation& first = problem.equation(group.equations.front());
    return fail(Code::unsupported_operator,
                fmt::format("no kernel family runs `{}` yet ({})", ir::to_text(problem, first), group.reason));
  }
  return found;
}

}  // namespace

Result<Partition> partition(const ir::Program& problem, const PlanningContext& context) {
  SOLSTICE_CHECK(can_be_cut(problem));
  Merger merger(problem, context);
  merger.merge_all();
  return runnable(problem, {merger.ordered()});
}

std::vector<Recut> recuts(const ir::Program& problem, const Partition& from, const PlanningContext& context,
                          Assessed* known) {
  constexpr size_t kMostGroups = 24;
  if (from.groups.size() > kMostGroups) return {};
  Merger merger(problem, context, from, known);
  std::vector<Recut> out = merger.fused(), apart = merger.split();
  std::move(apart.begin(), apart.end(), std::back_inserter(out));
  std::stable_sort(out.begin(), out.end(), [](const Recut& a, const Recut& b) { return a.cost < b.cost; });
  return out;
}

Result<Partition> cut_as(const ir::Program& problem, const std::vector<std::vector<int>>& groups,
                         const PlanningContext& context, Assessed* known) {
  SOLSTICE_CHECK(can_be_cut(problem));
  const Dataflow flow(problem);
  Scratch scratch(problem, flow, known);
  Partition out;
  for (const std::vector<int>& group : groups) out.groups.push_back(scratch.assess(group, context));
  return runnable(problem, std::move(out));
}

ir::Program apply(const ir::Program& problem, const Partition& partition) {
  const Dataflow flow(problem);
  ir::Program out = problem;
  out.kernels.clear();
  out.items.clear();
  for (const Group& group : partition.groups) {
    const int id = static_cast<int>(out.kernels.size());
    ir::Kernel kernel;
    kernel.family = group.family ? std::string(group.family->name) : "";
    kernel.name = fmt::format("{}{}", group.family ? group.family->name : "kernel", id + 1);
    kernel.equations = group.equations;
    place_tensors(out, flow, group.equations, id);
    out.kernels.push_back(std::move(kernel));
    out.items.push_back({-1, id, -1});
  }
  return out;
}

}  // namespace solstice::propose
