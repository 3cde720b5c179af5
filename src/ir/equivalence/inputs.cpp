// Families of input values: what one family cannot tell apart, another does.
#include <array>
#include <cmath>
#include <random>

#include "ir/equivalence.h"

namespace solstice::ir {
namespace {

constexpr std::array<std::string_view, 6> kFamilies = {"normal", "small integers", "tiny", "large", "negative", "positive"};

double real_value(int family, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double v = normal(random);
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
    default:
      return v;
  }
}

// Values that an integer tensor may index with: below the smallest extent it could address is not known here,
// so they stay small; duplicates and gaps come by themselves.
double integer_value(int64_t below, std::mt19937_64& random) {
  return static_cast<double>(std::uniform_int_distribution<int64_t>(0, below - 1)(random));
}

// The smallest dimension that the tensor's values index, so that gathers stay in range.
int64_t indexed_extent(const Program& program, int tensor) {
  int64_t least = 4;
  bool found = false;
  const auto look = [&](const ExprRef& root) {
    walk(root, [&](const Expr& e) {
      if (e.op != Op::kRead) return;
      const auto& shape = program.tensor(e.id).shape;
      for (size_t d = 0; d < shape.size() && d < e.args.size(); ++d) {
        bool here = false;
        walk(e.args[d], [&](const Expr& i) { here |= i.op == Op::kRead && i.id == tensor; });
        if (here) least = found ? std::min(least, shape[d]) : shape[d];
        found |= here;
      }
    });
  };
  for (const Equation& e : program.equations) look(e.rhs);
  return std::max<int64_t>(1, least);
}

// Integers that the tensor's elements are compared with (`t[m] != -100`): values that decide something.
std::vector<double> special_values(const Program& program, int tensor) {
  std::vector<double> out;
  for (const Equation& equation : program.equations) {
    walk(equation.rhs, [&](const Expr& e) {
      if (e.op < Op::kLt || e.op > Op::kGt) return;
      for (const int side : {0, 1}) {
        const ExprRef& read = e.args[static_cast<size_t>(side)];
        const ExprRef& literal = e.args[static_cast<size_t>(1 - side)];
        if (read->op == Op::kRead && read->id == tensor && literal->op == Op::kInt) out.push_back(static_cast<double>(literal->integer));
      }
    });
  }
  return out;
}

}  // namespace

int input_families() { return static_cast<int>(kFamilies.size()); }

std::string_view input_family_name(int family) { return kFamilies[static_cast<size_t>(family)]; }

TensorValues random_inputs(const Program& program, int family, uint64_t seed) {
  TensorValues out;
  std::vector<bool> given(program.tensors.size(), false);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    given[i] = program.tensors[i].is_interface() && program.tensors[i].kind != TensorKind::kOutput;
  }
  for (const Opaque& o : program.opaques) {
    for (const int r : o.results) given[static_cast<size_t>(r)] = true;
  }
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    if (!given[i]) continue;
    const Tensor& t = program.tensors[i];
    // By name, so that two programs with one interface get the same values.
    std::mt19937_64 random(seed * 1000003 + std::hash<std::string>()(t.name) + static_cast<uint64_t>(family));
    TensorValue v;
    v.shape = t.shape;
    v.values.resize(static_cast<size_t>(t.elements()));
    const int64_t below = t.value == ValueKind::kInt ? indexed_extent(program, static_cast<int>(i)) : 2;
    const std::vector<double> special = t.value == ValueKind::kInt ? special_values(program, static_cast<int>(i)) : std::vector<double>();
    for (double& x : v.values) {
      x = t.value == ValueKind::kReal ? real_value(family, random) : integer_value(below, random);
      const bool decide = family % 2 == 1 && !special.empty() && random() % 4 == 0;
      if (decide) x = special[random() % special.size()];
    }
    out[t.name] = std::move(v);
  }
  return out;
}

}  // namespace solstice::ir
