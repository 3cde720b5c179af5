#include "codegen/interner.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <unordered_set>

namespace solstice::codegen {
namespace {

void mix(size_t& seed, size_t value) { seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2); }

// Substitution with a memo: a shared node is rewritten once.
class Rewriter {
 public:
  Rewriter(Interner& interner, std::map<int, ir::ExprRef> map, const std::vector<ir::Index>* extents)
      : interner_(interner), map_(std::move(map)), extents_(extents) {}

  ir::ExprRef rewrite(const ir::ExprRef& root) {
    if (const auto found = memo_.find(root.get()); found != memo_.end()) return found->second;
    ir::ExprRef out = rewrite_node(root);
    memo_.emplace(root.get(), out);
    return out;
  }

 private:
  ir::ExprRef rewrite_node(const ir::ExprRef& root) {
    if (root->op == ir::Op::kIndex) {
      const auto found = map_.find(root->id);
      return found != map_.end() ? found->second : interner_.intern(*root);
    }
    ir::Expr copy = *root;
    for (int& binder : copy.binders) binder = renamed(binder);
    for (ir::ExprRef& arg : copy.args) arg = rewrite(arg);
    // What is made of a node of this interner is of its equation.
    const int source = extents_ ? -1 : interner_.source_of(*root);
    if (source < 0) return interner_.intern(std::move(copy));
    const int around = interner_.set_source(source);
    ir::ExprRef out = interner_.intern(std::move(copy));
    interner_.set_source(around);
    return out;
  }

  int renamed(int binder) {
    auto found = map_.find(binder);
    if (found == map_.end()) {
      if (!extents_) return binder;
      const ir::Index& old = (*extents_)[static_cast<size_t>(binder)];
      found = map_.emplace(binder, interner_.index_node(interner_.add_index(old.name, old.extent))).first;
    }
    return found->second->op == ir::Op::kIndex ? found->second->id : binder;
  }

  Interner& interner_;
  std::map<int, ir::ExprRef> map_;
  const std::vector<ir::Index>* extents_;
  std::unordered_map<const ir::Expr*, ir::ExprRef> memo_;
};

}  // namespace

size_t Interner::Hash::operator()(const ir::Expr* e) const {
  size_t seed = static_cast<size_t>(e->op);
  mix(seed, static_cast<size_t>(e->kind));
  mix(seed, std::bit_cast<uint64_t>(e->real));
  mix(seed, static_cast<size_t>(e->integer));
  mix(seed, static_cast<size_t>(e->id));
  mix(seed, static_cast<size_t>(e->reducer));
  for (const int binder : e->binders) mix(seed, static_cast<size_t>(binder));
  for (const ir::ExprRef& arg : e->args) mix(seed, std::hash<const void*>()(arg.get()));
  return seed;
}

bool Interner::Equal::operator()(const ir::Expr* a, const ir::Expr* b) const {
  return a->op == b->op && a->kind == b->kind && std::bit_cast<uint64_t>(a->real) == std::bit_cast<uint64_t>(b->real) &&
         a->integer == b->integer && a->id == b->id && a->has_else == b->has_else && a->reducer == b->reducer &&
         a->dtype == b->dtype && a->binders == b->binders && a->args == b->args;
}

int Interner::add_index(std::string name, int64_t extent) {
  indices_.push_back({std::move(name), extent, ""});
  return static_cast<int>(indices_.size()) - 1;
}

ir::ExprRef Interner::intern(ir::Expr node) {
  if (const auto found = nodes_.find(&node); found != nodes_.end()) return found->second.node;
  auto kept = std::make_shared<const ir::Expr>(std::move(node));
  nodes_.emplace(kept.get(), Known{kept, source_});
  return kept;
}

int Interner::source_of(const ir::Expr& node) const {
  const auto found = nodes_.find(&node);
  return found == nodes_.end() ? -1 : found->second.source;
}

ir::ExprRef Interner::substitute(const ir::ExprRef& root, std::map<int, ir::ExprRef> map,
                                 const std::vector<ir::Index>& extents) {
  return Rewriter(*this, std::move(map), &extents).rewrite(root);
}

ir::ExprRef Interner::substitute(const ir::ExprRef& root, const std::map<int, ir::ExprRef>& map) {
  return Rewriter(*this, map, nullptr).rewrite(root);
}

ir::ExprRef Interner::index_node(int id) {
  ir::Expr e;
  e.op = ir::Op::kIndex;
  e.kind = ir::ValueKind::kInt;
  e.id = id;
  return intern(std::move(e));
}

ir::ExprRef Interner::integer(int64_t value) {
  ir::Expr e;
  e.op = ir::Op::kInt;
  e.kind = ir::ValueKind::kInt;
  e.integer = value;
  return intern(std::move(e));
}

ir::ExprRef Interner::real(double value) {
  ir::Expr e;
  e.op = ir::Op::kReal;
  e.real = value;
  return intern(std::move(e));
}

ir::ExprRef Interner::node(ir::Op op, ir::ValueKind kind, std::vector<ir::ExprRef> args) {
  ir::Expr e;
  e.op = op;
  e.kind = kind;
  e.args = std::move(args);
  return intern(std::move(e));
}

namespace {

// Nodes in `free_of` are known not to depend on the index.
bool depends_on(const ir::ExprRef& root, int id, std::unordered_set<const ir::Expr*>& free_of) {
  if (root->op == ir::Op::kIndex) return root->id == id;
  if (root->args.empty() || std::find(root->binders.begin(), root->binders.end(), id) != root->binders.end())
    return false;
  if (free_of.contains(root.get())) return false;
  for (const ir::ExprRef& arg : root->args) {
    if (depends_on(arg, id, free_of)) return true;
  }
  free_of.insert(root.get());
  return false;
}

}  // namespace

bool depends_on(const ir::ExprRef& root, int id) {
  std::unordered_set<const ir::Expr*> free_of;
  return depends_on(root, id, free_of);
}

bool FreeIndices::depends_on(const ir::ExprRef& root, int id) {
  const std::vector<int>& free = of(root);
  return std::binary_search(free.begin(), free.end(), id);
}

const std::vector<int>& FreeIndices::of(const ir::ExprRef& root) {
  const auto known = known_.find(root.get());
  if (known != known_.end()) return known->second;
  std::set<int> free;
  if (root->op == ir::Op::kIndex) free.insert(root->id);
  for (const ir::ExprRef& arg : root->args) {
    const std::vector<int>& below = of(arg);
    free.insert(below.begin(), below.end());
  }
  for (const int binder : root->binders) free.erase(binder);
  return known_.emplace(root.get(), std::vector<int>(free.begin(), free.end())).first->second;
}

}  // namespace solstice::codegen
