#include "codegen/same_shape.h"

#include <bit>
#include <map>
#include <set>
#include <utility>

namespace solstice::codegen {
namespace {

class Comparison {
 public:
  explicit Comparison(const Interner& interner) : interner_(interner) {}

  bool equal(const ir::ExprRef& a, const ir::ExprRef& b) {
    if (equal_.count({a.get(), b.get()})) return true;
    if (!same_node(*a, *b)) return false;
    for (size_t i = 0; i < a->args.size(); ++i) {
      if (!equal(a->args[i], b->args[i])) return false;
    }
    equal_.insert({a.get(), b.get()});
    return true;
  }

 private:
  bool same_node(const ir::Expr& a, const ir::Expr& b) {
    if (a.op != b.op || a.kind != b.kind || a.reducer != b.reducer || a.dtype != b.dtype || a.has_else != b.has_else) return false;
    if (a.integer != b.integer || std::bit_cast<uint64_t>(a.real) != std::bit_cast<uint64_t>(b.real)) return false;
    if (a.args.size() != b.args.size() || a.binders.size() != b.binders.size()) return false;
    if (a.op == ir::Op::kIndex) return pair(a.id, b.id);
    for (size_t i = 0; i < a.binders.size(); ++i) {
      if (!pair(a.binders[i], b.binders[i])) return false;
    }
    return a.id == b.id;
  }

  // One to one: neither index is another's partner already.
  bool pair(int a, int b) {
    if (interner_.index(a).extent != interner_.index(b).extent) return false;
    const auto there = there_.emplace(a, b).first;
    const auto back = back_.emplace(b, a).first;
    return there->second == b && back->second == a;
  }

  const Interner& interner_;
  std::map<int, int> there_, back_;
  std::set<std::pair<const ir::Expr*, const ir::Expr*>> equal_;
};

}  // namespace

bool same_but_for_indices(const Interner& interner, const ir::ExprRef& a, const ir::ExprRef& b) {
  return Comparison(interner).equal(a, b);
}

}  // namespace solstice::codegen
