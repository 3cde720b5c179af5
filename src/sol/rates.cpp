#include "sol/rates.h"

#include <algorithm>
#include <map>

namespace solstice::sol {
namespace {

using machine::Machine;
using machine::Pipe;
using numerics::Math;

Pipe pipe_of(Math math, DType operands) {
  if (math != Math::kSimt) return *machine::pipe_from_name(numerics::pipe_name(math));
  return operands == DType::kF64 ? Pipe::kSimtF64 : is_float(operands) ? Pipe::kSimtF32 : Pipe::kSimtI32;
}

// Free and bound indices in one address, overlapping: a window, not the digits of a merged dim (D*h + d, d < D).
bool is_window(const ir::Equation& equation, const ir::Affine& address) {
  int64_t step = 0;
  int64_t span = 0;
  for (const auto& [index, coefficient] : address.terms) {
    const bool free = std::count(equation.free.begin(), equation.free.end(), index) != 0;
    const int64_t size = std::abs(coefficient);
    if (free) step = step == 0 ? size : std::min(step, size);
    if (!free) span += size * (equation.indices[static_cast<size_t>(index)].extent - 1);
  }
  return step > 0 && span >= step;
}

void add_term(std::vector<SolTerm>& out, const Rate& rate, double amount, const char* unit, const std::string& cause) {
  out.push_back({.resource = std::string(name_of(rate.pipe)),
                 .what = rate.math,
                 .time = Seconds(amount / rate.per_second),
                 .amount = amount,
                 .unit = unit,
                 .rate = rate.per_second,
                 .measured = rate.measured,
                 .cause = cause});
}

}  // namespace

bool reads_windows(const ir::Equation& equation) {
  bool found = false;
  const auto look = [&](const ir::ExprRef& e) {
    const auto address = ir::as_affine(e);
    found = found || (address && address->terms.size() > 1 && is_window(equation, *address));
  };
  ir::walk(equation.rhs, [&](const ir::Expr& node) {
    if (node.op == ir::Op::kRead) {
      for (const ir::ExprRef& index : node.args) look(index);
    } else if (node.op == ir::Op::kEq) {
      look(ir::make(ir::Op::kSub, node.args));  // u == 2*i + r - 1
    }
  });
  return found;
}

Result<Rate> pipe_rate(Pipe pipe, const Machine& machine, Basis basis) {
  Rate rate;
  rate.pipe = pipe;
  if (basis == Basis::kHighest) {
    SOLSTICE_TRY(const FlopsPerSecond peak, machine.peak_at_max_clock(pipe));
    rate.per_second = peak.value;
    return rate;
  }
  SOLSTICE_TRY(const machine::Ceiling ceiling, machine.ceiling(pipe));
  rate.per_second = ceiling.per_second;
  rate.measured = ceiling.measured;
  return rate;
}

Result<Rate> simt_rate(DType dtype, const Machine& machine, Basis basis) {
  // Halves are computed in fp32.
  return pipe_rate(dtype == DType::kF64 ? Pipe::kSimtF64 : Pipe::kSimtF32, machine, basis);
}

Result<Rate> contraction_rate(const ir::Program& program, const ir::EquationCount& equation, const Machine& machine,
                              const SolOptions& options, Basis basis) {
  const bool tf32 = reads_windows(program.equation(equation.equation)) ? options.conv_tf32 : options.matmul_tf32;
  const auto own = tf32 ? numerics::OwnMath::kTF32 : numerics::OwnMath::kStrict;
  const DType operands = equation.operands;
  // A narrow format is multiplied as it is or not at all: a machine without its pipe cannot run the program.
  if (is_float(operands) && size_of(operands) < 4) {
    SOLSTICE_TRY(const Pipe needed, machine::tensor_pipe(operands));
    SOLSTICE_CHECK(machine.peak(needed));
  }
  Rate best;
  for (Math math : numerics::legal_maths(options.policy, operands, own)) {
    const Pipe pipe = pipe_of(math, operands);
    if (!machine.has(pipe)) continue;
    SOLSTICE_TRY(Rate rate, pipe_rate(pipe, machine, basis));
    rate.per_second /= numerics::info(math).products;
    rate.math = numerics::info(math).name;
    if (rate.per_second > best.per_second) best = rate;
  }
  if (best.per_second == 0) SOLSTICE_CHECK(machine.peak(pipe_of(Math::kSimt, operands)));
  return best;
}

Result<std::vector<SolTerm>> work_terms(const ir::Program& program, const ir::EquationCount& equation,
                                        const Machine& machine, const SolOptions& options, Basis basis) {
  const ir::Equation& source = program.equation(equation.equation);
  const std::string cause = program.target_of(source).name;
  const ir::Work& work = equation.work;
  std::vector<SolTerm> terms;
  if (work.contraction > 0) {
    SOLSTICE_TRY(const Rate rate, contraction_rate(program, equation, machine, options, basis));
    add_term(terms, rate, 2 * work.contraction, "FLOP", cause);
  }
  if (work.simt > 0) {
    SOLSTICE_TRY(Rate rate, simt_rate(equation.dtype, machine, basis));
    rate.math = "elementwise and sums";
    add_term(terms, rate, 2 * work.simt, "FLOP", cause);
  }
  if (work.sfu > 0) {
    SOLSTICE_TRY(Rate rate, pipe_rate(Pipe::kSfu, machine, basis));
    rate.math = "exp, log, division, roots";
    add_term(terms, rate, work.sfu, "op", cause);
  }
  if (work.integer > 0) {
    SOLSTICE_TRY(Rate rate, pipe_rate(Pipe::kSimtI32, machine, basis));
    rate.math = "integers";
    add_term(terms, rate, 2 * work.integer, "op", cause);
  }
  return terms;
}

Longest longest(const std::vector<SolTerm>& terms) {
  std::map<std::string, Seconds> by_resource;
  for (const SolTerm& term : terms) by_resource[term.resource] += term.time;
  Longest out;
  for (const auto& [resource, time] : by_resource) {
    if (time > out.time) out = {time, resource};
  }
  return out;
}

}  // namespace solstice::sol
