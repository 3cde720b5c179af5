#include "import/draft/term_mapper.h"

#include <fmt/format.h>

#include "import/draft/digits.h"

namespace solstice::importer {

DraftEquation TermMapper::equation(const DraftEquation& given) {
  DraftEquation out;
  mark("=");
  out.tensor = tensor(given.tensor);
  out.lhs = indices(final_indices(source_.tensors[static_cast<size_t>(given.tensor)], given.lhs));
  left(out);
  out.rhs = term(given.rhs);
  return out;
}

std::vector<Index> TermMapper::indices(const std::vector<Index>& list) {
  std::vector<Index> out;
  mark(fmt::format("[{}", list.size()));
  for (const Index& one : list) out.push_back(index(one));
  return out;
}

Index TermMapper::index(const Index& given) {
  Index out = offset(given.offset);
  mark(fmt::format("+{}", given.terms.size()));
  for (const IndexTerm& part : given.terms) {
    Size coefficient = size(part.coefficient);
    out.terms.push_back({std::move(coefficient), atom(*part.atom)});
  }
  return out;
}

AtomRef TermMapper::atom(const Atom& given) {
  auto out = std::make_shared<Atom>();
  out->kind = given.kind;
  out->read_extent = given.read_extent;
  mark(fmt::format("a{}", static_cast<int>(given.kind)));
  if (given.kind == AtomKind::kLoop) {
    out->loop = loop(given.loop);
  } else if (given.kind == AtomKind::kRead) {
    out->read = term(given.read);
  } else {
    out->inner = index(given.inner);
    out->divisor = size(given.divisor);
  }
  return out;
}

TermRef TermMapper::number(const TermRef& given) {
  const bool negative = given->kind == TermKind::kPrefix;
  mark(fmt::format("#{}{}", negative ? "-" : "", (negative ? given->args[0] : given)->text));
  return given;
}

TermRef TermMapper::term(const TermRef& given) {
  if (is_number(*given)) return number(given);
  Term out;
  out.kind = given->kind;
  out.text = given->text;
  mark(fmt::format("({}{}", static_cast<int>(given->kind), given->text));
  for (const Loop& binder : given->binders) out.binders.push_back(loop(binder));
  if (given->kind == TermKind::kRead) {
    out.tensor = tensor(given->tensor);
    out.indices = indices(final_indices(source_.tensors[static_cast<size_t>(given->tensor)], given->indices));
  } else {
    out.indices = indices(given->indices);
  }
  for (const TermRef& arg : given->args) out.args.push_back(term(arg));
  mark(")");
  if (given->kind == TermKind::kRead) read_made(out);
  return std::make_shared<const Term>(std::move(out));
}

void settle_digits(Draft& draft) {
  for (DraftItem& item : draft.items) {
    if (item.is_equation()) item.equation = TermCopier(draft).equation(item.equation);
  }
  for (DraftTensor& tensor : draft.tensors) {
    tensor.shape = final_shape(tensor);
    tensor.is_merged = false;
  }
}

}  // namespace solstice::importer
