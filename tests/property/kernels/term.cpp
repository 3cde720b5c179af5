#include "property/kernels/term.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace solstice::random_kernels {
namespace {

// Exact where both were and the significand holds every value there may be.
Term made(std::string text, bool exact, int above, int below) {
  return {std::move(text), exact && above + below <= kSignificand, above, below, false};
}

Term real(std::string text, int above) { return {std::move(text), false, above, kAnyStep, false}; }

// A function of one term, and the most it can be.
struct Function {
  const char* text;  // {} is the operand
  int (*above)(int);
  int most = kLargest;  // of the operand
};

int same(int a) { return a; }
int one_more(int a) { return a + 1; }
int at_most_one(int) { return 1; }
int of_logarithm(int) { return 4; }

const Function kGenerated[] = {
    {"tanh({})", at_most_one},
    {"erf({})", at_most_one},
    {"sigmoid({})", at_most_one},
    {"sin({})", at_most_one, 5},
    {"cos({})", at_most_one, 5},
    {"gelu({})", same},
    {"gelu_tanh({})", same, 6},
    {"silu({})", same},
    {"mish({})", one_more, 6},
    {"softplus({})", one_more},
    {"elu({})", one_more},
    {"selu({})", one_more},
    {"logsigmoid({})", one_more},
    {"softsign({})", at_most_one},
    {"hardswish({})", one_more},
    {"exp({})", [](int) { return 12; }, 3},
    {"expm1({})", [](int) { return 12; }, 3},
    {"log(1.5 + abs({}))", of_logarithm},
    {"log1p(abs({}))", of_logarithm},
    {"sqrt(0.5 + abs({}))", [](int a) { return a / 2 + 2; }},
    {"rsqrt(0.5 + abs({}))", at_most_one},
    {"(1 / (1.5 + abs({})))", at_most_one},
    {"(({}) / 3)", same},
};

const Function kExactFunctions[] = {{"abs({})", same},          {"relu({})", same},  {"-({})", same},
                                    {"clamp({}, -2, 3)", same}, {"relu6({})", same}, {"hardtanh({})", same}};
const Function kSteps[] = {{"floor({})", one_more},
                           {"ceil({})", one_more},
                           {"round({})", one_more},
                           {"trunc({})", same},
                           {"sign({})", at_most_one},
                           {"floor_divide({}, 3)", one_more},
                           {"floor_divide({}, -0.75)", [](int a) { return a + 2; }}};

}  // namespace

int bits_of(int64_t count) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 1) - 1)));
}

Term number(Random& random) {
  const int64_t quarters = random.between(-12, 12);
  return made(fmt::format("{}", static_cast<double>(quarters) / 4), true, 2, 2);
}

Term sum_of(Term a, const char* sign, Term b) {
  return made(fmt::format("({} {} {})", a.text, sign, b.text), a.exact && b.exact, std::max(a.above, b.above) + 1,
              std::max(a.below, b.below));
}

Term product_of(Term a, Term b) {
  return made(fmt::format("({} * {})", a.text, b.text), a.exact && b.exact, a.above + b.above,
              std::min(kAnyStep, a.below + b.below));
}

Term extremum_of(const char* function, Term a, Term b) {
  return {fmt::format("{}({}, {})", function, a.text, b.text), a.exact && b.exact, std::max(a.above, b.above),
          std::max(a.below, b.below), false};
}

Term choice_of(const std::string& condition, Term a, Term b) {
  return {fmt::format("select({}, {}, {})", condition, a.text, b.text), a.exact && b.exact, std::max(a.above, b.above),
          std::max(a.below, b.below), false};
}

Term negated(Term a) {
  a.integer = false;
  a.text = fmt::format("(-{})", a.text);
  return a;
}

Term clamped(Term a, int above) {
  if (a.above <= above) return a;
  const int64_t most = (int64_t{1} << above) - 1;
  a.text = fmt::format("clamp({}, -{}, {})", a.text, most, most);
  a.above = above;
  a.integer = false;
  return a;
}

Term repeated(Term a, int64_t count) { return made(std::move(a.text), a.exact, a.above + bits_of(count), a.below); }

Term applied(Random& random, Term a) {
  if (random.percent(30)) {
    const Function& f = kExactFunctions[random.below(static_cast<int>(std::size(kExactFunctions)))];
    const int above = std::max(f.above(a.above), 3);
    return {fmt::format(fmt::runtime(f.text), a.text), a.exact, above, a.below, false};
  }
  const Function& f = kGenerated[random.below(static_cast<int>(std::size(kGenerated)))];
  a = clamped(std::move(a), f.most);
  return real(fmt::format(fmt::runtime(f.text), a.text), f.above(a.above));
}

Term stepped(Random& random, Term exact) {
  const int steps = static_cast<int>(std::size(kSteps)), kind = random.below(steps + 5);
  if (kind < steps) {
    const Function& f = kSteps[kind];
    return made(fmt::format(fmt::runtime(f.text), exact.text), true, std::max(1, f.above(exact.above)), 0);
  }
  if (kind < steps + 2) {  // what a division leaves is a multiple of both operands' steps
    const char* function = random.word({"remainder", "fmod"});
    return made(fmt::format("{}({}, -2.5)", function, exact.text), exact.exact, 2, std::max(exact.below, 1));
  }
  // Rounding to fewer bits leaves multiples of the same step.
  const char* cast = random.word({"bf16", "f16", "f32"});
  return {fmt::format("{}({})", cast, clamped(exact, kLargest).text), true, std::min(exact.above, kLargest) + 1,
          exact.below, false};
}

}  // namespace solstice::random_kernels
