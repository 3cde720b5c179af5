#include "numerics/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "ir/analysis/ancestors.h"
#include "ir/analysis/contraction.h"
#include "ir/equal.h"

namespace solstice::numerics {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"reference", "high", "medium"};

// The math that stands for a policy's class: what PyTorch would run.
Math class_of(Policy policy, DType operands, OwnMath own) {
  if (operands == DType::kF64) return Math::kSimt;
  if (operands == DType::kF16) return Math::kFP16;
  if (operands == DType::kBF16) return Math::kBF16;
  if (operands == DType::kE4M3 || operands == DType::kE5M2) return Math::kFP8;
  if (policy == Policy::kMedium) return Math::kBF16;
  if (policy == Policy::kHigh || own == OwnMath::kTF32) return Math::kTF32;
  return Math::kSimt;
}

double representation(Math math, DType operands) {
  Sum sum;
  sum.dtype = operands;
  return modelled_error(math, sum).representation;
}

double two_ulp(DType dtype) { return 4 * unit_roundoff(dtype); }

bool known(double error) { return std::isfinite(error) && error >= 0; }

// The most terms that PyTorch adds up one after the other: its reductions share a sum among threads and their
// accumulators, its matrix products share k among blocks once it is long. The rest is a tree, which adds a rounding a
// level.
constexpr int64_t kSerialTerms = 512, kSerialProducts = 8192;

bool is_product(const ir::ExprRef& body) {
  return body->op == ir::Op::kMul && ir::reads_anything(body->args[0]) && ir::reads_anything(body->args[1]) &&
         !ir::same(body->args[0], body->args[1]);
}

// The most products in a row before each tensor; equations come in an order in which they can run.
void count_products(const ir::Equation& equation, std::vector<int64_t>& products) {
  int64_t before = 0;
  ir::walk(equation.rhs, [&](const ir::Expr& e) {
    if (e.op == ir::Op::kRead && e.id != equation.target)
      before = std::max(before, products[static_cast<size_t>(e.id)]);
  });
  int64_t& here = products[static_cast<size_t>(equation.target)];
  here = std::max(here, before + ir::has_contraction(equation));
}

int64_t chain_of(const ir::Expr& reduction, int64_t points) {
  const int64_t serial = is_product(reduction.args[0]) ? kSerialProducts : kSerialTerms;
  if (points <= serial) return points;
  return serial + static_cast<int64_t>(std::ceil(std::log2(static_cast<double>(points) / static_cast<double>(serial))));
}

int64_t longest_in(const ir::Equation& equation) {
  int64_t longest = 1;
  ir::walk(equation.rhs, [&](const ir::Expr& node) {
    if (node.op != ir::Op::kReduce) return;
    int64_t points = 1;
    for (int binder : node.binders) points *= equation.indices[static_cast<size_t>(binder)].extent;
    longest = std::max(longest, chain_of(node, points));
  });
  return longest;
}

}  // namespace

std::string_view name_of(Policy policy) { return kNames[static_cast<size_t>(policy)]; }

std::optional<Policy> policy_from_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Policy>(found - kNames.begin());
}

bool is_legal(Math math, Policy policy, DType operands, OwnMath own) {
  const MathInfo& how = info(math);
  if (!is_float(operands)) return math == Math::kSimt;
  if (operands == DType::kF64) return math == Math::kSimt || math == Math::kF64;
  if (math == Math::kF64) return false;
  if (math == Math::kSimt) return true;
  // A narrow operand is multiplied as it is; splitting it, or widening it, only costs.
  if (operands != DType::kF32) return math == class_of(policy, operands, own);
  if (how.format == "f8") return false;
  const double limit = std::max(1.1 * representation(class_of(policy, operands, own), operands), two_ulp(DType::kF32));
  return representation(math, operands) <= limit;
}

namespace {

std::vector<Math> ranked_maths(Policy policy, DType operands, OwnMath own) {
  // Fewest 16-bit-equivalent MMAs a product first: a TF32 one costs two.
  std::vector<Math> legal;
  for (const MathInfo& each : all_maths()) {
    if (is_legal(each.math, policy, operands, own)) legal.push_back(each.math);
  }
  const auto cost = [](Math math) {
    const MathInfo& how = info(math);
    if (!how.tensor) return 1000.0;
    return how.products * (how.format == "tf32" ? 2.0 : how.format == "f8" ? 0.5 : how.format == "f64" ? 16.0 : 1.0);
  };
  std::stable_sort(legal.begin(), legal.end(), [&](Math a, Math b) { return cost(a) < cost(b); });
  return legal;
}

using MathQuestion = std::tuple<Policy, DType, OwnMath>;

// Each setting of each product asks.
std::map<MathQuestion, std::vector<Math>> all_answers() {
  std::map<MathQuestion, std::vector<Math>> out;
  for (const Policy policy : {Policy::kReference, Policy::kHigh, Policy::kMedium}) {
    for (const DType operands : all_dtypes()) {
      for (const OwnMath own : {OwnMath::kStrict, OwnMath::kTF32})
        out.emplace(MathQuestion(policy, operands, own), ranked_maths(policy, operands, own));
    }
  }
  return out;
}

}  // namespace

