#include "import/text/print.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "import/draft/digits.h"
#include "import/text/loop_names.h"

namespace solstice::importer {
namespace {

enum Precedence { kOr = 1, kAnd, kNot, kCompare, kAdd, kMultiply, kUnary, kPower, kAtom };

int precedence_of(const std::string& op) {
  if (op == "or") return kOr;
  if (op == "and") return kAnd;
  if (op == "+" || op == "-") return kAdd;
  if (op == "*" || op == "/" || op == "//" || op == "%") return kMultiply;
  if (op == "**") return kPower;
  return kCompare;
}

struct Text {
  std::string text;
  int precedence = kAtom;
};

std::string at_least(const Text& part, int precedence) {
  return part.precedence >= precedence ? part.text : "(" + part.text + ")";
}

using Extents = std::map<int, std::set<int64_t>>;  // by loop

void collect_bare(const Draft& draft, const TermRef& term, Extents& out);

// In the reads that a position holds.
void collect_bare(const Draft& draft, const Index& index, Extents& out) {
  for (const IndexTerm& part : index.terms) {
    if (part.atom->kind == AtomKind::kRead) {
      collect_bare(draft, part.atom->read, out);
    } else if (part.atom->kind != AtomKind::kLoop) {
      collect_bare(draft, part.atom->inner, out);
    }
  }
}

// Extents of the dimensions that each loop fills alone in some read.
void collect_bare(const Draft& draft, const TermRef& term, Extents& out) {
  for (const TermRef& arg : term->args) collect_bare(draft, arg, out);
  std::vector<Index> indices = term->indices;
  if (term->kind == TermKind::kRead) {
    const DraftTensor& tensor = draft.tensors[static_cast<size_t>(term->tensor)];
    const std::vector<Size> shape = final_shape(tensor);
    indices = final_indices(tensor, indices);
    for (size_t i = 0; i < indices.size(); ++i) {
      if (const Loop* bare = indices[i].bare()) out[bare->id].insert(shape[i].value());
    }
  }
  for (const Index& index : indices) collect_bare(draft, index, out);
}

class EquationPrinter {
 public:
  EquationPrinter(const Draft& draft, const Names& names) : draft_(draft), names_(names), loops_(draft.dims(), names) {}

  std::string print(const DraftEquation& equation) {
    collect_bare(draft_, equation.rhs, bare_);
    const DraftTensor& target = tensor(equation.tensor);
    const std::vector<Index> lhs = final_indices(target, equation.lhs);
    loops_.name_left(lhs);
    std::string out = fmt::format("{}[{}] = {}", target.name, indices(lhs), term(equation.rhs).text);
    const std::vector<std::string> ranges = ranges_of(target, lhs);
    return ranges.empty() ? out : fmt::format("{} for {}", out, fmt::join(ranges, ", "));
  }

 private:
  const DraftTensor& tensor(int id) const { return draft_.tensors[static_cast<size_t>(id)]; }

  // Explicit ranges for the left indices that neither a read nor the declared target fixes.
  std::vector<std::string> ranges_of(const DraftTensor& target, const std::vector<Index>& lhs) {
    const std::vector<Size> shape = final_shape(target);
    std::vector<std::string> out;
    for (const Loop& loop : loops_.left()) {
      auto extents = bare_.count(loop.id) ? bare_[loop.id] : std::set<int64_t>{};
      if (extents.empty() && target.kind != DraftKind::kLocal) {
        for (size_t i = 0; i < lhs.size(); ++i) {
          const Loop* bare = lhs[i].bare();
          if (bare && bare->id == loop.id) extents.insert(shape[i].value());
        }
      }
      if (extents != std::set<int64_t>{loop.extent}) out.push_back(range(loop));
    }
    return out;
  }

  std::string range(const Loop& loop) {
    return fmt::format("{}<{}", loops_.of(loop.id), size(draft_.dims().size(loop.dim)));
  }

  std::string size(const Size& s) const { return size_text(s, names_, draft_.dims()); }

  std::string indices(const std::vector<Index>& list) {
    std::vector<std::string> out;
    for (const Index& index : list) out.push_back(this->index(index).text);
    return fmt::format("{}", fmt::join(out, ","));
  }

  Text index(const Index& index) {
    const Size offset = index.offset.canonical(draft_.dims());
    std::vector<Text> parts;
    if (!offset.is_constant()) parts.push_back({size(offset), offset_precedence(offset)});
    for (const IndexTerm& term : index.terms) parts.push_back(index_term(term));
    Text out;
    for (const Text& part : parts) {
      const bool first = out.text.empty();
      out.text += (first || part.text[0] == '-' ? "" : "+") + part.text;
      out.precedence = first ? part.precedence : static_cast<int>(kAdd);
    }
    if (!offset.is_constant()) return out;
    if (offset.value() == 0 && !parts.empty()) return out;
    if (parts.empty()) return {std::to_string(offset.value()), offset.value() < 0 ? kUnary : kAtom};
    return {fmt::format("{}{:+}", out.text, offset.value()), kAdd};
  }

