#include "property/kernels/expected.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "evaluate/lower.h"
#include "ir/equivalence.h"
#include "ir/equivalence/magnitude.h"
#include "ir/interpret/rounding.h"
#include "numerics/policy.h"
#include "property/kernels/random.h"
#include "property/kernels/storage.h"

namespace solstice::random_kernels {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kDeadline = 60;
constexpr std::string_view kAscending = "ascending";  // begins the names of tensors whose values are in order
constexpr int kTiny = 2;                              // of ir::random_inputs: normal values times 1e-3

const ir::Tensor& tensor_named(const ir::Program& program, const std::string& name) {
  return program.tensor(program.find_tensor(name));
}

bool is_real(const ir::Tensor& tensor) { return tensor.value == ir::ValueKind::kReal; }

// A few of them, where the sample asks for it.
void break_some(std::vector<double>& values, Random& random) {
  const auto places = static_cast<int64_t>(values.size());
  for (int k = random.below(4); k > 0 && places > 0; --k) {
    values[static_cast<size_t>(random.between(0, places - 1))] = random.of({kNone, HUGE_VAL, -HUGE_VAL});
  }
}

// As they are read back from memory, where several elements may share an address.
void share_storage(const ir::Tensor& tensor, std::vector<double>& values) {
  PlanBuffer buffer;
  buffer.dtype = *tensor.dtype;
  buffer.shape = tensor.shape;
  buffer.strides = tensor.strides;
  buffer.bytes = evaluate::spanned_elements(tensor) * size_of(*tensor.dtype);
  const std::string memory = packed(buffer, values, 0);
  values = unpacked(buffer, reinterpret_cast<const unsigned char*>(memory.data()));
}

// What a rounding loses of what the program computes in.
double roundoff_of(const ir::Program& program) {
  double out = unit_roundoff(DType::kF64);
  for (const ir::Tensor& t : program.tensors) {
    if (t.dtype && is_real(t) && t.kind != ir::TensorKind::kOutput && *t.dtype != DType::kF64)
      out = unit_roundoff(DType::kF32);
  }
  for (const ir::Equation& e : program.equations) {
    ir::walk(e.rhs, [&](const ir::Expr& read) {
      // What is cast to less than f64 is computed with in fp32 from there on.
      if (read.op == ir::Op::kCast && is_float(read.dtype) && read.dtype != DType::kF64)
        out = std::max(out, unit_roundoff(DType::kF32));
      if (read.op != ir::Op::kRead) return;
      const ir::Tensor& t = program.tensor(read.id);
      const bool computed = t.kind == ir::TensorKind::kOutput || t.kind == ir::TensorKind::kTensor;
      if (computed && t.dtype && is_real(t)) out = std::max(out, unit_roundoff(*t.dtype));
    });
  }
  return out;
}

bool is_operand(const ir::Tensor& t) {
  return (t.kind == ir::TensorKind::kInput || t.kind == ir::TensorKind::kParam) && t.dtype && is_real(t);
}

// What products may be of: the formats of what is read, and fp32 where a factor is computed, or another than the other.
std::set<DType> formats_of(const ir::Program& program) {
  std::set<DType> out;
  for (const ir::Tensor& t : program.tensors) {
    if (is_operand(t)) out.insert(*t.dtype);
  }
  bool computed = out.size() > 1;
  for (const ir::Equation& equation : program.equations) {
    ir::walk(equation.rhs, [&](const ir::Expr& e) {
      if (e.op != ir::Op::kMul) return;
      for (const ir::ExprRef& factor : e.args) computed |= factor->op != ir::Op::kRead;
    });
  }
  if (computed && !out.contains(DType::kF64)) out.insert(DType::kF32);
  return out;
}

// The worst of all data and of all maths that the policy allows for operands of these formats.
double sum_error(const ir::Program& program, int output) {
  using numerics::Data;
  const auto policy = numerics::policy_from_name(program.numerics.empty() ? "reference" : program.numerics)
                          .value_or(numerics::Policy::kReference);
  numerics::Sum sum = numerics::longest_sum(program, output);
  sum.result = DType::kF64;  // the storage of the result has a term of its own
  double out = 0;
  for (const DType format : formats_of(program)) {
    sum.dtype = format;
    for (const numerics::Math math : numerics::legal_maths(policy, format)) {
      for (const Data data : {Data::kRandomSign, Data::kPositive, Data::kOutlier}) {
        sum.data = data;
        out = std::max(out, numerics::modelled_error(math, sum).total());
      }
    }
  }
  return out;
}

// Functions of values that end in 16 bits or fewer may be off by 2^-15 (codegen/short_values.h).
double function_error(const ir::Tensor& output) {
  return is_float(*output.dtype) && size_of(*output.dtype) <= 2 ? 0x1p-15 : 0;
}

// What share of its terms a result may be off by.
double share_of(const ir::Program& program, const ir::Tensor& output) {
  const double sums = sum_error(program, program.find_tensor(output.name));
  return kMargin * (kOperations * roundoff_of(program) + sums) + kFunctions * function_error(output);
}

double largest_share(const ir::Program& program) {
  double out = 0;
  for (const ir::Tensor& t : program.tensors) {
    if (t.kind == ir::TensorKind::kOutput && is_real(t)) out = std::max(out, share_of(program, t));
  }
  return out;
}

// Below its normal numbers fp32 has steps of 2^-149, whatever format the result is stored in.
double underflow(const ir::Program& program) {
  return roundoff_of(program) < unit_roundoff(DType::kF32) ? 0 : kOperations * 0x1p-149;
}

// Exponentials below the smallest normal number may be 0, as 1 / (1 + exp(-x)) is where the exponential overflows.
double flushed(const ir::Program& program) {
  bool found = false;
  for (const ir::Equation& equation : program.equations)
    ir::walk(equation.rhs, [&](const ir::Expr& e) { found |= e.op == ir::Op::kExp; });
  return found ? 0x1p-126 : 0;
}

std::vector<double> limits_of(const ir::Program& program, const ir::Tensor& output,
                              const std::vector<double>& magnitudes) {
  const double share = share_of(program, output), least = std::max(flushed(program), underflow(program));
  std::vector<double> out;
  for (const double magnitude : magnitudes)
    out.push_back(std::isfinite(magnitude) ? share * std::abs(magnitude) + least : kNone);
  return out;
}

}  // namespace

