#include "ir/equivalence/literals.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

namespace solstice::ir {
namespace {

struct Literals {
  std::map<double, Span> found;

  void visit(const lang::ExprRef& e) {
    if (!e) return;
    if (e->kind == lang::ExprKind::kInt) found.emplace(static_cast<double>(e->integer), e->span);
    if (e->kind == lang::ExprKind::kNumber) found.emplace(std::strtod(e->text.c_str(), nullptr), e->span);
    for (const lang::ExprRef& a : e->args) visit(a);
    for (const lang::Range& r : e->binders) visit(r.extent);
    visit(e->otherwise);
    visit(e->where);
  }
  void visit(const lang::Equation& e) {
    for (const lang::ExprRef& i : e.lhs) visit(i);
    visit(e.rhs);
    for (const lang::Range& r : e.ranges) visit(r.extent);
  }
  void visit(const std::vector<lang::Item>& items) {
    for (const lang::Item& item : items) {
      if (const auto* e = std::get_if<lang::Equation>(&item.node)) visit(*e);
      if (const auto* v = std::get_if<lang::View>(&item.node)) visit(v->equation);
      if (const auto* k = std::get_if<lang::Kernel>(&item.node)) visit(k->items);
      if (const auto* d = std::get_if<lang::Def>(&item.node)) visit(d->items);
      if (const auto* f = std::get_if<lang::Fn>(&item.node)) visit(f->body);
      const auto* decl = std::get_if<lang::Decl>(&item.node);
      for (size_t i = 0; decl && i < decl->type.extents.size(); ++i) visit(decl->type.extents[i]);
    }
  }
};

bool close(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

bool comes_of(double literal, double v) {
  for (const double near : {v - 1, v, v + 1}) {
    if (literal == near) return true;
  }
  return close(literal, 1 / v) || close(literal, std::sqrt(v)) || close(literal, 1 / std::sqrt(v)) ||
         close(literal, v / 2) || close(literal, 1 / (v - 1));
}

// The dim, or the product of dims, that gives the literal.
std::string source_of(double literal, const DimValues& real, const DimValues& shrunken) {
  for (size_t i = 0; i < real.size(); ++i) {
    if (real[i].second == shrunken[i].second) continue;
    const auto v = static_cast<double>(real[i].second);
    if (comes_of(literal, v)) return real[i].first;
    for (size_t j = 0; j < real.size(); ++j) {
      if (j != i && comes_of(literal, v * static_cast<double>(real[j].second)))
        return real[i].first + "*" + real[j].first;
    }
  }
  return "";
}

std::string value_text(const std::string& dims, const DimValues& values) {
  std::string out;
  for (const auto& [name, value] : values) {
    const std::string padded = "*" + dims + "*";
    if (padded.find("*" + name + "*") != std::string::npos)
      out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, value);
  }
  return out;
}

}  // namespace

std::optional<Diagnostic> dim_like_literal(const lang::Program& problem, const lang::Program& candidate,
                                           const DimValues& real, const DimValues& shrunken) {
  Literals a, b;
  a.visit(problem.items);
  b.visit(candidate.items);
  if (real.size() != shrunken.size()) return std::nullopt;
  const auto look = [&](const Literals& in, const Literals& other, bool own) -> std::optional<Diagnostic> {
    for (const auto& [literal, span] : in.found) {
      if (other.found.count(literal)) continue;
      const std::string dims = source_of(literal, real, shrunken);
      if (dims.empty()) continue;
      Diagnostic out;
      out.code = "W018";
      out.severity = Severity::kWarning;
      out.message = fmt::format("differs at {}: {} `{}` behaves like `{}` ({})", value_text(dims, shrunken),
                                own ? "the literal" : "the problem's literal", literal, dims, value_text(dims, real));
      out.hint = fmt::format("write `{}`", dims);
      if (own) out.span = span;
      return out;
    }
    return std::nullopt;
  };
  const auto own = look(b, a, true);
  return own ? own : look(a, b, false);
}

}  // namespace solstice::ir