  int offset_precedence(const Size& offset) const {
    if (offset.terms().size() != 1) return kAdd;
    const auto& [product, coefficient] = *offset.terms().begin();
    if (coefficient < 0) return kUnary;
    return coefficient == 1 && (product.size() == 1 || names_.products.count(product)) ? kAtom : kMultiply;
  }

  Text index_term(const IndexTerm& term) {
    const Text atom = index_atom(*term.atom);
    const Size coefficient = term.coefficient.canonical(draft_.dims());
    if (coefficient.is_one()) return atom;
    if (coefficient.is_constant() && coefficient.value() == -1) return {"-" + at_least(atom, kUnary), kUnary};
    std::string factor = size(coefficient);
    if (coefficient.terms().size() > 1) factor = "(" + factor + ")";
    return {fmt::format("{}*{}", factor, at_least(atom, kUnary)), kMultiply};
  }

  Text index_atom(const Atom& atom) {
    if (atom.kind == AtomKind::kLoop) return {loops_.of(atom.loop.id), kAtom};
    if (atom.kind == AtomKind::kRead) return term(atom.read);
    const Size divisor = atom.divisor.canonical(draft_.dims());
    std::string by = size(divisor);
    const auto& terms = divisor.terms();
    if (terms.size() > 1 || terms.begin()->first.size() > 1) by = "(" + by + ")";
    return {fmt::format("{}{}{}", at_least(index(atom.inner), kUnary), atom.kind == AtomKind::kDiv ? "//" : "%", by),
            kMultiply};
  }

  Text term(const TermRef& t) {
    switch (t->kind) {
      case TermKind::kLiteral:
        return {t->text, kAtom};
      case TermKind::kIndex:
        return index(t->indices[0]);
      case TermKind::kRead:
        return read(*t);
      case TermKind::kApply:
        return apply(*t);
      case TermKind::kBinary:
        return binary(*t);
      case TermKind::kPrefix: {
        const int precedence = t->text == "-" ? kUnary : kNot;
        return {t->text + at_least(term(t->args[0]), precedence == kUnary ? kPower : kNot), precedence};
      }
      case TermKind::kReduce:
        return reduction(*t);
    }
    return {};
  }

  Text read(const Term& t) {
    std::string inner = indices(final_indices(tensor(t.tensor), t.indices));
    if (t.has_else()) inner += " else " + term(t.args[0]).text;
    return {fmt::format("{}[{}]", tensor(t.tensor).name, inner), kAtom};
  }

  Text apply(const Term& t) {
    std::vector<std::string> args;
    for (const TermRef& arg : t.args) args.push_back(term(arg).text);
    return {fmt::format("{}({})", t.text, fmt::join(args, ", ")), kAtom};
  }

  Text binary(const Term& t) {
    const int own = precedence_of(t.text);
    const bool commutes = t.text == "+" || t.text == "*" || t.text == "and" || t.text == "or";
    int left = own;
    int right = commutes ? own : own + 1;
    if (t.text == "**") left = kAtom, right = kUnary;
    if (own == kCompare) left = right = kAdd;
    // a + (b - c) and h * (0.75 * t) keep their brackets: the order of rounding is the program's.
    const bool is_closed = own >= kAdd && !has_read(t.args[1]);
    if (commutes && (is_closed || (t.args[1]->kind == TermKind::kBinary && t.args[1]->text != t.text))) right = own + 1;
    const std::string a = at_least(term(t.args[0]), left);
    const std::string b = at_least(term(t.args[1]), right);
    return {t.text == "**" ? a + "**" + b : fmt::format("{} {} {}", a, t.text, b), own};
  }

  Text reduction(const Term& t) {
    const LoopNames::Scope outer = loops_.enter(t);
    std::vector<std::string> binders;
    for (const Loop& binder : t.binders) {
      const auto bare = bare_.find(binder.id);
      const bool known = bare != bare_.end() && bare->second == std::set<int64_t>{binder.extent};
      binders.push_back(known ? loops_.of(binder.id) : range(binder));
    }
    const std::string where = t.args.size() > 1 ? (is_ranking(t) ? "; " : " where ") + term(t.args[1]).text : "";
    Text out{fmt::format("{}[{}{}]({})", t.text, fmt::join(binders, ","), where, term(t.args[0]).text), kAtom};
    loops_.leave(outer);
    return out;
  }

  const Draft& draft_;
  const Names& names_;
  LoopNames loops_;
  Extents bare_;
};

}  // namespace

std::string equation_text(const Draft& draft, const DraftEquation& equation, const Names& names) {
  return EquationPrinter(draft, names).print(equation);
}

}  // namespace solstice::importer
