#include "ir/to_tree.h"

#include <cmath>

#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

// Does the index fill a dimension of this extent alone somewhere in `root`?
bool stands_alone(const Program& program, const ExprRef& root, int id, int64_t extent) {
  bool found = false;
  walk(root, [&](const Expr& e) {
    if (e.op != Op::kRead) return;
    const auto& shape = program.tensor(e.id).shape;
    for (size_t d = 0; d < shape.size() && d < e.args.size(); ++d) {
      found |= e.args[d]->op == Op::kIndex && e.args[d]->id == id && shape[d] == extent;
    }
  });
  return found;
}

bool occurs(const ExprRef& root, int id) {
  bool found = false;
  walk(root, [&](const Expr& e) { found |= e.op == Op::kIndex && e.id == id; });
  return found;
}

class Writer {
 public:
  Writer(const Program& program, const Equation& equation, Extents extents = Extents::kNumbers)
      : program_(program), equation_(equation), extents_(extents) {
    for (const Index& i : equation.indices) names_.push_back(i.name);
  }

  lang::ExprRef write(const ExprRef& e) {
    switch (e->op) {
      case Op::kReal:
        return std::isnan(e->real) ? nan() : lang::number(e->real);
      case Op::kInt:  // a rewrite's extent of an index keeps that index
        return e->id >= 0 ? extent(e->id) : integer(*e);
      case Op::kBool:
        return lang::name(e->integer ? "true" : "false");
      case Op::kIndex:
        return lang::name(names_[static_cast<size_t>(e->id)]);
      case Op::kRead:
        return read(*e);
      case Op::kReduce: {
        std::vector<lang::Range> bound = binders(e);
        lang::ExprRef where = e->args.size() > 1 ? write(e->args[1]) : nullptr;
        return lang::reduce(std::string(name_of(e->reducer)), std::move(bound), write(e->args[0]), std::move(where));
      }
      case Op::kRank: {
        lang::ExprRef rank = write(e->args[1]);
        std::vector<lang::Range> bound = binders(e);
        return lang::rank(std::string(name_of(e->reducer)), bound[0], std::move(rank), write(e->args[0]));
      }
      case Op::kCast:
        return lang::apply(std::string(name_of(e->dtype)), {write(e->args[0])});
      case Op::kNeg:
        return lang::negate(write(e->args[0]));
      case Op::kNot:
        return lang::logical_not(write(e->args[0]));
      default:
        return operation(*e);
    }
  }

  lang::ExprRef extent(int id) const {
    if (extents_ == Extents::kDims && !index(id).dim.empty()) {
      Diagnostics diagnostics;
      const lang::ExprRef dim = lang::parse_expression(index(id).dim, diagnostics);
      if (!diagnostics.has_errors()) return dim;
    }
    return lang::integer(index(id).extent);
  }

 private:
  // Literals that the source wrote with dims keep their place there.
  static lang::ExprRef integer(const Expr& e) {
    auto out = std::make_shared<lang::Expr>(*lang::integer(e.integer));
    out->span = e.span;
    return out;
  }

  static lang::ExprRef nan() { return lang::binary(lang::BinaryOp::kSub, lang::name("inf"), lang::name("inf")); }

  const Index& index(int id) const { return equation_.indices[static_cast<size_t>(id)]; }

  std::vector<lang::Range> binders(const ExprRef& e) {
    std::vector<lang::Range> out;
    for (const int id : e->binders) {
      while (hides_another(e, id)) names_[static_cast<size_t>(id)] += "_";
      const bool known = stands_alone(program_, e, id, index(id).extent);
      out.push_back({names_[static_cast<size_t>(id)], known ? nullptr : extent(id), {}});
    }
    return out;
  }

  // A binder may take the name of an outer index only if that index does not occur under it.
  bool hides_another(const ExprRef& e, int id) const {
    for (size_t other = 0; other < names_.size(); ++other) {
      const int other_id = static_cast<int>(other);
      if (other_id != id && names_[other] == names_[static_cast<size_t>(id)] && occurs(e, other_id)) return true;
    }
    return false;
  }

  lang::ExprRef read(const Expr& e) {
    std::vector<lang::ExprRef> indices;
    for (const ExprRef& a : e.args) indices.push_back(write(a));
    lang::ExprRef otherwise;
    if (e.has_else) {
      otherwise = indices.back();
      indices.pop_back();
    }
    return lang::read(program_.tensor(e.id).name, std::move(indices), std::move(otherwise));
  }

  lang::ExprRef operation(const Expr& e) {
    using lang::BinaryOp;
    using lang::CompareOp;
    const auto two = [&](BinaryOp op) { return lang::binary(op, write(e.args[0]), write(e.args[1])); };
    const auto compared = [&](CompareOp op) { return lang::compare(op, write(e.args[0]), write(e.args[1])); };
    switch (e.op) {
      case Op::kAnd:
        return two(BinaryOp::kAnd);
      case Op::kOr:
        return two(BinaryOp::kOr);
      case Op::kAdd:
        return two(BinaryOp::kAdd);
      case Op::kSub:
        return two(BinaryOp::kSub);
      case Op::kMul:
        return two(BinaryOp::kMul);
      case Op::kDiv:
        return two(BinaryOp::kDiv);
      case Op::kFloorDiv:
        return two(BinaryOp::kFloorDiv);
      case Op::kMod:
        return two(BinaryOp::kMod);
      case Op::kPow:
        return two(BinaryOp::kPow);
      case Op::kLt:
        return compared(CompareOp::kLt);
      case Op::kLe:
        return compared(CompareOp::kLe);
      case Op::kEq:
        return compared(CompareOp::kEq);
      case Op::kNe:
        return compared(CompareOp::kNe);
      case Op::kGe:
        return compared(CompareOp::kGe);
      case Op::kGt:
        return compared(CompareOp::kGt);
      default:
        break;
    }
    std::vector<lang::ExprRef> args;
    for (const ExprRef& a : e.args) args.push_back(write(a));
    return lang::apply(std::string(name_of(e.op)), std::move(args));
  }

  const Program& program_;
  const Equation& equation_;
  Extents extents_;
  std::vector<std::string> names_;
};

}  // namespace

lang::ExprRef to_tree(const Program& program, const Equation& equation, const ExprRef& expression) {
  return Writer(program, equation).write(expression);
}

lang::Equation to_tree(const Program& program, const Equation& equation, Extents extents) {
  Writer writer(program, equation, extents);
  lang::Equation out;
  out.target = program.target_of(equation).name;
  for (const ExprRef& e : equation.lhs) out.lhs.push_back(writer.write(e));
  out.rhs = writer.write(equation.rhs);
  for (const int id : equation.free) {
    const Index& index = equation.indices[static_cast<size_t>(id)];
    if (!stands_alone(program, equation.rhs, id, index.extent)) {
      out.ranges.push_back({index.name, writer.extent(id), {}});
    }
  }
  return out;
}

std::string to_text(const Program& program, const Equation& equation, const ExprRef& expression) {
  return lang::print(to_tree(program, equation, expression));
}

std::string to_text(const Program& program, const Equation& equation) {
  std::string text = lang::print(lang::Item(to_tree(program, equation)));
  text.pop_back();
  return text;
}

}  // namespace solstice::ir
