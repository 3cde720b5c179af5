#include "propose/cut/render.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "lang/parse.h"

namespace solstice::propose {
namespace {

void collect_reads(const lang::ExprRef& expr, std::set<std::string>& names) {
  if (!expr) return;
  if (expr->kind == lang::ExprKind::kRead) names.insert(expr->text);
  for (const lang::ExprRef& arg : expr->args) collect_reads(arg, names);
  for (const lang::Range& binder : expr->binders) collect_reads(binder.extent, names);
  collect_reads(expr->otherwise, names);
  collect_reads(expr->where, names);
}

std::set<std::string> reads_of(const lang::Equation& equation) {
  std::set<std::string> names;
  collect_reads(equation.rhs, names);
  return names;
}

class Renderer {
 public:
  Renderer(const lang::Program& problem, const ir::Program& scheduled, const CandidateText& how)
      : problem_(problem), scheduled_(scheduled), how_(how) {
    out_.version = problem.version;
    out_.name = problem.name;
    out_.before = problem.before;
    out_.after = problem.after;
  }

  Result<lang::Program> run(const std::vector<Schedule>& schedules) {
    SOLSTICE_CHECK(sort_items());
    if (schedules.size() != scheduled_.kernels.size()) return fail(Code::internal, "one schedule a kernel is needed");
    for (size_t k = 0; k < schedules.size(); ++k) SOLSTICE_CHECK(add_kernel(scheduled_.kernels[k], schedules[k]));
    out_.tail = problem_.tail;
    return std::move(out_);
  }

 private:
  // Declarations stay in front, views wait for the kernel that reads them, equations for theirs.
  Status sort_items() {
    add_clauses();
    for (const lang::Item& item : problem_.items) {
      if (std::holds_alternative<lang::Clause>(item.node)) continue;
      if (std::holds_alternative<lang::Equation>(item.node)) {
        equations_.push_back(&item);
      } else if (const auto* view = std::get_if<lang::View>(&item.node)) {
        views_[view->equation.target].push_back(&item);
      } else if (std::holds_alternative<lang::Call>(item.node)) {
        return fail(Code::not_yet, "scheduling the kernels of a `def` is not built yet");
      } else {
        out_.items.push_back(item);
      }
    }
    if (equations_.size() != scheduled_.equations.size()) {
      return fail(Code::internal, fmt::format("the text has {} loose equations, the bound program {}",
                                              equations_.size(), scheduled_.equations.size()));
    }
    return add_tensors();
  }

  void add_clauses() {
    out_.items.emplace_back(lang::Clause{lang::Clause::Kind::kTarget, {how_.machine}, {}});
    out_.items.emplace_back(lang::Clause{lang::Clause::Kind::kNumerics, {how_.numerics}, {}});
    if (how_.frozen) out_.items.emplace_back(lang::Clause{lang::Clause::Kind::kAllow, {"frozen"}, {}});
  }

  // Tensors that cross kernels and are not declared in the problem.
  Status add_tensors() {
    std::set<std::string> declared;
    for (const lang::Item& item : problem_.items) {
      if (const auto* decl = std::get_if<lang::Decl>(&item.node)) declared.insert(decl->name);
    }
    for (const ir::Tensor& tensor : scheduled_.tensors) {
      if (tensor.kind != ir::TensorKind::kTensor || declared.contains(tensor.name)) continue;
      lang::Decl decl;
      decl.name = tensor.name;
      decl.type.dtype = std::string(name_of(*tensor.dtype));
      for (const std::string& dim : tensor.dims) {
        Diagnostics diagnostics;
        decl.type.extents.push_back(lang::parse_expression(dim, diagnostics));
        if (diagnostics.has_errors())
          return fail(Code::internal, fmt::format("extent `{}` of `{}` does not parse", dim, tensor.name));
      }
      out_.items.emplace_back(std::move(decl));
    }
    return success();
  }

  void add_views(const std::set<std::string>& names) {
    for (const std::string& name : names) {
      const auto found = views_.find(name);
      if (found == views_.end()) continue;
      const std::vector<const lang::Item*> pieces = std::move(found->second);
      views_.erase(found);
      for (const lang::Item* piece : pieces) add_views(reads_of(std::get<lang::View>(piece->node).equation));
      for (const lang::Item* piece : pieces) out_.items.push_back(*piece);
    }
  }

  Status add_kernel(const ir::Kernel& scheduled, const Schedule& schedule) {
    lang::Kernel kernel;
    kernel.name = scheduled.name;
    kernel.family = schedule.family;
    Diagnostics diagnostics;
    kernel.knobs = lang::parse_knobs(ir::to_text(schedule.knobs), diagnostics);
    if (diagnostics.has_errors())
      return fail(Code::internal, fmt::format("knobs of `{}` do not parse", schedule.text()));
    for (int id : scheduled.equations) {
      const lang::Item& item = *equations_[static_cast<size_t>(id)];
      add_views(reads_of(std::get<lang::Equation>(item.node)));
      kernel.items.push_back(item);
    }
    out_.items.emplace_back(std::move(kernel));
    return success();
  }

  const lang::Program& problem_;
  const ir::Program& scheduled_;
  const CandidateText& how_;
  lang::Program out_;
  std::vector<const lang::Item*> equations_;
  std::map<std::string, std::vector<const lang::Item*>> views_;
};

}  // namespace

std::string Schedule::text() const { return fmt::format("{}({})", family, ir::to_text(knobs)); }

Result<lang::Program> render(const lang::Program& problem, const ir::Program& scheduled,
                             const std::vector<Schedule>& schedules, const CandidateText& how) {
  return Renderer(problem, scheduled, how).run(schedules);
}

}  // namespace solstice::propose
