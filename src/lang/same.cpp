// Comparison of trees: every field but spans.
#include <algorithm>

#include "lang/tree.h"

namespace solstice::lang {
namespace {

template <typename T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b);

bool same(const Range& a, const Range& b) { return a.name == b.name && lang::same(a.extent, b.extent); }

bool same(const Knob& a, const Knob& b);

bool same(const KnobValue& a, const KnobValue& b) {
  return a.kind == b.kind && a.text == b.text && a.sizes == b.sizes && lang::same(a.expr, b.expr) &&
         all_same(a.items, b.items) && all_same(a.members, b.members);
}

bool same(const Knob& a, const Knob& b) { return a.names == b.names && same(a.value, b.value); }

bool same(const Type& a, const Type& b) { return a.dtype == b.dtype && all_same(a.extents, b.extents); }

bool same(const Formal& a, const Formal& b) { return a.name == b.name && same(a.type, b.type); }

bool same(const Static& a, const Static& b) { return a.name == b.name && lang::same(a.value, b.value); }

bool same(const Dim& a, const Dim& b) {
  return a.name == b.name && lang::same(a.value, b.value) && lang::same(a.low, b.low) && lang::same(a.high, b.high) &&
         a.step == b.step;
}

bool same(const OpaqueArg& a, const OpaqueArg& b) {
  return a.keyword == b.keyword && lang::same(a.expr, b.expr) && a.string == b.string;
}

bool same(const CallArg& a, const CallArg& b) { return a.tensor == b.tensor && all_same(a.fixed, b.fixed); }

bool same(const Override& a, const Override& b) { return a.kernel == b.kernel && all_same(a.knobs, b.knobs); }

bool same(const std::pair<std::string, ExprRef>& a, const std::pair<std::string, ExprRef>& b) {
  return a.first == b.first && lang::same(a.second, b.second);
}

struct SameNode {
  const Node& other;
  template <typename T>
  const T& peer(const T&) const {
    return *std::get_if<T>(&other);
  }

  bool operator()(const Clause& a) const {
    return a.kind == peer(a).kind && a.names == peer(a).names && all_same(a.knobs, peer(a).knobs);
  }
  bool operator()(const Dims& a) const { return all_same(a.dims, peer(a).dims); }
  bool operator()(const Decl& a) const {
    const Decl& b = peer(a);
    return a.kind == b.kind && a.name == b.name && same(a.type, b.type) && a.path == b.path && a.order == b.order &&
           all_same(a.strides, b.strides) && a.same == b.same && all_same(a.same_at, b.same_at) && a.into == b.into &&
           a.distribution == b.distribution && all_same(a.distribution_args, b.distribution_args);
  }
  bool operator()(const Fn& a) const {
    return a.name == peer(a).name && a.parameters == peer(a).parameters && lang::same(a.body, peer(a).body);
  }
  bool operator()(const Def& a) const {
    const Def& b = peer(a);
    return a.name == b.name && all_same(a.statics, b.statics) && all_same(a.formals, b.formals) &&
           all_same(a.results, b.results) && all_same(a.items, b.items) && a.tail == b.tail;
  }
  bool operator()(const View& a) const { return (*this)(a.equation, peer(a).equation); }
  bool operator()(const Assume& a) const { return (*this)(a.equation, peer(a).equation); }
  bool operator()(const Opaque& a) const {
    return all_same(a.results, peer(a).results) && a.op == peer(a).op && all_same(a.args, peer(a).args);
  }
  bool operator()(const Call& a) const {
    const Call& b = peer(a);
    return a.results == b.results && a.def == b.def && all_same(a.statics, b.statics) && all_same(a.args, b.args) &&
           a.at == b.at && all_same(a.overrides, b.overrides);
  }
  bool operator()(const Source& a) const { return a.name == peer(a).name && a.text == peer(a).text; }
  bool operator()(const Equation& a) const { return (*this)(a, peer(a)); }
  bool operator()(const Kernel& a) const {
    const Kernel& b = peer(a);
    return a.name == b.name && a.once == b.once && a.family == b.family && all_same(a.knobs, b.knobs) &&
           all_same(a.items, b.items) && a.tail == b.tail;
  }
  bool operator()(const Equation& a, const Equation& b) const {
    return a.target == b.target && all_same(a.lhs, b.lhs) && lang::same(a.rhs, b.rhs) && all_same(a.ranges, b.ranges);
  }
};

template <typename T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}

}  // namespace

bool same(const ExprRef& a, const ExprRef& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  return a->kind == b->kind && a->text == b->text && a->integer == b->integer && a->binary == b->binary &&
         a->compares == b->compares && all_same(a->args, b->args) && same(a->otherwise, b->otherwise) &&
         same(a->where, b->where) && all_same(a->binders, b->binders);
}

bool same(const Item& a, const Item& b) {
  return a.node.index() == b.node.index() && a.before == b.before && a.after == b.after &&
         std::visit(SameNode{b.node}, a.node);
}

bool same(const Program& a, const Program& b) {
  return a.version == b.version && a.name == b.name && a.before == b.before && a.after == b.after &&
         all_same(a.items, b.items) && a.tail == b.tail;
}

}  // namespace solstice::lang
