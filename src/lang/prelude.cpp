#include "lang/prelude.h"

#include "lang/parse.h"

namespace solstice::lang {
namespace {

// Defaults are PyTorch's: a shorter form of a function fixes its last parameters to them.
constexpr std::string_view kPrelude = R"ucut(program prelude
fn square(x) = x * x
fn clamp(x, lo, hi) = min(max(x, lo), hi)
fn relu(x) = max(x, 0)
fn relu6(x) = clamp(x, 0, 6)
fn leaky_relu(x, slope) = select(x > 0, x, slope * x)
fn leaky_relu(x) = leaky_relu(x, 0.01)
fn hardtanh(x, lo, hi) = clamp(x, lo, hi)
fn hardtanh(x) = clamp(x, -1, 1)
fn hardsigmoid(x) = clamp(x + 3, 0, 6) / 6
fn hardswish(x) = x * clamp(x + 3, 0, 6) / 6
fn softsign(x) = x / (1 + abs(x))
fn sigmoid(x) = 1 / (1 + exp(-x))
fn logsigmoid(x) = min(x, 0) - log1p(exp(-abs(x)))
fn silu(x) = x * sigmoid(x)
fn softplus(x) = max(x, 0) + log1p(exp(-abs(x)))
fn softplus(x, beta) = softplus(beta * x) / beta
fn mish(x) = x * tanh(softplus(x))
fn gelu(x) = 0.5 * x * (1 + erf(x / sqrt(2)))
fn gelu_tanh(x) = 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))
fn elu(x, alpha) = select(x > 0, x, alpha * expm1(x))
fn elu(x) = elu(x, 1)
fn celu(x, alpha) = select(x > 0, x, alpha * expm1(x / alpha))
fn celu(x) = celu(x, 1)
fn selu(x) = 1.0507009873554805 * elu(x, 1.6732632423543772)
)ucut";

}  // namespace

std::string_view prelude_text() { return kPrelude; }

const std::vector<Fn>& prelude() {
  static const std::vector<Fn> functions = [] {
    Diagnostics diagnostics;  // a unit test demands that there are none
    std::vector<Fn> out;
    for (const Item& item : parse(kPrelude, diagnostics).items) {
      if (const auto* fn = std::get_if<Fn>(&item.node)) out.push_back(*fn);
    }
    return out;
  }();
  return functions;
}

}  // namespace solstice::lang
