#include "import/draft/term.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "import/graph/damage.h"

namespace solstice::importer {

namespace {

TermRef make(Term term) {
  if (std::find(term.args.begin(), term.args.end(), nullptr) != term.args.end()) damaged("too few operands");
  return std::make_shared<const Term>(std::move(term));
}

}  // namespace

TermRef literal(std::string text) {
  Term out;
  out.text = std::move(text);
  return make(std::move(out));
}

TermRef integer(int64_t value) {
  if (value >= 0) return literal(std::to_string(value));
  return negate(literal(std::to_string(-static_cast<uint64_t>(value))));  // the least has no positive counterpart
}

TermRef real(double value) {
  if (std::isnan(value)) return binary("-", literal("inf"), literal("inf"));
  if (std::signbit(value) && value != 0) return negate(real(-value));
  if (std::isinf(value)) return literal("inf");
  if (value == std::floor(value) && value < 1e15) return integer(static_cast<int64_t>(value));
  std::string text = fmt::format("{}", value);
  const size_t zero = text.find("e-0");  // 1e-5, not 1e-05
  if (zero != std::string::npos) text.erase(zero + 2, 1);
  return literal(std::move(text));
}

TermRef index_value(Index index) {
  Term out;
  out.kind = TermKind::kIndex;
  out.indices.push_back(std::move(index));
  return make(std::move(out));
}

TermRef size_value(const Size& size) { return index_value(Index(size)); }

TermRef read(int tensor, std::vector<Index> at, TermRef otherwise) {
  Term out;
  out.kind = TermKind::kRead;
  out.tensor = tensor;
  out.indices = std::move(at);
  if (otherwise) out.args.push_back(std::move(otherwise));
  return make(std::move(out));
}

TermRef apply(std::string function, std::vector<TermRef> args) {
  Term out;
  out.kind = TermKind::kApply;
  out.text = std::move(function);
  out.args = std::move(args);
  return make(std::move(out));
}

TermRef binary(std::string op, TermRef a, TermRef b) {
  Term out;
  out.kind = TermKind::kBinary;
  out.text = std::move(op);
  out.args = {std::move(a), std::move(b)};
  return make(std::move(out));
}

TermRef also(const TermRef& known, const TermRef& condition) {
  return known ? binary("and", known, condition) : condition;
}

namespace {

TermRef prefix(std::string_view text, TermRef a) {
  Term out;
  out.kind = TermKind::kPrefix;
  out.text = text;
  out.args = {std::move(a)};
  return make(std::move(out));
}

}  // namespace

TermRef negate(TermRef a) { return prefix("-", std::move(a)); }

TermRef logical_not(TermRef a) { return prefix("not ", std::move(a)); }

namespace {

// Result of a reduction over no element.
TermRef of_nothing(const std::string& reducer) {
  if (reducer == "sum") return integer(0);
  if (reducer == "prod") return integer(1);
  if (reducer == "any" || reducer == "all") return literal(reducer == "all" ? "true" : "false");
  if (reducer == "min") return literal("inf");
  return reducer == "mean" || reducer == "var" ? real(std::nan("")) : negate(literal("inf"));
}

TermRef reduce_one(const std::string& reducer, TermRef body, TermRef where) {
  if (reducer == "argmax" || reducer == "argmin") return integer(0);
  if (reducer == "var") body = integer(0);
  return where ? select(std::move(where), std::move(body), of_nothing(reducer)) : body;
}

}  // namespace

TermRef reduce(std::string reducer, std::vector<Loop> binders, TermRef body, TermRef where) {
  // An index of extent 1 stands in no read (it is written 0), so only the others are bound.
  std::erase_if(binders, [](const Loop& loop) { return loop.extent == 1; });
  if (binders.empty()) return reduce_one(reducer, std::move(body), std::move(where));
  Term out;
  out.kind = TermKind::kReduce;
  out.text = std::move(reducer);
  out.binders = std::move(binders);
  out.args.push_back(std::move(body));
  if (where) out.args.push_back(std::move(where));
  return make(std::move(out));
}

TermRef ranked(std::string ranking, Loop binder, TermRef body, Index rank) {
  return reduce(std::move(ranking), {std::move(binder)}, std::move(body), index_value(std::move(rank)));
}

bool is_ranking(const Term& term) { return term.text == "argtop" || term.text == "argbot"; }

TermRef select(TermRef condition, TermRef yes, TermRef no) {
  return apply("select", {std::move(condition), std::move(yes), std::move(no)});
}

TermRef operator+(const TermRef& a, const TermRef& b) { return binary("+", a, b); }
TermRef operator-(const TermRef& a, const TermRef& b) { return binary("-", a, b); }
TermRef operator*(const TermRef& a, const TermRef& b) { return binary("*", a, b); }
TermRef operator/(const TermRef& a, const TermRef& b) { return binary("/", a, b); }

bool is_number(const Term& term) {
  if (term.kind == TermKind::kPrefix)
    return term.text == "-" && term.args[0]->kind == TermKind::kLiteral && is_number(*term.args[0]);
  return term.kind == TermKind::kLiteral && term.text[0] >= '0' && term.text[0] <= '9';
}

bool has_read(const TermRef& term) { return term->kind == TermKind::kRead || any_child(*term, has_read); }

bool is_truth(const Term& term) {
  static const std::set<std::string> kTruths = {"<",    "<=",  ">",   ">=",    "==",       "!=",   "and",  "or",
                                                "not ", "any", "all", "isnan", "isfinite", "bool", "true", "false"};
  return term.text == "select" ? is_truth(*term.args[1]) : kTruths.count(term.text) > 0;
}

namespace {

void count_down(const Term& term, int& left);

void count_down(const Index& index, int& left) {
  for (const IndexTerm& part : index.terms) {
    if (--left < 0) return;
    if (part.atom->read) count_down(*part.atom->read, left);
    count_down(part.atom->inner, left);
  }
}

void count_down(const Term& term, int& left) {
  if (--left < 0) return;
  for (const Index& index : term.indices) count_down(index, left);
  for (const TermRef& arg : term.args) count_down(*arg, left);
}

}  // namespace

bool is_longer(const TermRef& term, int nodes) {
  count_down(*term, nodes);
  return nodes < 0;
}

}  // namespace solstice::importer
