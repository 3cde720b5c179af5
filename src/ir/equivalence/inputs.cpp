// Families of input values: what one family cannot tell apart, another does.
#include "ir/equivalence/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ir/equivalence.h"
#include "ir/interpret/rounding.h"

namespace solstice::ir {
namespace {

constexpr int kPlain = 6;
constexpr int64_t kLongRow = 32;
constexpr std::array<std::string_view, 10> kFamilies = {"normal",   "small integers", "tiny",          "large",        "negative",
                                                        "positive", "normal * 1000",  "normal * 1e-6", "normal * 1e6", "normal + 3"};

// SplitMix64 (Steele, Lea, Flood 2014): consecutive keys give independent values.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a.
uint64_t key_of(std::string_view name) {
  uint64_t out = 0xcbf29ce484222325u;
  for (const char c : name) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return out;
}

// Close to a normal distribution: the sum of three uniform values, of variance 1.
double normal_of(uint64_t hash) {
  constexpr uint64_t kMask = (1u << 21) - 1;
  const auto sum = static_cast<double>(static_cast<int64_t>((hash & kMask) + (hash >> 21 & kMask) + (hash >> 42 & kMask)));
  return (sum - 1.5 * kMask) * (2.0 / kMask);
}

double real_value(int family, double v) {
  switch (family) {
    case 1:
      return std::nearbyint(2 * v);
    case 2:
      return 1e-3 * v;
    case 3:
      return 30 * v;
    case 4:
      return -std::abs(v);
    case 5:
      return std::abs(v);
    case 6:
      return 1e3 * v;
    case 7:
      return 1e-6 * v;
    case 8:
      return 1e6 * v;
    case 9:
      return v + 3;
    default:
      return v;
  }
}

// What the program does with the values of each tensor.
class Uses {
 public:
  explicit Uses(const Program& program) : program_(program), uses_(program.tensors.size()) {
    for (const Equation& e : program.equations) {
      walk(e.rhs, [&](const Expr& node) {
        if (node.op == Op::kRead) index(node);
        if (node.op >= Op::kLt && node.op <= Op::kGt) compare(node);
      });
    }
  }

  struct Use {
    int64_t below = -1;           // of integers: the smallest dimension that they index, so that gathers stay in range; -1: none
    std::vector<double> special;  // literals that it is compared with (`t[m] != -100`): values that decide something
  };
  const Use& of(size_t tensor) const { return uses_[tensor]; }

 private:
  void index(const Expr& read) {
    const auto& shape = program_.tensor(read.id).shape;
    for (size_t d = 0; d < shape.size() && d < read.args.size(); ++d) {
      walk(read.args[d], [&](const Expr& i) {
        if (i.op != Op::kRead) return;
        int64_t& below = uses_[static_cast<size_t>(i.id)].below;
        below = below < 0 ? shape[d] : std::min(below, shape[d]);
      });
    }
  }

  void compare(const Expr& e) {
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const ExprRef &read = e.args[side], &literal = e.args[1 - side];
      if (read->op != Op::kRead || (literal->op != Op::kInt && literal->op != Op::kReal)) continue;
      const double value = literal->op == Op::kInt ? static_cast<double>(literal->integer) : literal->real;
      if (std::isfinite(value)) uses_[static_cast<size_t>(read->id)].special.push_back(value);
    }
  }

  const Program& program_;
  std::vector<Use> uses_;
};

bool is_result(const Program& program, int tensor) {
  return std::any_of(program.opaques.begin(), program.opaques.end(),
                     [&](const Opaque& o) { return std::find(o.results.begin(), o.results.end(), tensor) != o.results.end(); });
}

}  // namespace

int input_families() { return kPlain; }
int rescaled_families() { return static_cast<int>(kFamilies.size()) - kPlain; }

std::string_view input_family_name(int family) { return kFamilies[static_cast<size_t>(family)]; }

InputFunctions::InputFunctions(const Program& program, int family, uint64_t seed, Integers integers)
    : family_(family), integers_(integers), rules_(program.tensors.size()) {
  const Uses uses(program);
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Tensor& t = program.tensors[i];
    Rule& rule = rules_[i];
    rule.given = (t.is_interface() && t.kind != TensorKind::kOutput) || is_result(program, static_cast<int>(i));
    if (!rule.given) continue;
    // By name, so that two programs with one interface get the same values.
    rule.key = mixed(key_of(t.name) + mixed(seed * 64 + static_cast<uint64_t>(family)));
    rule.kind = t.value;
    const Uses::Use& use = uses.of(i);
    rule.special = use.special;
    int64_t stride = 1;
    for (size_t d = t.shape.size(); d-- > 0; stride *= t.shape[d]) {
      if (t.shape[d] >= kLongRow) rule.rows.emplace_back(stride, t.shape[d]);
    }
    if (t.value != ValueKind::kInt) continue;
    rule.below = use.below < 0 ? 4 : std::max<int64_t>(1, use.below);
    const IntegerRange fits = integer_range(t.dtype.value_or(DType::kI64));
    rule.least = fits.low, rule.most = fits.high;
  }
}

