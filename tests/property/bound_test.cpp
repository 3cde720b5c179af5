// The practical bound is no slower than what the planner predicts for its first choice, whatever the program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "ir/bind.h"
#include "propose/expert.h"
#include "sol/sol.h"

namespace solstice {
namespace {

// Programs of elementwise equations, reductions, windows and products over [M, N], each reading what is there already.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  std::string text() {
    const int64_t m = pick({1, 16, 512, 4096}), n = pick({16, 256, 4096});
    full_ = {"x", "z"}, rows_.clear();
    std::string body;
    const int64_t equations = pick({1, 2, 3, 4, 6});
    for (int64_t i = 0; i < equations; ++i) body += equation(fmt::format("t{}", i));
    std::string outputs;
    for (const std::string& name : full_) {
      if (name[0] == 't') outputs += fmt::format("output {} : f32[M, N]\n", name);
    }
    for (const std::string& name : rows_)
      outputs += fmt::format("output {} : f32[{}]\n", name, whole_.contains(name) ? "" : "M");
    return fmt::format(
        "program generated\ndim M = {}, N = {}\ninput x : f32[M, N]\ninput z : f32[M, N]\nparam w : f32[N, N] "
        "\"w\"\n{}\n{}",
        m, n, outputs, body);
  }

 private:
  int64_t pick(std::initializer_list<int64_t> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random_() % list.size()));
  }
  const std::string& any(const std::vector<std::string>& names) { return names[random_() % names.size()]; }

  std::string row_of(const std::string& name) const { return whole_.contains(name) ? name + "[]" : name + "[m]"; }

  std::string equation(const std::string& name) {
    const std::string a = any(full_), b = any(full_);
    switch (random_() % 8) {
      case 0:
        rows_.push_back(name);
        return fmt::format("{}[m] = sum[n]({}[m,n])\n", name, a);
      case 1:
        rows_.push_back(name), whole_.insert(name);
        return fmt::format("{}[] = sum[m,n]({}[m,n])\n", name, a);
      case 2:
        full_.push_back(name);
        return fmt::format("{}[m,n] = sum[k<N]({}[m,k] * w[n,k])\n", name, a);
      case 3:
        if (rows_.empty()) break;
        full_.push_back(name);
        return fmt::format("{}[m,n] = {}[m,n] - {}\n", name, a, row_of(any(rows_)));
      case 4:
        full_.push_back(name);
        return fmt::format("{}[m,n] = {}[m,n] + exp({}[m,n])\n", name, a, b);
      case 5:
        full_.push_back(name);
        return fmt::format("{}[m,n] = max[i<3]({}[m,n+i-1 else -inf])\n", name, a);
      case 6:
        full_.push_back(name);
        return fmt::format("{0}[m,n] = exp({1}[m,n]) / sum[k<N](exp({1}[m,k]))\n", name, a);
      default:
        break;
    }
    full_.push_back(name);
    return fmt::format("{}[m,n] = 2 * {}[m,n] + 1\n", name, a);
  }

  std::mt19937_64 random_;
  std::vector<std::string> full_, rows_;
  std::set<std::string> whole_;
};

machine::Machine h200() {
  return machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
}

// What the planner's partition takes at the least by its cost models; nothing where no family runs the program.
std::optional<double> prediction(const ir::Program& program, const machine::Machine& machine) {
  const propose::PlanningContext context{machine, "reference", false};
  const auto parts = propose::partition(program, context);
  if (!parts.ok()) return std::nullopt;
  const auto axes = propose::axes_of(propose::apply(program, *parts), context);
  EXPECT_TRUE(axes.ok()) << axes.error().text();
  double sum = 0;
  for (const propose::Axis& axis : *axes) sum += std::min_element(axis.predicted.begin(), axis.predicted.end())->value;
  return sum;
}

// Whether the planner could run the program.
bool expect_below(const std::string& text, const machine::Machine& machine) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "generated.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << text << render_text(diagnostics, text, "generated.ucut");
  if (!program.ok()) return false;
  const std::optional<double> predicted = prediction(*program, machine);
  const auto report = sol::analyse(*program, machine, {});
  EXPECT_TRUE(report.ok()) << report.error().text();
  if (!report.ok() || !predicted) return false;
  EXPECT_LE(report->practical.time.value, *predicted * (1 + 1e-9)) << text << sol::render_text(*report);
  return true;
}

TEST(PracticalBound, OfIndependentResultsOfOneInput) {
  for (const char* size : {"M = 16, N = 16", "M = 4096, N = 4096"}) {
    EXPECT_TRUE(expect_below(std::string("program two\ndim ") + size +
                                 "\ninput x : f32[M, N]\noutput a : f32[M, N]\noutput b : f32[M, N]\n"
                                 "output c : f32[]\na[m,n] = x[m,n] + 1\nb[m,n] = x[m,n] * 2\nc[] = sum[m,n](x[m,n])\n",
                             h200()));
  }
}

TEST(PracticalBound, IsNoSlowerThanThePlannersFirstChoice) {
  const machine::Machine machine = h200();
  int planned = 0;
  constexpr int kPrograms = 1000;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    planned += expect_below(RandomProgram(seed).text(), machine);
    if (HasFailure()) return;
  }
  EXPECT_GT(planned, kPrograms * 9 / 10);
}

}  // namespace
}  // namespace solstice
