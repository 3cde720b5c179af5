#include "families/emission.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "codegen/text/marks.h"

namespace solstice::families {
namespace {

// Instructions an operator compiles to on sm_90, read off the SASS of the functions in kernels/math.
double weight_of(ir::Op op) {
  switch (op) {
    case ir::Op::kErf:
      return 22;
    case ir::Op::kTanh:
      return 16;
    case ir::Op::kExp:
      return 8;
    case ir::Op::kLog:
      return 14;
    case ir::Op::kExpm1:
    case ir::Op::kLog1p:
      return 20;
    case ir::Op::kSin:
    case ir::Op::kCos:
      return 25;
    case ir::Op::kPow:
      return 30;
    case ir::Op::kFmod:
    case ir::Op::kRemainder:
      return 30;
    case ir::Op::kFloorDivide:
      return 45;
    case ir::Op::kAtan2:
    case ir::Op::kErfInv:
      return 40;
    case ir::Op::kLgamma:
      return 100;
    case ir::Op::kDiv:
      return 10;
    case ir::Op::kSqrt:
      return 8;
    case ir::Op::kReal:
    case ir::Op::kInt:
    case ir::Op::kBool:
    case ir::Op::kIndex:
      return 0;
    default:
      return 1;
  }
}

// The same where few digits are wanted.
double short_weight_of(ir::Op op) {
  switch (op) {
    case ir::Op::kErf:
      return 11;
    case ir::Op::kTanh:
      return 11;
    case ir::Op::kExp:
      return 5;
    case ir::Op::kDiv:
      return 7;
    case ir::Op::kSqrt:
      return 4;
    default:
      return weight_of(op);
  }
}

// The weights of nodes, shared ones looked at once. Constants are folded, and a constant divisor is a product.
class Weights {
 public:
  double of(const ir::Expr& e, bool is_short) {
    if (is_constant(e)) return 0;
    if (e.op == ir::Op::kDiv && is_constant(*e.args[1])) return 2;
    return is_short ? short_weight_of(e.op) : weight_of(e.op);
  }

 private:
  bool is_constant(const ir::Expr& e) {
    if (e.op == ir::Op::kReal || e.op == ir::Op::kInt) return true;
    if (e.op < ir::Op::kNeg || e.args.empty()) return false;
    if (const auto found = constant_.find(&e); found != constant_.end()) return found->second;
    const bool out = std::all_of(e.args.begin(), e.args.end(), [&](const auto& arg) { return is_constant(*arg); });
    return constant_[&e] = out;
  }

  std::unordered_map<const ir::Expr*, bool> constant_;
};

// Each distinct node once, at the trips of the reductions around it. A reduction that does not vary with an outer one's
// indices is computed once, not for each of its points.
class InstructionCount {
 public:
  InstructionCount(const codegen::Interner& indices, codegen::ShortValues brief)
      : indices_(indices), short_(std::move(brief)) {}

  double of(const ir::ExprRef& root, std::vector<int> around = {}) {
    if (!seen_.insert(root.get()).second) return 0;
    if (root->op == ir::Op::kReduce) {
      std::erase_if(around, [&](int binder) { return !codegen::depends_on(root, binder); });
      around.insert(around.end(), root->binders.begin(), root->binders.end());
    }
    double trips = 1;
    for (const int binder : around) trips *= static_cast<double>(indices_.index(binder).extent);
    double sum = weights_.of(*root, short_.count(root.get()) > 0) * trips;
    for (const ir::ExprRef& arg : root->args) sum += of(arg, around);
    return sum;
  }