// Duplicates and gaps come by themselves; the first and the last are made frequent. Masks are random, or empty, or full.
double InputFunctions::integer(const Rule& rule, uint64_t hash) const {
  if (rule.kind == ValueKind::kBool && (family_ == 4 || family_ == 5)) return family_ - 4;
  const uint64_t choice = hash >> 32;
  if (rule.kind == ValueKind::kInt && integers_ == Integers::kWide && family_ >= 2 && family_ <= 4) return wide_integer(rule, choice);
  if (family_ % 2 == 1 && !rule.special.empty() && choice % 4 == 0) return rule.special[(choice >> 2) % rule.special.size()];
  if (choice % 16 == 1) return 0;
  if (choice % 16 == 2) return static_cast<double>(rule.below - 1);
  return static_cast<double>((hash & 0xffffffffu) % static_cast<uint64_t>(rule.below));
}

// Around 0, large, or negative, and next to what decides something.
double InputFunctions::wide_integer(const Rule& rule, uint64_t choice) const {
  const auto drawn = [&](int64_t low, int64_t values) {
    return static_cast<double>(low + static_cast<int64_t>(choice % static_cast<uint64_t>(values)));
  };
  double out = family_ == 2   ? drawn(-rule.below, 2 * rule.below)
               : family_ == 3 ? drawn(0, 64 * rule.below)
                              : drawn(-8 * rule.below, 8 * rule.below);
  if (!rule.special.empty() && choice / 1024 % 4 == 0)
    out = rule.special[choice / 4096 % rule.special.size()] + static_cast<double>(choice % 3) - 1;
  return std::clamp(std::trunc(out), rule.least, rule.most);
}

// Larger at both ends of long rows, so that an extremum that misses them is found.
double InputFunctions::at_ends(const Rule& rule, int64_t at, double v) const {
  double factor = 1;
  for (const auto& [stride, extent] : rule.rows) {
    const int64_t i = at / stride % extent;
    factor = i == extent - 1 ? 4 : i == 0 ? std::max(factor, 3.0) : factor;
  }
  return factor * v;
}

void InputFunctions::evaluate(int tensor, const int64_t* at, int64_t n, double* out) const {
  const Rule& rule = rules_[static_cast<size_t>(tensor)];
  const auto hash = [&](int64_t k) { return mixed(rule.key + static_cast<uint64_t>(at[k]) * 0x9e3779b97f4a7c15u); };
  if (rule.kind != ValueKind::kReal) {
    for (int64_t k = 0; k < n; ++k) out[k] = integer(rule, hash(k));
    return;
  }
  for (int64_t k = 0; k < n; ++k) out[k] = normal_of(hash(k));
  if (family_ == 0) return;
  for (int64_t k = 0; k < n; ++k) out[k] = real_value(family_, out[k]);
  if (family_ == 4 || family_ == 5) {
    for (int64_t k = 0; k < n; ++k) out[k] = at_ends(rule, at[k], out[k]);
  }
  if (family_ != 1) return;
  for (int64_t k = 0; k < n; ++k) {  // some are halves, some what decides
    const uint64_t choice = mixed(hash(k) + 1);
    if (choice % 8 == 0) out[k] += 0.5;
    if (choice % 8 == 1 && !rule.special.empty()) out[k] = rule.special[(choice >> 3) % rule.special.size()];
  }
}

namespace {

// Buffers with a closed form hold it.
void hold_assumptions(const Program& program, TensorValues& values) {
  Program forms = program;
  forms.equations.clear();
  forms.kernels.clear();
  forms.opaques.clear();
  forms.items.clear();
  for (Tensor& t : forms.tensors) t.kind = t.is_interface() && t.kind != TensorKind::kOutput ? t.kind : TensorKind::kLocal;
  for (const Equation& e : program.assumptions) {
    Tensor& buffer = forms.tensors[static_cast<size_t>(e.target)];
    if (buffer.kind != TensorKind::kBuffer || !describes_whole(program, e)) continue;
    buffer.kind = TensorKind::kOutput;
    forms.items.push_back({static_cast<int>(forms.equations.size()), -1, -1});
    forms.equations.push_back(e);
  }
  const auto held = interpret(forms, values);
  if (!held.ok()) return;  // of a form that fails at run time nothing is known
  for (const auto& [name, value] : *held) values[name] = value;
}

}  // namespace

TensorValues random_inputs(const Program& program, int family, uint64_t seed) {
  return random_inputs(program, family, seed, InputFunctions::Integers::kInRange);
}

TensorValues random_inputs(const Program& program, int family, uint64_t seed, InputFunctions::Integers integers) {
  TensorValues out;
  const InputFunctions inputs(program, family, seed, integers);
  std::vector<int64_t> at;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    if (!inputs.is_input(static_cast<int>(i))) continue;
    const Tensor& t = program.tensors[i];
    TensorValue v;
    v.shape = t.shape;
    v.values.resize(static_cast<size_t>(t.elements()));
    at.resize(v.values.size());
    std::iota(at.begin(), at.end(), int64_t{0});
    inputs.evaluate(static_cast<int>(i), at.data(), t.elements(), v.values.data());
    out[t.name] = std::move(v);
  }
  if (!program.assumptions.empty()) hold_assumptions(program, out);
  return out;
}

}  // namespace solstice::ir
