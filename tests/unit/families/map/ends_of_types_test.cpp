// Operators in generated kernels, compiled for the host, and in the interpreter, at the ends of their types.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "ir/interpret.h"
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

__extension__ typedef __int128 Integer;

constexpr double kCounted = 9007199254740992.0;  // below, the interpreter counts exactly
constexpr double kRealInf = std::numeric_limits<double>::infinity();

using Points = std::vector<std::pair<double, double>>;

// y0 .. of pairs of elements.
std::string program_of(DType in, DType out, const std::vector<std::string>& values, size_t points) {
  std::string text = fmt::format("program ends\ninput a : {0}[{1}]\ninput b : {0}[{1}]\n", name_of(in), points);
  for (size_t k = 0; k < values.size(); ++k) text += fmt::format("output y{} : {}[{}]\n", k, name_of(out), points);
  text += "kernel k by map {\n";
  for (size_t k = 0; k < values.size(); ++k) text += fmt::format("  y{}[n] = {}\n", k, values[k]);
  return text + "}\n";
}

// One row of results a value.
std::vector<std::vector<double>> in_kernel(DType in, DType out, const std::vector<std::string>& values,
                                           const Points& points) {
  const ir::Program program = load_text(program_of(in, out, values, points.size()));
  testing::Tensors tensors;
  for (const auto& [a, b] : points) {
    tensors[program.find_tensor("a")].push_back(a);
    tensors[program.find_tensor("b")].push_back(b);
  }
  const auto got = run_kernel(program, tensors);
  EXPECT_TRUE(got.ok()) << got.error().text();
  std::vector<std::vector<double>> rows(values.size());
  if (!got.ok()) return rows;
  for (size_t k = 0; k < values.size(); ++k) rows[k] = got->at(program.find_tensor(fmt::format("y{}", k)));
  return rows;
}

std::vector<double> interpreted(DType in, DType out, const std::string& value, const Points& points) {
  const ir::Program program = load_text(program_of(in, out, {value}, points.size()));
  const auto extent = static_cast<int64_t>(points.size());
  ir::TensorValues inputs = {{"a", {{extent}, {}}}, {"b", {{extent}, {}}}};
  for (const auto& [a, b] : points) {
    inputs["a"].values.push_back(a);
    inputs["b"].values.push_back(b);
  }
  const auto got = ir::interpret(program, inputs);
  EXPECT_TRUE(got.ok()) << value << ": " << got.error().text();
  return got.ok() ? got->at("y0").values : std::vector<double>();
}

Points pairs_of(const std::vector<double>& values) {
  Points out;
  for (const double a : values) {
    for (const double b : values) out.emplace_back(a, b);
  }
  return out;
}

// Nothing: the program stops there.
using Meaning = std::function<std::optional<Integer>(Integer a, Integer b)>;
struct Whole {
  std::string text;
  Meaning meaning;
};

