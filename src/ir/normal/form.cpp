#include "ir/normal/form.h"

#include <algorithm>

namespace solstice::ir::normal {
namespace {

class Translator {
 public:
  Translator(Form& form, const Equation& equation) : form_(form), pool_(form.pool) {
    for (const Index& i : equation.indices) variables_.push_back(pool_.fresh(i.name, i.extent));
  }

  int variable(int index) const { return variables_[static_cast<size_t>(index)]; }

  TermId term(const ExprRef& e) {
    if (pool_.exceeded()) return 0;
    if (const auto found = done_.find(e.get()); found != done_.end()) return found->second;
    const TermId out = made(*e);
    done_.emplace(e.get(), out);
    return out;
  }

 private:
  std::vector<TermId> terms(const std::vector<ExprRef>& args) {
    std::vector<TermId> out;
    for (const ExprRef& a : args) out.push_back(term(a));
    return out;
  }

  TermId made(const Expr& e) {
    switch (e.op) {
      case Op::kReal:
        return pool_.real(e.real);
      case Op::kInt:
        return pool_.constant(e.integer);
      case Op::kBool:
        return pool_.boolean(e.integer != 0);
      case Op::kIndex:
        return pool_.variable(variable(e.id));
      case Op::kRead: {
        std::vector<TermId> args = terms(e.args);
        if (!e.has_else) return pool_.read(form_.symbol(e.id), std::move(args));
        const TermId otherwise = args.back();
        args.pop_back();
        return pool_.read_else(form_.symbol(e.id), std::move(args), otherwise);
      }
      case Op::kReduce:
      case Op::kRank:
        return reduction(e);
      default:
        return pool_.op(e.op, terms(e.args), e.op == Op::kCast ? e.dtype : DType::kF32);
    }
  }

  TermId reduction(const Expr& e) {
    std::vector<int> binders;
    for (const int b : e.binders) binders.push_back(variable(b));
    std::vector<TermId> args{term(e.args[0])};
    if (e.op == Op::kRank) args.push_back(term(e.args[1]));
    if (e.op == Op::kReduce && e.args.size() > 1) conjuncts(e.args[1], args);
    return pool_.reduce(e.reducer, std::move(binders), std::move(args));
  }

  void conjuncts(const ExprRef& condition, std::vector<TermId>& out) {
    if (condition->op != Op::kAnd) return out.push_back(term(condition));
    for (const ExprRef& side : condition->args) conjuncts(side, out);
  }