 private:
  const codegen::Interner& indices_;
  codegen::ShortValues short_;
  std::set<const ir::Expr*> seen_;
  Weights weights_;
};

}  // namespace

KnobSpec streaming_knob(std::string otherwise) {
  return {"streaming",
          "name",
          {"both", "loads", "stores", "none"},
          "",
          std::move(otherwise),
          "evict-first hint for accesses to data that is used once"};
}

Streaming streaming_of(const ir::Knobs& knobs, Streaming otherwise) {
  const std::string text = knobs.name_or("streaming", "auto");
  if (text == "auto") return otherwise;
  return {text == "both" || text == "loads", text == "both" || text == "stores"};
}

Argument pointer_to(std::string buffer, int64_t bytes) {
  Argument out;
  out.kind = ArgumentKind::kPointer;
  out.buffer = std::move(buffer);
  out.offset = bytes;
  return out;
}

void add_pointers(const ir::Program& program, const std::vector<int>& tensors, Step& step) {
  for (const int id : tensors) step.arguments.push_back(pointer_to(program.tensor(id).name));
}

std::string part_name(const ir::Kernel& kernel, std::string_view part) {
  return fmt::format("{}-{}", kernel.name, part);
}

std::string_view kernel_of_step(std::string_view step) {
  const size_t part = step.find_last_of("-."), none = std::string_view::npos;
  return part == none || step[part] == '.' ? step : step.substr(0, part);
}

PlanBuffer workspace_buffer(std::string name, int64_t bytes, DType dtype) {
  PlanBuffer out;
  out.name = std::move(name);
  out.dtype = dtype;
  out.bytes = bytes;
  out.shape = {bytes / size_of(dtype)};
  out.strides = {1};
  return out;
}

Step launch_step(const std::string& name, int64_t blocks, int64_t threads) {
  Step out;
  out.name = out.module = name;
  out.entry = codegen::entry_name(name);
  out.grid = {blocks, 1, 1};
  out.block = {threads, 1, 1};
  return out;
}

Result<Emission> one_launch(const ir::Program& program, const ir::Kernel& kernel, const std::string& entry,
                            const std::string& code, const std::vector<int>& tensors, const LaunchShape& shape) {
  if (shape.blocks > INT32_MAX) {
    return fail(Code::too_large,
                fmt::format("kernel `{}` needs {} blocks; a launch holds {}", kernel.name, shape.blocks, INT32_MAX),
                "raise `unroll` or `threads`");
  }
  Emission out;
  out.sources.push_back({kernel.name, code, {}});
  Step step;
  step.name = kernel.name;
  step.phase = kernel.once ? Phase::kPrepare : Phase::kLaunch;
  step.module = kernel.name;
  step.entry = entry;
  step.grid = {shape.blocks, 1, 1};
  step.block = {shape.threads, 1, 1};
  step.cluster = {shape.cluster, 1, 1};
  step.shared_bytes = shape.shared_bytes;
  add_pointers(program, tensors, step);
  out.steps.push_back(std::move(step));
  return out;
}

namespace {

// By its number in the kernel, so that kernels alike have lines alike; 0: of none of the kernel's.
int number_in(const ir::Kernel& kernel, int equation) {
  const auto at = std::find(kernel.equations.begin(), kernel.equations.end(), equation);
  return at == kernel.equations.end() ? 0 : 1 + static_cast<int>(at - kernel.equations.begin());
}

}  // namespace

Result<Emission> unmarked(const ir::Kernel& kernel, Result<Emission> made, int rest, int results) {
  if (!made.ok()) return made;
  for (Source& source : made->sources) {
    if (!source.lines.empty()) continue;  // another family made it
    codegen::Unmarked clean = codegen::unmark(source.code);
    source.code = std::move(clean.code);
    source.lines.reserve(clean.lines.size());
    for (codegen::LineMark& line : clean.lines) {
      const bool own = line.equation >= 0;
      source.lines.push_back(
          {number_in(kernel, own ? line.equation : rest), own ? 0 : number_in(kernel, results), std::move(line.part)});
    }
  }
  return made;
}

std::vector<int> tensors_written(const codegen::FlatKernel& flat) {
  std::vector<int> out;
  for (const codegen::FlatEquation& equation : flat.equations) {
    if (std::find(out.begin(), out.end(), equation.target) == out.end()) out.push_back(equation.target);
  }
  return out;
}

std::vector<std::string> pointer_parameters(const codegen::Emitter& emitter, const std::vector<int>& reads,
                                            const std::vector<int>& writes) {
  std::vector<std::string> out;
  const auto add = [&](int id, std::string_view qualifier) {
    const std::string_view type = codegen::storage_type(*emitter.program().tensor(id).dtype);
    out.push_back(fmt::format("{}{}* SOLSTICE_RESTRICT {}", qualifier, type, emitter.pointer_name(id)));
  };
  for (const int id : reads) add(id, "const ");
  for (const int id : writes) add(id, "");
  return out;
}

static Result<BytesPerSecond> rate_of(const machine::Machine& machine, machine::Ceiling ceiling) {
  if (ceiling.per_second <= 0)
    return fail(Code::bad_machine, fmt::format("machine `{}` states no DRAM rate", machine.name));
  return BytesPerSecond(ceiling.per_second);
}

Result<BytesPerSecond> copy_rate(const machine::Machine& machine) { return rate_of(machine, machine.copy_ceiling()); }
Result<BytesPerSecond> read_rate(const machine::Machine& machine) { return rate_of(machine, machine.read_ceiling()); }

FlopsPerSecond issue_rate(const machine::Machine& machine) {
  constexpr double kSchedulers = 4, kLanes = 32;  // of an SM since Volta: one warp instruction each a clock
  constexpr double kReached = 0.92;               // gelu of bf16, which they bound
  return FlopsPerSecond(kReached * machine.sm_count * kSchedulers * kLanes * machine.max_clock.value);
}

double instructions_of(const codegen::FlatKernel& flat, const std::function<double(const ir::ExprRef&)>& times) {
  std::set<const ir::Expr*> seen;
  Weights weights;
  double sum = 0;
  const auto visit = [&](const auto& self, const ir::ExprRef& e) -> void {
    if (!seen.insert(e.get()).second) return;
    sum += weights.of(*e, false) * times(e);
    for (const ir::ExprRef& arg : e->args) self(self, arg);
  };
  for (const codegen::FlatEquation& equation : flat.equations) visit(visit, equation.rhs);
  return sum;
}

static double instructions_of(const codegen::FlatKernel& flat, codegen::ShortValues brief) {
  InstructionCount count(flat.indices, std::move(brief));
  double sum = 0;
  for (const codegen::FlatEquation& equation : flat.equations) sum += count.of(equation.rhs);
  return sum;
}

double instructions_of(const codegen::FlatKernel& flat) { return instructions_of(flat, codegen::ShortValues()); }

double instructions_of(const ir::Program& program, const codegen::FlatKernel& flat) {
  return instructions_of(flat, codegen::short_values_of(program, flat));
}

void finish_cost(const machine::Machine& machine, Seconds memory, Seconds issue, Cost& cost) {
  const Seconds launch = machine.launch_time();
  cost.time = launch + kStart + std::max(memory, issue);
  cost.bound = launch + kStart > std::max(memory, issue) ? "latency" : memory < issue ? "simt" : "memory";
  cost.terms = {{"launch", launch}, {"start", kStart}, {"memory", memory}, {"issue", issue}};
}

}  // namespace solstice::families
