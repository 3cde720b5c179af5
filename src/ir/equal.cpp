#include "ir/equal.h"

#include <bit>
#include <functional>
#include <map>

namespace solstice::ir {
namespace {

uint64_t mix(uint64_t seed, uint64_t value) {
  value += 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return seed ^ value ^ (value >> 31);
}

// Numbers indices by where they are bound.
class Structure {
 public:
  Structure(const Program& program, const Equation& equation) : program_(program), equation_(equation) {
    for (const int id : equation.free) number_[id] = next_++;
  }

  uint64_t hash(const ExprRef& e) {
    for (const int id : e->binders) number_[id] = next_++;
    uint64_t h = mix(static_cast<uint64_t>(e->op), static_cast<uint64_t>(e->kind));
    h = mix(h, std::bit_cast<uint64_t>(e->op == Op::kReal ? e->real : 0.0));
    h = mix(h, static_cast<uint64_t>(e->integer));
    h = mix(h, e->has_else ? 1 : 0);
    if (e->op == Op::kIndex) h = mix(h, static_cast<uint64_t>(number_[e->id]));
    if (e->op == Op::kRead) h = mix(h, std::hash<std::string>()(program_.tensor(e->id).name));
    if (e->op == Op::kReduce || e->op == Op::kRank) h = mix(h, static_cast<uint64_t>(e->reducer));
    if (e->op == Op::kCast) h = mix(h, static_cast<uint64_t>(e->dtype));
    for (const int id : e->binders)
      h = mix(h, static_cast<uint64_t>(equation_.indices[static_cast<size_t>(id)].extent));
    for (const ExprRef& a : e->args) h = mix(h, hash(a));
    return h;
  }

 private:
  const Program& program_;
  const Equation& equation_;
  std::map<int, int> number_;
  int next_ = 0;
};

class Matcher {
 public:
  Matcher(const Program& a, const Equation& x, const Program& b, const Equation& y) : a_(a), x_(x), b_(b), y_(y) {}

  bool pair(const std::vector<int>& left, const std::vector<int>& right) {
    if (left.size() != right.size()) return false;
    for (size_t i = 0; i < left.size(); ++i) {
      if (extent(x_, left[i]) != extent(y_, right[i])) return false;
      partner_[left[i]] = right[i];
    }
    return true;
  }

  bool match(const ExprRef& p, const ExprRef& q) {
    if (p->op != q->op || p->kind != q->kind || p->args.size() != q->args.size() || p->has_else != q->has_else)
      return false;
    if (!pair(p->binders, q->binders)) return false;
    switch (p->op) {
      case Op::kReal:
        if (std::bit_cast<uint64_t>(p->real) != std::bit_cast<uint64_t>(q->real)) return false;
        break;
      case Op::kIndex:
        if (!partner_.count(p->id) || partner_[p->id] != q->id) return false;
        break;
      case Op::kRead:
        if (a_.tensor(p->id).name != b_.tensor(q->id).name) return false;
        break;
      default:
        if (p->integer != q->integer || p->reducer != q->reducer || p->dtype != q->dtype) return false;
    }
    for (size_t i = 0; i < p->args.size(); ++i) {
      if (!match(p->args[i], q->args[i])) return false;
    }
    return true;
  }

 private:
  static int64_t extent(const Equation& e, int id) { return e.indices[static_cast<size_t>(id)].extent; }

  const Program& a_;
  const Equation& x_;
  const Program& b_;
  const Equation& y_;
  std::map<int, int> partner_;
};

}  // namespace

bool is_zero(const ExprRef& e) {
  return (e->op == Op::kInt && e->integer == 0) || (e->op == Op::kReal && e->real == 0);
}

bool same(const ExprRef& a, const ExprRef& b) {
  if (a == b) return true;
  if (!a || !b || a->op != b->op || a->kind != b->kind || a->id != b->id || a->integer != b->integer) return false;
  if (std::bit_cast<uint64_t>(a->real) != std::bit_cast<uint64_t>(b->real)) return false;
  if (a->has_else != b->has_else || a->reducer != b->reducer || a->dtype != b->dtype || a->binders != b->binders)
    return false;
  if (a->args.size() != b->args.size()) return false;
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!same(a->args[i], b->args[i])) return false;
  }
  return true;
}

uint64_t structural_hash(const Program& program, const Equation& equation) {
  Structure structure(program, equation);
  uint64_t h = structure.hash(equation.rhs);
  for (const ExprRef& e : equation.lhs) h = mix(h, structure.hash(e));
  return h;
}

bool same_up_to_names(const Program& a, const Equation& x, const Program& b, const Equation& y) {
  if (x.lhs.size() != y.lhs.size()) return false;
  Matcher matcher(a, x, b, y);
  if (!matcher.pair(x.free, y.free)) return false;
  for (size_t i = 0; i < x.lhs.size(); ++i) {
    if (!matcher.match(x.lhs[i], y.lhs[i])) return false;
  }
  return matcher.match(x.rhs, y.rhs);
}

}  // namespace solstice::ir
