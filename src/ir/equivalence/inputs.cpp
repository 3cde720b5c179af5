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
constexpr int64_t kLeastRow = 32;
constexpr int kRescaled = 4;
constexpr std::array<std::string_view, 12> kFamilies = {
    "normal",        "small integers", "tiny",         "large",      "negative",       "positive",
    "normal * 1000", "normal * 1e-6",  "normal * 1e6", "normal + 3", "below literals", "beyond literals"};
constexpr int kBelow = kPlain + kRescaled, kBeyond = kBelow + 1;
constexpr double kLeastLiteral = 8, kMostLiteral = 1e12;

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
  const auto sum =
      static_cast<double>(static_cast<int64_t>((hash & kMask) + (hash >> 21 & kMask) + (hash >> 42 & kMask)));
  return (sum - 1.5 * kMask) * (2.0 / kMask);
}

double scaled_value(int family, double v) {
  switch (family) {
    case 2:
      return 1e-3 * v;
    case 3:
      return 30 * v;
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

bool is_row_major(const Tensor& t) {
  int64_t stride = 1;
  for (size_t d = t.shape.size(); d-- > 0; stride *= t.shape[d]) {
    if (t.strides[d] != stride) return false;
  }
  return true;
}

bool is_result(const Program& program, int tensor) {
  return std::any_of(program.opaques.begin(), program.opaques.end(), [&](const Opaque& o) {
    return std::find(o.results.begin(), o.results.end(), tensor) != o.results.end();
  });
}

}  // namespace

int input_families() { return kPlain; }
int rescaled_families() { return kRescaled; }

std::string_view input_family_name(int family) { return kFamilies[static_cast<size_t>(family)]; }

std::vector<int> families_beyond(const Uses& uses) {
  const double literal = uses.largest_literal();
  return literal >= kLeastLiteral && literal <= kMostLiteral ? std::vector<int>{kBelow, kBeyond} : std::vector<int>();
}

int64_t InputFunctions::Shared::place(int64_t position) const {
  int64_t out = offset;
  for (size_t d = shape.size(); d-- > 0; position /= shape[d]) out += position % shape[d] * strides[d];
  return out;
}

InputFunctions::InputFunctions(const Program& program, const Uses& uses, int family, uint64_t seed, Integers integers,
                               int size)
    : family_(family),
      integers_(integers),
      size_(size),
      numbers_(uses.numbers()),
      beyond_(4 * uses.largest_literal()),
      places_(uses.places()),
      rules_(program.tensors.size()) {
  bool negative = true;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Tensor& t = program.tensors[i];
    Rule& rule = rules_[i];
    rule.given = (t.is_interface() && t.kind != TensorKind::kOutput) || is_result(program, static_cast<int>(i));
    if (!rule.given) continue;
    if (t.same >= 0 && is_row_major(program.tensor(t.same)))
      rule.shared = Shared{t.same, t.same_offset, t.shape, t.strides};
    // By name, so that two programs with one interface get the same values.
    rule.key = mixed(key_of(t.name) + mixed(seed * 64 + static_cast<uint64_t>(family)));
    rule.kind = t.value;
    const Uses::Use& use = uses.of(i);
    rule.special = use.special;
    int64_t stride = 1;
    for (size_t d = t.shape.size(); d-- > 0; stride *= t.shape[d]) {
      if (t.shape[d] >= kLeastRow) rule.rows.push_back({stride, t.shape[d], use.extremal.count(d) > 0});
    }
    if (t.value == ValueKind::kReal)
      rule.stored = t.dtype, negative = !negative, rule.negative = negative || family == kBelow;
    if (t.value != ValueKind::kInt) continue;
    rule.below = use.below < 0 ? 4 : std::max<int64_t>(1, use.below);
    const IntegerRange fits = integer_range(t.dtype.value_or(DType::kI64));
    rule.least = fits.low, rule.most = fits.high;
  }
}

// Duplicates and gaps come by themselves; the first and the last are made frequent. Masks are random, or empty, or
// full.
double InputFunctions::integer(const Rule& rule, uint64_t hash) const {
  if (rule.kind == ValueKind::kBool && (family_ == 4 || family_ == 5)) return family_ - 4;
  const uint64_t choice = hash >> 32;
  if (rule.kind == ValueKind::kInt && integers_ == Integers::kSized) return sized_integer(rule, mixed(hash));
  if (rule.kind == ValueKind::kInt && integers_ == Integers::kAnySize && family_ == kFamilyOfAnySize)
    return any_integer(rule, choice);
  if (rule.kind == ValueKind::kInt && integers_ != Integers::kInRange && family_ >= 2 && family_ <= 4)
    return wide_integer(rule, choice);
  if (family_ % 2 == 1 && !rule.special.empty() && choice % 4 == 0)
    return rule.special[(choice >> 2) % rule.special.size()];
  if (choice % 16 == 1) return 0;
  if (choice % 16 == 2) return static_cast<double>(rule.below - 1);
  return static_cast<double>((hash & 0xffffffffu) % static_cast<uint64_t>(rule.below));
}

