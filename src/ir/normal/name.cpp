#include "ir/normal/name.h"

#include <algorithm>
#include <set>

#include "ir/normal/passes.h"

namespace solstice::ir::normal {
namespace {

using Colours = std::map<int, uint64_t>;

constexpr int kMostOrders = 120;
constexpr size_t kMostWork = 100'000;  // hashed terms in one reduction
constexpr size_t kMostBinders = 16;    // more keep the order they have

class Refiner {
 public:
  Refiner(const Pool& pool, const std::vector<int>& binders, const std::vector<TermId>& args)
      : pool_(pool), binders_(binders), args_(args) {}

  size_t work() const { return work_; }

  std::vector<int> order() {
    Colours colours;
    for (const int b : binders_) colours[b] = static_cast<uint64_t>(pool_.var(b).extent);
    search(colours);
    return best_;
  }

 private:
  // Splits ties one binder at a time until all colours differ.
  void search(Colours colours) {
    refine(colours);
    std::map<uint64_t, std::vector<int>> classes;
    for (const int b : binders_) classes[colours[b]].push_back(b);
    for (const auto& [colour, members] : classes) {
      if (members.size() == 1) continue;
      for (const int first : members) {
        if (orders_ >= kMostOrders || (orders_ > 0 && work_ > kMostWork)) return;
        Colours split = colours;
        split[first] = mixed(colour, 1);
        search(split);
      }
      return;
    }
    ++orders_;
    std::vector<int> order;
    for (const auto& [colour, members] : classes) order.push_back(members[0]);
    Colours places;
    for (size_t i = 0; i < order.size(); ++i) places[order[i]] = i + 1;
    const uint64_t h = hash(places);
    if (best_.empty() || h < least_) best_ = order, least_ = h;
  }

  void refine(Colours& colours) const {
    for (size_t classes = 0;;) {
      Colours next;
      std::set<uint64_t> seen;
      for (const int b : binders_) {
        Colours marked = colours;
        marked[b] = mixed(colours[b], 0x5eed);
        next[b] = mixed(colours[b], hash(marked));
        seen.insert(next[b]);
      }
      if (seen.size() == classes || binders_.size() == 1) return;
      classes = seen.size();
      colours = std::move(next);
    }
  }

  uint64_t hash(const Colours& colours) const {
    std::unordered_map<TermId, uint64_t> done;
    uint64_t h = hash(args_[0], colours, done);
    std::vector<uint64_t> conditions;
    for (size_t i = 1; i < args_.size(); ++i) conditions.push_back(hash(args_[i], colours, done));
    std::sort(conditions.begin(), conditions.end());
    for (const uint64_t c : conditions) h = mixed(h, c);
    return h;
  }

  uint64_t hash(TermId id, const Colours& colours, std::unordered_map<TermId, uint64_t>& done) const {
    const Term& t = pool_.at(id);
    if (!pool_.depends(id, binders_)) return t.shape;
    if (t.kind == Kind::kVar) return mixed(0xc010, colours.at(t.id));
    if (const auto found = done.find(id); found != done.end()) return found->second;
    ++work_;
    std::vector<uint64_t> parts;
    for (size_t i = 0; i < t.args.size(); ++i) {
      uint64_t part = hash(t.args[i], colours, done);
      if (!t.weights.empty())
        part = mixed(mixed(part, static_cast<uint64_t>(t.weights[i].num)), static_cast<uint64_t>(t.weights[i].den));
      parts.push_back(part);
    }
    if (is_commutative(t)) std::sort(parts.begin(), parts.end());
    if (t.kind == Kind::kReduce && parts.size() > 1) std::sort(parts.begin() + 1, parts.end());
    uint64_t h = head_of(pool_, t);
    for (const uint64_t part : parts) h = mixed(h, part);
    done.emplace(id, h);
    return h;
  }

  const Pool& pool_;
  const std::vector<int>& binders_;
  const std::vector<TermId>& args_;
  std::vector<int> best_;
  uint64_t least_ = 0;
  int orders_ = 0;
  mutable size_t work_ = 0;
};

}  // namespace

TermId closed(Pool& pool, Reducer reducer, const std::vector<int>& binders, const std::vector<TermId>& args,
              bool refine) {
  if (pool.exceeded()) return 0;
  int level = 0;
  for (const TermId a : args) level = std::max(level, pool.at(a).level);
  std::vector<int> order = binders;
  if (refine && binders.size() > 1 && binders.size() <= kMostBinders) {
    Refiner refiner(pool, binders, args);
    order = refiner.order();
    pool.spend(refiner.work());
  }
  Substitution names;
  std::vector<int> places;
  for (size_t i = 0; i < order.size(); ++i) {
    places.push_back(pool.bound_variable(level + 1, i, pool.var(order[i]).extent));
    names[order[i]] = pool.variable(places.back());
  }
  std::vector<TermId> renamed;
  for (const TermId a : args) renamed.push_back(pool.substitute(a, names));
  return pool.reduce(reducer, places, std::move(renamed));
}

Opened opened(Pool& pool, TermId reduction) {
  const Term& t = pool.at(reduction);
  Opened out;
  Substitution names;
  for (const int b : t.binders) {
    out.binders.push_back(pool.fresh(pool.var(b).name, pool.var(b).extent));
    names[b] = pool.variable(out.binders.back());
  }
  for (const TermId a : t.args) out.args.push_back(pool.substitute(a, names));
  return out;
}

TermId named(Pool& pool, TermId id, std::unordered_map<TermId, TermId>& done) {
  if (pool.exceeded() || pool.at(id).args.empty()) return id;
  if (const auto found = done.find(id); found != done.end()) return found->second;
  std::vector<TermId> args;
  for (const TermId a : pool.at(id).args) args.push_back(named(pool, a, done));
  const Term& t = pool.at(id);
  const TermId out =
      t.kind == Kind::kReduce ? closed(pool, t.reducer, t.binders, args, true) : pool.with_args(id, args);
  done.emplace(id, out);
  return out;
}

void name(Form& form) {
  std::unordered_map<TermId, TermId> done;
  for (Definition& d : form.definitions) d.value = named(form.pool, d.value, done);
  for (Root& r : form.roots) r.value = named(form.pool, r.value, done);
}

}  // namespace solstice::ir::normal