// Half a unit in the last place, or of the smallest normal number.
double storage_error(DType dtype, double size) {
  if (!is_float(dtype)) return 0;
  const bool is_half_range = dtype == DType::kF16 || dtype == DType::kE5M2;
  const double least = is_half_range           ? 0x1p-14
                       : dtype == DType::kE4M3 ? 0x1p-6
                       : dtype == DType::kF64  ? 0x1p-1022
                                               : 0x1p-126;
  return unit_roundoff(dtype) * std::max(size, least);
}

ir::TensorValues inputs_of(const Sample& sample, const ir::Program& program, uint64_t seed) {
  Random random(seed_of(seed, sample.name(), 1));
  const int family = !sample.exact && random.percent(15) ? kTiny : 0;
  const bool positive = random.percent(15);
  ir::TensorValues out = ir::random_inputs(program, family, random.next());
  for (auto& [name, tensor] : out) {
    const ir::Tensor& declared = tensor_named(program, name);
    if (is_real(declared)) {
      for (double& v : tensor.values) {
        if (positive) v = std::abs(v);
        v = sample.exact ? std::nearbyint(2 * v) / 2 : ir::rounded(*declared.dtype, v);
      }
      if (sample.not_finite) break_some(tensor.values, random);
    }
    if (name.starts_with(kAscending)) std::sort(tensor.values.begin(), tensor.values.end());
    share_storage(declared, tensor.values);
  }
  return out;
}

Result<Expected> expected_of(const Sample& sample, const ir::Program& program, uint64_t seed) {
  Expected out;
  out.inputs = inputs_of(sample, program, seed);
  ir::InterpretOptions options;
  options.deadline = Deadline(Seconds(kDeadline));
  const ir::Program asked = sample.exact ? program : ir::with_magnitudes(program, true, largest_share(program));
  SOLSTICE_TRY(ir::TensorValues found, ir::interpret(asked, out.inputs, options));
  for (const ir::Tensor& tensor : program.tensors) {
    if (tensor.kind != ir::TensorKind::kOutput) continue;
    Wanted& wanted = out.outputs[tensor.name];
    wanted.values = std::move(found.at(tensor.name).values);
    if (sample.exact || !is_real(tensor)) {
      if (is_real(tensor))
        std::transform(wanted.values.begin(), wanted.values.end(), wanted.values.begin(),
                       [&](double v) { return ir::rounded(*tensor.dtype, v); });
      continue;
    }
    wanted.limits = limits_of(program, tensor, found.at(ir::magnitude_name(tensor.name)).values);
  }
  return out;
}

}  // namespace solstice::random_kernels