// Next to powers of two, as far as leaves room to compute with them.
double InputFunctions::any_integer(const Rule& rule, uint64_t choice) const {
  const double power = std::ldexp(1.0, static_cast<int>(choice % 41)) + static_cast<double>(choice / 64 % 3) - 1;
  return std::clamp(choice / 256 % 2 == 0 ? power : -power, rule.least, rule.most);
}

// Next to a power of two, what is decided on, or an end of the type; some small ones beside them.
double InputFunctions::sized_integer(const Rule& rule, uint64_t choice) const {
  const auto draw = [&choice](uint64_t values) {
    const uint64_t out = choice % values;
    choice /= values;
    return static_cast<double>(out);
  };
  const double what = draw(8), near = draw(3) - 1, largest = std::ldexp(1.0, size_);
  double out = largest + near;
  if (what == 3) out = 1.5 * largest;
  if (what == 4) out = std::ldexp(1.0, static_cast<int>(draw(static_cast<uint64_t>(size_) + 1))) + near;
  if (what == 5 && !numbers_.empty()) out = numbers_[static_cast<size_t>(draw(numbers_.size()))] + near;
  if (what == 6 && rule.most <= 2 * largest) out = rule.most;
  if (what == 7) out = draw(7);
  if (draw(2) == 0) out = -out;
  constexpr double kMost = 9223372036854774784.0;  // the largest double below 2^63
  return std::clamp(out, rule.least, std::min(rule.most, kMost));
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

// Larger at both ends of long rows, and in every second row at one place more, so that an extremum that misses them is
// found.
double InputFunctions::at_ends(const Rule& rule, int64_t at, double v) const {
  double factor = 1;
  for (const auto& [stride, extent, extremal] : rule.rows) {
    const int64_t i = at / stride % extent;
    factor = i == extent - 1 ? std::max(factor, 4.0) : i == 0 ? std::max(factor, 3.0) : factor;
    if (!extremal) continue;
    const uint64_t row = mixed(rule.key + static_cast<uint64_t>(at / (stride * extent) * stride + at % stride));
    if (row % 2 == 0 && i == place_in_row(row >> 1, extent)) factor = 8;
  }
  return factor * v;
}

// A place where an index is compared with a literal, or any place.
int64_t InputFunctions::place_in_row(uint64_t choice, int64_t extent) const {
  const int64_t place = places_.empty() || choice % 2 == 0 ? extent : places_[(choice >> 1) % places_.size()];
  return place < extent ? place : static_cast<int64_t>((choice >> 1) % static_cast<uint64_t>(extent));
}

// A value that decides something, or the values of the format on either side of it.
double InputFunctions::next_to(const Rule& rule, uint64_t choice) const {
  const double v = rule.special[choice / 3 % rule.special.size()];
  const double step = 2 * unit_roundoff(rule.stored.value_or(DType::kF32));
  return v + (static_cast<double>(choice % 3) - 1) * step * std::abs(v);
}

double InputFunctions::real(const Rule& rule, int64_t at, uint64_t hash) const {
  const double v = normal_of(hash);
  switch (family_) {
    case 1: {  // some are halves, some what decides
      const uint64_t choice = mixed(hash + 1);
      if (choice % 8 == 1 && !rule.special.empty()) return next_to(rule, choice >> 3);
      return std::nearbyint(2 * v) + (choice % 8 == 0 ? 0.5 : 0);
    }
    case 4:
      return at_ends(rule, at, -std::abs(v));
    case 5:
      return at_ends(rule, at, std::abs(v));
    case kBelow:
    case kBeyond:  // of two signs, so that products are negative too
      return (rule.negative ? -beyond_ : beyond_) * (1 + std::abs(v));
    default:
      return scaled_value(family_, v);
  }
}

void InputFunctions::evaluate(int tensor, const int64_t* at, int64_t n, double* out) const {
  const Rule& rule = rules_[static_cast<size_t>(tensor)];
  if (rule.shared) {
    std::vector<int64_t> there(at, at + n);
    for (int64_t& k : there) k = rule.shared->place(k);
    return evaluate(rule.shared->tensor, there.data(), n, out);
  }
  const auto hash = [&](int64_t k) { return mixed(rule.key + static_cast<uint64_t>(at[k]) * 0x9e3779b97f4a7c15u); };
  if (rule.kind != ValueKind::kReal) {
    for (int64_t k = 0; k < n; ++k) out[k] = integer(rule, hash(k));
    return;
  }
  for (int64_t k = 0; k < n; ++k) out[k] = real(rule, at[k], hash(k));
  if (!rule.stored) return;
  for (int64_t k = 0; k < n; ++k) out[k] = stored_near(*rule.stored, out[k]);
}

namespace {

// Buffers with a closed form hold it.
void hold_assumptions(const Program& program, TensorValues& values) {
  Program forms = program;
  forms.equations.clear();
  forms.kernels.clear();
  forms.opaques.clear();
  forms.items.clear();
  for (Tensor& t : forms.tensors)
    t.kind = t.is_interface() && t.kind != TensorKind::kOutput ? t.kind : TensorKind::kLocal;
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
  return all_values(program, InputFunctions(program, family, seed));
}

TensorValues all_values(const Program& program, const InputFunctions& inputs) {
  TensorValues out;
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