  Form& form_;
  Pool& pool_;
  std::vector<int> variables_;
  std::map<const Expr*, TermId> done_;
};

Definition translated(Form& form, const Equation& equation) {
  Translator translator(form, equation);
  Definition out;
  out.tensor = equation.target;
  for (const int f : equation.free) out.free.push_back(translator.variable(f));
  for (const ExprRef& e : equation.lhs) out.left.push_back(translator.term(e));
  out.value = translator.term(equation.rhs);
  out.recurrent = equation.group >= 0;
  if (out.recurrent && equation.step_index >= 0) out.step = translator.variable(equation.step_index);
  return out;
}

// The equations of tensors that the roots need, up to shared ones, in text order.
std::vector<int> needed_equations(const Form& form) {
  const std::vector<std::vector<int>> own = form.writers ? std::vector<std::vector<int>>() : writers_of(form.program);
  const std::vector<std::vector<int>>& writers = form.writers ? *form.writers : own;
  std::vector<char> needed(form.program.tensors.size(), 0);
  std::vector<int> left, out;
  for (const Root& r : form.roots) left.push_back(r.tensor);
  left.insert(left.end(), form.wanted.begin(), form.wanted.end());
  std::sort(left.begin(), left.end());
  left.erase(std::unique(left.begin(), left.end()), left.end());
  for (const int tensor : left) needed[static_cast<size_t>(tensor)] = 1;
  while (!left.empty()) {
    const int tensor = left.back();
    left.pop_back();
    for (const int e : writers[static_cast<size_t>(tensor)]) {
      out.push_back(e);
      walk(form.program.equation(e).rhs, [&](const Expr& r) {
        if (r.op != Op::kRead || form.shared.count(r.id) || needed[static_cast<size_t>(r.id)]) return;
        needed[static_cast<size_t>(r.id)] = 1;
        left.push_back(r.id);
      });
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<std::vector<int>> writers_of(const Program& program) {
  std::vector<std::vector<int>> out(program.tensors.size());
  for (size_t e = 0; e < program.equations.size(); ++e)
    out[static_cast<size_t>(program.equations[e].target)].push_back(static_cast<int>(e));
  return out;
}

int Form::symbol(int tensor) {
  const auto [known, made] = symbols_.try_emplace(tensor, -1);
  if (!made) return known->second;
  const Tensor& t = program.tensor(tensor);
  const bool given = t.is_interface() && t.kind != TensorKind::kOutput;
  if (given && t.same >= 0 && shared.count(tensor) && shared.count(t.same)) {  // tied weights: one tensor of two names
    const Tensor& base = program.tensor(t.same);
    if (t.same_offset == 0 && t.shape == base.shape && t.strides == base.strides)
      return symbols_[tensor] = symbol(t.same);
  }
  known->second = pool.symbol({shared.count(tensor) ? t.name : prefix + t.name, t.value, t.shape,
                               (given && !t.any_value) || (finite && finite->has(tensor)),
                               finite && finite->not_negative(tensor), given ? t.dtype : std::nullopt});
  tensors_[known->second] = tensor;
  return known->second;
}

int Form::tensor_of(int symbol_id) const {
  const auto found = tensors_.find(symbol_id);
  return found == tensors_.end() ? -1 : found->second;
}

TermId Rewriter::operator()(TermId t) {
  if (pool_.exceeded()) return 0;
  if (const auto found = done_.find(t); found != done_.end()) return found->second;
  std::vector<TermId> args;
  for (const TermId a : pool_.at(t).args) args.push_back((*this)(a));
  const TermId out = change_(pool_.at(t).args.empty() ? t : pool_.with_args(t, std::move(args)));
  done_.emplace(t, out);
  return out;
}

void rewrite_all(Form& form, const std::function<TermId(TermId)>& change) {
  Rewriter rewrite(form.pool, change);
  for (Definition& d : form.definitions) d.value = rewrite(d.value);
  for (Root& r : form.roots) r.value = rewrite(r.value);
}

std::vector<TermId> within(Pool& pool, const std::vector<int64_t>& shape, const std::vector<TermId>& at) {
  std::vector<TermId> out;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Term& i = pool.at(at[d]);
    if (i.kind == Kind::kConst && i.number.num >= 0 && i.number.num < shape[d]) continue;
    if (i.kind == Kind::kVar && pool.var(i.id).extent <= shape[d]) continue;
    out.push_back(pool.op(Op::kGe, {at[d], pool.constant(0)}));
    out.push_back(pool.op(Op::kLt, {at[d], pool.constant(shape[d])}));
  }
  return out;
}

TermId all_of(Pool& pool, const std::vector<TermId>& conditions) {
  if (conditions.empty()) return pool.boolean(true);
  TermId out = conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) out = pool.op(Op::kAnd, {out, conditions[i]});
  return out;
}

void translate(Form& form) {
  for (const int e : needed_equations(form)) {
    form.definitions.push_back(translated(form, form.program.equation(e)));
    form.definitions.back().equation = e;
  }
  for (const Equation& e : form.program.assumptions) {
    if (describes_whole(form.program, e)) form.assumptions.push_back(translated(form, e));
  }
}

void drop_unused(Form& form) {
  std::set<int> read, seen;
  std::vector<TermId> left;
  const auto visit = [&](TermId t) {
    if (seen.insert(t).second) left.push_back(t);
  };
  const auto need = [&](int tensor) {
    if (tensor < 0 || !read.insert(tensor).second) return;
    for (const Definition& d : form.definitions) {
      if (d.tensor == tensor) visit(d.value);
    }
  };
  for (const int tensor : form.wanted) need(tensor);
  for (const Root& r : form.roots) visit(r.value);
  while (!left.empty()) {
    const Term& t = form.pool.at(left.back());
    left.pop_back();
    if (t.kind == Kind::kRead) need(form.tensor_of(t.id));
    for (const TermId a : t.args) visit(a);
  }
  std::erase_if(form.definitions, [&](const Definition& d) { return !read.count(d.tensor); });
}

}  // namespace solstice::ir::normal