const std::vector<Math>& legal_maths(Policy policy, DType operands, OwnMath own) {
  static const std::map<MathQuestion, std::vector<Math>> answers = all_answers();
  return answers.at({policy, operands, own});
}

Sum longest_sum(const ir::Program& program, int output) {
  Sum sum;
  std::vector<int64_t> products(program.tensors.size(), 0);
  const std::vector<char> needed = ir::ancestors_of(program, output);
  for (const ir::Equation& equation : program.equations) {
    if (!needed[static_cast<size_t>(equation.target)]) continue;
    sum.k = std::max(sum.k, longest_in(equation));
    count_products(equation, products);
  }
  sum.products = products[static_cast<size_t>(output)];
  sum.result = program.tensor(output).dtype.value_or(DType::kF32);
  sum.elements = program.tensor(output).elements();
  // PyTorch sums halves in fp32 and doubles in fp64.
  sum.dtype = sum.result == DType::kF64 ? DType::kF64 : DType::kF32;
  return sum;
}

namespace {

// Bound that the largest of n normal errors exceeds once in ten thousand results, relative to the root mean square of
// their row before half of it was clamped to zero: a ReLU lowers the row's by sqrt(2), and leaves the errors of the
// others as they were.
double largest_of(int64_t n) {
  constexpr double kSeldom = 1e-3, kClamped = 2;
  return std::sqrt(kClamped * 2 * std::log(static_cast<double>(n) / kSeldom));
}

// Rounded operands of products in a row add up in squares. The model's spread of significands is the usual one, not the
// worst: uniform values up to 9/7 of a power of two lose 6 % more, and one operand alone up to a whole unit roundoff.
double modelled_result(Math math, const Sum& sum) {
  constexpr double kUsual = 1.1, kOneAlone = 1 / 0.4247;
  ErrorParts parts = modelled_error(math, sum);
  parts.representation *= (sum.dominated ? kOneAlone : kUsual) * std::sqrt(static_cast<double>(sum.products));
  return parts.total();
}

}  // namespace

Limit limit_of(Policy policy, const Errors& pytorch, const Sum& sum, OwnMath own, const Errors& tf32) {
  Limit limit;
  if (sum.products == 0) policy = Policy::kReference, own = OwnMath::kStrict;
  const Math math = class_of(policy, sum.dtype, own);
  const double modelled = modelled_result(math, sum);
  const auto a_tenth_above = [](double measured) { return known(measured) ? 1.1 * measured : 0.0; };
  // An operation that amplifies an error behind the products (a normalisation, a function that saturates) is in no
  // model, but in this. A result that TF32 leaves less than nine tenths of says nothing of a candidate's, and only the
  // model counts.
  constexpr double kMostOfResult = 0.1;
  const bool counts = policy != Policy::kReference && tf32.normwise <= kMostOfResult;
  const auto own_class = [&](double measured) { return counts ? a_tenth_above(measured) : 0.0; };
  const auto highest = [&](double strict, double lower) {
    return std::max({a_tenth_above(strict), own_class(lower), modelled, two_ulp(sum.result)});
  };
  limit.allowed = {highest(pytorch.normwise, tf32.normwise), 2 * highest(pytorch.elementwise, tf32.elementwise)};
  // PyTorch's own result may be of a better class than `high` and `medium`: its largest error says nothing of theirs.
  if (policy != Policy::kReference)
    limit.allowed.elementwise = std::max(limit.allowed.elementwise, modelled * largest_of(sum.elements));
  if (limit.allowed.normwise == two_ulp(sum.result)) {
    limit.because = fmt::format("2 ulp of {}", solstice::name_of(sum.result));
  } else if (limit.allowed.normwise == modelled) {
    limit.because = fmt::format("modelled: {} terms, {}", sum.k, info(math).name);
  } else if (limit.allowed.normwise == a_tenth_above(pytorch.normwise)) {
    limit.because = fmt::format("1.1 x PyTorch's {:.2g}", pytorch.normwise);
  } else {
    limit.because = fmt::format("1.1 x PyTorch's TF32 {:.2g}", tf32.normwise);
  }
  return limit;
}

std::string violation(const Limit& limit, const Errors& measured) {
  const auto over = [](double error, double allowed) { return !(error <= allowed); };  // NaN is over
  if (over(measured.normwise, limit.allowed.normwise)) {
    return fmt::format("normwise error {:.3g} is above the limit {:.3g} ({})", measured.normwise,
                       limit.allowed.normwise, limit.because);
  }
  if (over(measured.elementwise, limit.allowed.elementwise)) {
    return fmt::format("elementwise error {:.3g} is above the limit {:.3g}", measured.elementwise,
                       limit.allowed.elementwise);
  }
  return "";
}

}  // namespace solstice::numerics
