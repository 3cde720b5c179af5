// Names in expressions: an index, an argument, a dim, or a tensor that is read.
#include <fmt/format.h>

#include <limits>
#include <numbers>

#include "ir/bind/elaborate.h"

namespace solstice::ir {

ExprRef Elaborator::bare_name(const lang::Expr& e) {
  if (e.text == "inf") return make_real(std::numeric_limits<double>::infinity());
  if (e.text == "pi") return make_real(std::numbers::pi);
  if (e.text == "true" || e.text == "false") {
    auto literal = std::make_shared<Expr>();
    literal->op = Op::kBool;
    literal->kind = ValueKind::kBool;
    literal->integer = e.text == "true";
    return literal;
  }
  if (env_) {
    const auto argument = env_->find(e.text);
    if (argument != env_->end()) {
      const Argument& a = argument->second;
      --level_;  // it takes the place of its name
      const bool affordable = grow(a.nodes - 1, a.height, e.span);
      ++level_;
      return affordable ? a.value : nullptr;
    }
  } else {
    for (auto it = names_.rbegin(); it != names_.rend(); ++it) {
      if (it->first == e.text) return make_index(it->second);
    }
  }
  const auto dim = scope_.dims.find(e.text);
  if (dim != scope_.dims.end()) {
    if (!dim->second.known) return nullptr;
    auto value = std::make_shared<Expr>(*make_int(dim->second.value));
    value->span = here(e.span);  // rewrites find the dim again by it
    return value;
  }
  if (binder_.lost_.count(e.text)) return nullptr;
  return unknown_name(e);
}

ExprRef Elaborator::unknown_name(const lang::Expr& e) {
  const auto symbol = scope_.symbols.find(e.text);
  if (symbol != scope_.symbols.end() || binder_.upcoming_.count(e.text)) {
    error("E007", e.span, fmt::format("`{}` is a tensor; an expression takes its elements", e.text),
          fmt::format("write its indices: `{}[...]`", e.text));
    return nullptr;
  }
  std::vector<std::string> known;
  for (const auto& [name, dim] : scope_.dims) known.push_back(name);
  if (env_ || (e.text[0] >= 'A' && e.text[0] <= 'Z')) {
    const std::string near = closest(e.text, known);
    error("E008", e.span, fmt::format("unknown {} `{}`", env_ ? "name" : "dim", e.text),
          near.empty() ? "declare it: `dim " + e.text + " = ...`" : fmt::format("closest: `{}`", near));
    return nullptr;
  }
  if (!draft_.unbound.insert(e.text).second) return nullptr;  // once an equation is enough
  error("E004", e.span,
        fmt::format("`{}` is used on the right but neither written nor reduced; nothing is summed implicitly", e.text),
        fmt::format("sum over it: `sum[{}](...)`, with every use of it inside the brackets; or write it on the "
                    "left",
                    e.text));
  return nullptr;
}

std::optional<Symbol> Elaborator::find_tensor(const lang::Expr& e) {
  const auto known = scope_.symbols.find(e.text);
  if (known != scope_.symbols.end()) {
    const Symbol& s = known->second;
    const bool loose_local = s.tensor >= 0 && binder_.program_.tensor(s.tensor).kind == TensorKind::kLocal &&
                             binder_.program_.tensor(s.tensor).kernel != binder_.kernel_;
    if (!loose_local) return s;
    error("E011", e.span, fmt::format("`{}` crosses into a kernel but is not declared", e.text),
          fmt::format("`tensor {} : f32[...]` (dtype and order are yours to choose)", e.text));
    return std::nullopt;
  }
  const auto soon = binder_.upcoming_.find(e.text);
  if (soon != binder_.upcoming_.end()) {
    binder_.local(e.text, soon->second, e.span, scope_);
    return scope_.symbols.at(e.text);
  }
  const auto gone = scope_.gone.find(e.text);
  if (gone != scope_.gone.end()) {
    binder_.report_crossing(e.text, gone->second, e.span);
    return std::nullopt;
  }
  if (binder_.lost_.count(e.text)) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [name, symbol] : scope_.symbols) names.push_back(name);
  const std::string near = closest(e.text, names);
  const bool dim = scope_.dims.count(e.text) > 0;
  error("E008", e.span,
        dim ? fmt::format("`{}` is a dim, not a tensor", e.text) : fmt::format("unknown tensor `{}`", e.text),
        near.empty() ? "declare it, or define it before it is read" : fmt::format("closest: `{}`", near));
  return std::nullopt;
}

ExprRef Elaborator::read(const lang::Expr& e) {
  std::vector<ExprRef> indices;
  bool fine = true;
  for (const lang::ExprRef& a : e.args) {
    indices.push_back(index(a));
    fine = fine && indices.back() != nullptr;
  }
  ExprRef otherwise = e.otherwise ? value(e.otherwise) : nullptr;
  if (e.otherwise && !otherwise) fine = false;
  const std::optional<Symbol> symbol = find_tensor(e);
  if (!symbol) return nullptr;
  const View* view = symbol->view >= 0 ? &binder_.views_[static_cast<size_t>(symbol->view)] : nullptr;
  const auto& shape = view ? view->shape : binder_.program_.tensor(symbol->tensor).shape;
  const size_t rank = shape.size() - symbol->fixed.size();
  if (rank != e.args.size()) {
    std::string extents;
    bool known = rank > 0;  // a local's may be not known yet
    for (size_t d = symbol->fixed.size(); d < shape.size(); ++d) {
      extents += (extents.empty() ? "" : "x") + std::to_string(shape[d]);
      known = known && shape[d] >= 0;
    }
    error("E006", e.span,
          fmt::format("`{}` has rank {}{} but {} ind{}", e.text, rank, known ? " (" + extents + ")" : "", e.args.size(),
                      e.args.size() == 1 ? "ex" : "ices"),
          "no broadcasting: one index a dimension, 0 where the extent is 1, as in `b[k,0,0]`");
    return nullptr;
  }
  if (!fine) return nullptr;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d]->op == Op::kIndex) draft_.bare.push_back({indices[d]->id, e.text, *symbol, d, e.args[d]->span});
  }
  if (!otherwise) draft_.checks.push_back({e.text, *symbol, -1, indices, facts_, e.span});
  if (view) return read_view(*view, indices, otherwise, e.span);
  return read_tensor(*symbol, std::move(indices), std::move(otherwise), e.span);
}

ExprRef Elaborator::read_tensor(const Symbol& symbol, std::vector<ExprRef> indices, ExprRef otherwise, Span span) {
  std::vector<ExprRef> all;
  for (const int64_t f : symbol.fixed) all.push_back(make_int(f));
  all.insert(all.end(), indices.begin(), indices.end());
  ExprRef r =
      make_read(symbol.tensor, binder_.program_.tensor(symbol.tensor).value, std::move(all), std::move(otherwise));
  std::const_pointer_cast<Expr>(r)->span = here(span);
  draft_.reads.push_back({r, facts_, span});
  return r;
}

}  // namespace solstice::ir
