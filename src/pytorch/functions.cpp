#include "pytorch/functions.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "ir/bind.h"
#include "ir/equal.h"
#include "lang/parse.h"

namespace solstice::pytorch {
namespace {

using ir::Expr;
using ir::ExprRef;

struct Pattern {
  ExprRef body;
  int argument;  // the tensor that stands for any expression
  const char* function;
  const char* rest;
};

// Those whose text is one operator already (relu) are written as it.
constexpr struct {
  const char* call;
  const char* function;
  const char* rest;
} kFunctions[] = {
    {"sigmoid(x[i])", "torch.sigmoid", ""},
    {"silu(x[i])", "F.silu", ""},
    {"softplus(x[i])", "F.softplus", ""},
    {"mish(x[i])", "F.mish", ""},
    {"gelu(x[i])", "F.gelu", ""},
    {"gelu_tanh(x[i])", "F.gelu", ", approximate=\"tanh\""},
    {"elu(x[i])", "F.elu", ""},
    {"selu(x[i])", "F.selu", ""},
    {"relu(x[i])", "F.relu", ""},
    {"relu6(x[i])", "F.relu6", ""},
    {"leaky_relu(x[i])", "F.leaky_relu", ""},
    {"hardswish(x[i])", "F.hardswish", ""},
    {"hardsigmoid(x[i])", "F.hardsigmoid", ""},
    {"softsign(x[i])", "F.softsign", ""},
    {"logsigmoid(x[i])", "F.logsigmoid", ""},
};

std::vector<Pattern> patterns() {
  std::vector<Pattern> out;
  for (const auto& [call, function, rest] : kFunctions) {
    Diagnostics diagnostics;
    const std::string text =
        fmt::format("program p\ndim M = 4\ninput x : f32[M]\noutput y : f32[M]\ny[i] = {}\n", call);
    const std::optional<ir::Program> bound = ir::bind(lang::parse(text, diagnostics), diagnostics);
    if (bound) out.push_back({bound->equations[0].rhs, bound->find_tensor("x"), function, rest});
  }
  return out;
}

// Constants that were computed may differ in their last bits.
bool same_number(const Expr& a, const Expr& b) {
  const auto value = [](const Expr& e) { return e.op == ir::Op::kInt ? static_cast<double>(e.integer) : e.real; };
  return value(a) == value(b);
}

bool is_number(const Expr& e) { return e.op == ir::Op::kReal || e.op == ir::Op::kInt; }

bool matches(const ExprRef& pattern, int hole, const ExprRef& e, ExprRef& argument) {
  if (pattern->op == ir::Op::kRead && pattern->id == hole) {
    if (!argument) argument = e;
    return argument == e || ir::same(argument, e);
  }
  if (is_number(*pattern) && is_number(*e)) return same_number(*pattern, *e);
  if (pattern->op != e->op || pattern->args.size() != e->args.size()) return false;
  for (size_t i = 0; i < e->args.size(); ++i) {
    if (!matches(pattern->args[i], hole, e->args[i], argument)) return false;
  }
  return e->op != ir::Op::kReduce && e->op != ir::Op::kRank && e->op != ir::Op::kCast && e->op != ir::Op::kRead;
}

}  // namespace

std::optional<Call> call_of(const ExprRef& e) {
  static const std::vector<Pattern> known = patterns();
  for (const Pattern& pattern : known) {
    if (pattern.body->op != e->op || e->kind != ir::ValueKind::kReal) continue;
    ExprRef argument;
    if (matches(pattern.body, pattern.argument, e, argument) && argument && !is_number(*argument))
      return Call{pattern.function, argument, pattern.rest};
  }
  return std::nullopt;
}

}  // namespace solstice::pytorch
