#include "sol/bounds.h"

#include <algorithm>

#include "sol/rates.h"

namespace solstice::sol {
namespace {

// The first live equation that reads, or defines, a tensor.
std::string cause_of(const ir::Program& program, const ir::Count& count, int tensor, bool read) {
  for (const ir::EquationCount& each : count.equations) {
    const ir::Equation& equation = program.equation(each.equation);
    const auto is_it = [&](const ir::ReadCount& r) { return r.tensor == tensor; };
    const bool found = read ? std::any_of(each.reads.begin(), each.reads.end(), is_it) : equation.target == tensor;
    if (found) return program.target_of(equation).name;
  }
  return "";
}

// Tensors whose bytes every algorithm moves. Frozen weights may have become anything at load; a buffer whose closed
// form is assumed need not be read.
std::vector<ir::TensorCount> must_read(const ir::Program& program, const ir::Count& count, bool frozen) {
  std::vector<ir::TensorCount> out;
  for (const ir::TensorCount& each : count.inputs) {
    const ir::TensorKind kind = program.tensor(each.tensor).kind;
    const bool weight = kind == ir::TensorKind::kParam || kind == ir::TensorKind::kBuffer;
    if (!(frozen && weight) && !ir::closed_form_of(program, each.tensor)) out.push_back(each);
  }
  return out;
}

double total(const ir::Program& program, const std::vector<ir::TensorCount>& tensors) {
  double sum = 0;
  for (const ir::TensorCount& each : tensors) sum += bytes_of(program, each);
  return sum;
}

SolTerm byte_term(const char* resource, const std::string& what, double bytes, BytesPerSecond rate,
                  const std::string& cause) {
  return {.resource = resource,
          .what = what,
          .time = Bytes(bytes) / rate,
          .amount = bytes,
          .unit = "B",
          .rate = rate.value,
          .measured = false,
          .cause = cause};
}

}  // namespace

double bytes_of(const ir::Program& program, const ir::TensorCount& tensor) {
  return tensor.elements * size_of(program.tensor(tensor.tensor).dtype.value_or(DType::kF32));
}

SolBound io_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine, bool frozen) {
  SolBound bound;
  bound.name = "io";
  bound.meaning = "no run can be faster: bytes that must move";
  const std::vector<ir::TensorCount> reads = must_read(program, count, frozen);
  const double written = total(program, count.outputs);
  // L2 is write-back: what fits there need not reach DRAM before the run ends.
  const double beyond = std::max(0.0, written - machine.l2.value);
  for (const ir::TensorCount& each : reads) {
    bound.terms.push_back(byte_term("dram", "read " + program.tensor(each.tensor).name, bytes_of(program, each),
                                    machine.dram_rate, cause_of(program, count, each.tensor, true)));
  }
  for (const ir::TensorCount& each : count.outputs) {
    if (beyond == 0) break;
    bound.terms.push_back(byte_term("dram", "write " + program.tensor(each.tensor).name + " beyond L2",
                                    bytes_of(program, each) * beyond / written, machine.dram_rate,
                                    cause_of(program, count, each.tensor, false)));
  }
  bound.terms.push_back(byte_term("l2 to sm", "all reads", total(program, reads), machine.l2_rate(), ""));
  bound.terms.push_back(byte_term("sm to l2", "all writes", written, machine.l2_rate(), ""));
  const Longest most = longest(bound.terms);
  bound.time = most.time;
  bound.limited_by = most.resource;
  return bound;
}

Seconds warm_io(const ir::Program& program, const ir::Count& count, const machine::Machine& machine, bool frozen) {
  const double reads = total(program, must_read(program, count, frozen));
  const double written = total(program, count.outputs);
  // At best L2 holds the inputs when the run starts, and the outputs when it ends.
  const double dram = std::max(0.0, reads - machine.l2.value) + std::max(0.0, written - machine.l2.value);
  return std::max(Bytes(dram) / machine.dram_rate, Bytes(std::max(reads, written)) / machine.l2_rate());
}

Result<SolBound> work_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine,
                            const SolOptions& options) {
  SolBound bound;
  bound.name = "work";
  bound.meaning = "operations of these equations on the fastest pipes allowed";
  for (const ir::EquationCount& each : count.equations) {
    SOLSTICE_TRY(const std::vector<SolTerm> terms, work_terms(program, each, machine, options, Basis::kHighest));
    bound.terms.insert(bound.terms.end(), terms.begin(), terms.end());
  }
  const Longest most = longest(bound.terms);
  bound.time = most.time;
  bound.limited_by = most.resource;
  return bound;
}

}  // namespace solstice::sol
