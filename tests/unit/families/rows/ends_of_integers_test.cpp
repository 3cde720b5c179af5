// Reductions and prefixes of integers at the ends of their types: no family takes them through floats.
#include <algorithm>
#include <limits>

#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

constexpr int kEndRows = 4, kEndColumns = 160;

// Large numbers of both signs whose sums fit, and the least and the largest of the type.
std::vector<double> long_rows(DType dtype) {
  const double unit = dtype == DType::kI64 ? 35184372088831.0 : 16777217.0;  // 2^45 - 1, 2^24 + 1
  std::vector<double> out;
  for (int i = 0; i < kEndRows * kEndColumns; ++i) {
    const int row = i / kEndColumns, at = i % kEndColumns;
    double value = (at % 2 == 0 ? unit - at : -unit + 3 * at) + row;
    if (row == 1 && at == 70) value = dtype == DType::kI64 ? -0x1p63 : -0x1p31;
    if (row == 1 && at == 71) value = dtype == DType::kI64 ? 0x1p63 - 1024 : 0x1p31 - 1;
    out.push_back(value);
  }
  return out;
}

int64_t reduced(const std::string& reducer, const std::vector<double>& values, size_t row, size_t last) {
  const auto begin = values.begin() + static_cast<long>(row * kEndColumns), end = begin + static_cast<long>(last + 1);
  if (reducer == "max") return static_cast<int64_t>(*std::max_element(begin, end));
  if (reducer == "min") return static_cast<int64_t>(*std::min_element(begin, end));
  if (reducer == "argmax") return std::max_element(begin, end) - begin;
  if (reducer == "argmin") return std::min_element(begin, end) - begin;
  int64_t out = reducer == "prod" ? 1 : 0;
  for (auto v = begin; v != end; ++v) {
    if (reducer == "prod")
      out *= 1 + (static_cast<int64_t>(*v) & 1);
    else
      out += static_cast<int64_t>(*v);
  }
  return out;
}

void expect_integers(const std::string& family, DType dtype, const std::vector<std::string>& reducers, bool prefix) {
  const std::string shape = prefix ? "[4, 160]" : "[4]", type(name_of(dtype));
  std::string text = "program ends\ninput x : " + type + "[4, 160]\n", equations;
  for (const std::string& r : reducers) {
    text += "output y_" + r + " : i64" + shape + "\n";
    equations += "  y_" + r + (prefix ? "[m,n] = " + r + "[j where j <= n](" : "[m] = " + r + "[j](") +
                 (r == "prod" ? "1 + x[m,j] % 2" : "x[m,j]") + ")\n";
  }
  const ir::Program program = load_text(text + "kernel k by " + family + " {\n" + equations + "}\n");
  testing::Tensors values;
  auto& x = values[program.find_tensor("x")] = long_rows(dtype);
  const auto got = run_kernel(program, values);
  ASSERT_TRUE(got.ok()) << family << ": " << got.error().text();
  for (const std::string& r : reducers) {
    const auto& y = got->at(program.find_tensor("y_" + r));
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t row = prefix ? i / kEndColumns : i, last = prefix ? i % kEndColumns : kEndColumns - 1;
      if (r == "prod" && last > 50) continue;  // beyond 2^53
      ASSERT_EQ(y[i], static_cast<double>(reduced(r, x, row, last))) << family << ", " << type << ": " << r << " " << i;
    }
  }
}

TEST(EndsOfIntegers, Reductions) {
  const std::vector<std::string> all = {"sum", "max", "min", "argmax", "argmin"};
  for (const DType dtype : {DType::kI32, DType::kI64}) {
    for (const char* family : {"map", "rows", "reduce"}) expect_integers(family, dtype, all, false);
    expect_integers("scan", dtype, {"sum", "max", "min", "prod"}, true);
  }
}

}  // namespace
}  // namespace solstice::families