Integer floor_of(Integer a, Integer b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
Integer ceiling_of(Integer a, Integer b) { return -floor_of(-a, b); }

Integer power_of(Integer a, int exponent) {
  Integer out = 1;
  for (; exponent > 0; --exponent) out *= a;
  return out;
}

// Of b where it is not 0.
Meaning unless_zero(const std::function<Integer(Integer, Integer)>& f) {
  return [f](Integer a, Integer b) { return b == 0 ? std::nullopt : std::optional<Integer>(f(a, b)); };
}

std::vector<Whole> whole_operators() {
  std::vector<Whole> out = {
      {"a[n] // b[n]", unless_zero(floor_of)},
      {"a[n] % b[n]", unless_zero([](Integer a, Integer b) { return a - floor_of(a, b) * b; })},
      {"i64(floor(a[n] / b[n]))", unless_zero(floor_of)},
      {"i64(ceil(a[n] / b[n]))", unless_zero(ceiling_of)},
      {"i64(trunc(a[n] / b[n]))", unless_zero([](Integer a, Integer b) { return a / b; })},
      {"i64(a[n] / b[n])", unless_zero([](Integer a, Integer b) { return a / b; })},
      {"a[n] + b[n]", [](Integer a, Integer b) { return a + b; }},
      {"a[n] - b[n]", [](Integer a, Integer b) { return a - b; }},
      {"a[n] * b[n]", [](Integer a, Integer b) { return a * b; }},
      {"-a[n] + 0*b[n]", [](Integer a, Integer) { return -a; }},
      {"abs(a[n])", [](Integer a, Integer) { return a < 0 ? -a : a; }},
      {"sign(a[n])", [](Integer a, Integer) { return (a > 0) - (a < 0); }},
      {"min(a[n], b[n])", [](Integer a, Integer b) { return a < b ? a : b; }},
      {"max(a[n], b[n])", [](Integer a, Integer b) { return a > b ? a : b; }},
      {"select(a[n] < b[n], 1, 0)", [](Integer a, Integer b) { return a < b; }},
      {"select(a[n] == b[n], 1, 0)", [](Integer a, Integer b) { return a == b; }},
      {"select(a[n] >= b[n], a[n], b[n] // 2)", [](Integer a, Integer b) { return a >= b ? a : floor_of(b, 2); }},
      {"a[n]**2", [](Integer a, Integer) { return a * a; }},
      {"sign(a[n])**7 * (a[n] % 4)**8",
       [](Integer a, Integer) { return ((a > 0) - (a < 0)) * power_of(a - floor_of(a, 4) * 4, 8); }},
      {"(a[n] * 2654435761) % 1000", [](Integer a, Integer) {
         const auto product = static_cast<int64_t>(a * 2654435761);  // i64 wraps
         return product - floor_of(product, 1000) * 1000;
       }}};
  for (const int64_t by : {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{1000}, int64_t{16777217}, int64_t{2147483647},
                           int64_t{2147483648}, int64_t{10000000019}}) {
    out.push_back({fmt::format("a[n] // {}", by), [by](Integer a, Integer) { return floor_of(a, by); }});
    out.push_back({fmt::format("a[n] % {}", by), [by](Integer a, Integer) { return a - floor_of(a, by) * by; }});
    out.push_back({fmt::format("i64(floor(a[n] / {}))", by), [by](Integer a, Integer) { return floor_of(a, by); }});
    out.push_back({fmt::format("i64(trunc(a[n] / {}))", by), [by](Integer a, Integer) { return a / by; }});
  }
  return out;
}

void expect_whole(DType dtype, const std::vector<double>& values) {
  const std::vector<Whole> operators = whole_operators();
  const Points points = pairs_of(values);
  std::vector<std::string> texts;
  for (const Whole& o : operators) texts.push_back(o.text);
  const auto rows = in_kernel(dtype, DType::kI64, texts, points);
  for (size_t k = 0; k < operators.size(); ++k) {
    SCOPED_TRACE(std::string(name_of(dtype)) + ": " + operators[k].text);
    Points counted;
    std::vector<double> expected;
    for (size_t i = 0; i < points.size(); ++i) {
      const auto [a, b] = points[i];
      const auto want = operators[k].meaning(static_cast<Integer>(a), static_cast<Integer>(b));
      if (!want || *want != static_cast<int64_t>(*want)) continue;
      const auto stored = static_cast<double>(static_cast<int64_t>(*want));
      ASSERT_EQ(rows[k][i], stored) << static_cast<int64_t>(a) << ", " << static_cast<int64_t>(b);
      const bool fits = std::abs(a) < kCounted && std::abs(b) < kCounted && std::abs(stored) < kCounted;
      if (!fits || (operators[k].text.find("2654435761") != std::string::npos && std::abs(a) > 3e6)) continue;
      counted.push_back(points[i]);
      expected.push_back(stored);
    }
    EXPECT_EQ(interpreted(dtype, DType::kI64, operators[k].text, counted), expected);
  }
}

TEST(EndsOfTypes, Integers) {
  const std::vector<double> small = {
      -2147483648.0, -2147483647.0, -16777217,  -1000,      -7,        -3, -1, 0, 1, 2, 3, 7, 8,
      1000,          16777217,      2000000011, 2147483646, 2147483647};
  expect_whole(DType::kI32, small);
  std::vector<double> large = {-0x1p63,     -0x1p53,    -0x1p53 + 1, -123456789012345, -4294967297,
                               -2147483649, 2147483648, 4294967296,  10500000000,      123456789012345,
                               0x1p53 - 1,  0x1p53,     0x1p53 + 2,  0x1p63 - 1024};
  large.insert(large.end(), small.begin(), small.end());
  expect_whole(DType::kI64, large);
  expect_whole(DType::kI8, {-128, -127, -7, -1, 0, 1, 7, 127});
  expect_whole(DType::kU8, {0, 1, 7, 128, 255});
}

// Ids of a hashed table, near 2^40, in a gather.
TEST(EndsOfTypes, HashedLookup) {
  const ir::Program program = load_text(
      "program hashed\ninput id : i64[64]\nparam w : f32[97]\noutput y : f32[64]\n"
      "kernel k by map { y[n] = w[(id[n] * 31 + 7) % 97] }\n");
  testing::Tensors values;
  for (int i = 0; i < 64; ++i) values[program.find_tensor("id")].push_back(0x1p40 + i * 16777259.0 - (i % 2) * 0x1p41);
  for (int i = 0; i < 97; ++i) values[program.find_tensor("w")].push_back(i + 1);
  const auto got = run_kernel(program, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  for (size_t i = 0; i < 64; ++i) {
    const auto place = static_cast<int64_t>(values[program.find_tensor("id")][i]) * 31 + 7;
    EXPECT_EQ(got->at(program.find_tensor("y"))[i], static_cast<double>((place % 97 + 97) % 97 + 1));
  }
}

// A quotient that is the index of a read may not leave the tensor, whatever the divisor is.
TEST(EndsOfTypes, QuotientsAsIndices) {
  const ir::Program program = load_text(
      "program places\ninput a : i32[16]\ninput b : i32[16]\nparam w : f32[10]\noutput y : f32[16]\n"
      "kernel k by map { y[n] = w[a[n] // b[n] else -1] }\n");
  testing::Tensors values;
  std::vector<double> expected;
  for (int i = 0; i < 16; ++i) {
    const int a = i % 4 == 0 ? std::numeric_limits<int>::min() : 5 * i, b = i % 4 == 0 ? -1 : i % 5 - 2;
    values[program.find_tensor("a")].push_back(a);
    values[program.find_tensor("b")].push_back(b);
    const Integer q = b == 0 ? 0 : floor_of(a, b);  // by 0 the language stops, the kernel takes 0
    expected.push_back(q >= 0 && q < 10 ? static_cast<double>(q) + 1 : -1);
  }
  for (int i = 0; i < 10; ++i) values[program.find_tensor("w")].push_back(i + 1);
  const auto got = run_kernel(program, values);
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_EQ(got->at(program.find_tensor("y")), expected);
}

double as_stored(DType dtype, double v) {
  return dtype == DType::kF32 ? static_cast<double>(static_cast<float>(v)) : v;
}

bool is_same(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b) : a == b; }

// A quotient beyond the digits of its format is itself rounded.
bool is_near(DType dtype, double a, double b) {
  const double digits = dtype == DType::kF32 ? 0x1p22 : 0x1p51;
  return is_same(a, b) || (std::abs(b) > digits && std::abs(a - b) <= std::abs(b) / digits);
}

void expect_reals(DType dtype, const std::vector<double>& values) {
  const std::vector<std::string> operators = {"floor_divide(a[n], b[n])",
                                              "remainder(a[n], b[n])",
                                              "fmod(a[n], b[n])",
                                              "a[n] + b[n]",
                                              "a[n] - b[n]",
                                              "a[n] * b[n]",
                                              "a[n] / b[n]",
                                              "trunc(f32(a[n] / b[n]))",
                                              "floor(f32(a[n] / 7))",
                                              "floor_divide(a[n], 0.5)",
                                              "remainder(a[n], -3)",
                                              "-a[n] + 0*b[n]",
                                              "abs(a[n])",
                                              "sign(a[n])",
                                              "floor(a[n])",
                                              "ceil(a[n])",
                                              "round(a[n])",
                                              "trunc(a[n])",
                                              "sqrt(a[n])",
                                              "min(a[n], b[n])",
                                              "max(a[n], b[n])",
                                              "select(a[n] < b[n], 1, 0)",
                                              "select(a[n] != b[n], 1, 0)",
                                              "select(isnan(a[n]) or isfinite(b[n]), 1, 0)",
                                              "bf16(a[n])",
                                              "f16(a[n])",
                                              "e5m2(a[n])"};
  const Points points = pairs_of(values);
  const auto rows = in_kernel(dtype, dtype, operators, points);
  for (size_t k = 0; k < operators.size(); ++k) {
    const std::vector<double> expected = interpreted(dtype, dtype, operators[k], points);
    ASSERT_EQ(expected.size(), rows[k].size());
    for (size_t i = 0; i < points.size(); ++i) {
      const double want = as_stored(dtype, expected[i]);
      const bool same = k < 3 ? is_near(dtype, rows[k][i], want) : is_same(rows[k][i], want);
      ASSERT_TRUE(same) << name_of(dtype) << ": " << operators[k] << " of " << points[i].first << ", "
                        << points[i].second << ": " << rows[k][i] << " instead of " << want;
    }
  }
}

TEST(EndsOfTypes, Reals) {
  const auto f32 = [](double v) { return as_stored(DType::kF32, v); };
  std::vector<double> values = {
      0,     1,       -1,        f32(0.1),     f32(0.2), f32(-0.1), 0.5,         f32(0.6), f32(1.0 / 3),
      3,     6,       7,         -7.5,         16777215, 8388607.5, 1e10,        0x1p-149, 0x1p-126,
      65520, 0x1p-24, f32(3e38), f32(-3.4e38), kRealInf, -kRealInf, std::nan("")};
  expect_reals(DType::kF32, values);
  for (const double v : {0.1, 1.0 / 3, 0x1p53 - 1, 1e-310, 5e-324, 1e308}) values.push_back(v);
  expect_reals(DType::kF64, values);
}

}  // namespace
}  // namespace solstice::families
