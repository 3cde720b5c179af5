#include "evaluate/findings/program_facts.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/parallel.h"
#include "base/paths.h"
#include "base/version.h"
#include "diagnose/occupancy.h"
#include "diagnose/place.h"
#include "evaluate/by_kernel.h"
#include "evaluate/findings/profile_build.h"
#include "families/emission.h"

namespace solstice::evaluate {
namespace {

constexpr const char* kFallback = "_fallback";  // a guard's, on operands of a huge dynamic range (docs/numerics.md)

int line_at(const std::string& text, int offset) {
  const auto end = text.begin() + std::clamp<long>(offset, 0, static_cast<long>(text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

std::string kind_of_tensor(const ir::Tensor& tensor) {
  switch (tensor.kind) {
    case ir::TensorKind::kParam:
      return "param";
    case ir::TensorKind::kBuffer:
      return "state";
    case ir::TensorKind::kInput:
      return "input";
    case ir::TensorKind::kOutput:
      return "output";
    default:
      return "intermediate";
  }
}

class Sheet {
 public:
  Sheet(const FactsOfCandidate& from, const ir::Kernel& kernel)
      : from_(from), program_(*from.checked.program), kernel_(kernel) {}

  KernelSheet make(const KernelFacts* needs) {
    out_.kernel = kernel_.name;
    out_.family = kernel_.family;
    out_.once = kernel_.once;
    out_.schedule = kernel_.family + "(" + ir::to_text(kernel_.knobs) + ")";
    if (needs) out_.needs = needs->needs;
    add_row();
    add_equations();
    add_tensors();
    add_model();
    return std::move(out_);
  }

 private:
  void add_row() {
    for (const KernelTableRow& row : from_.table.rows) {
      if (row.kernel != kernel_.name) continue;
      out_.computes = row.computes;
      out_.missing = row.missing;
      out_.math = row.math;
      out_.bound = row.bound;
      out_.predicted = row.predicted;
      out_.limited_by = row.limited_by;
    }
  }

  void add_equations() {
    for (const int id : kernel_.equations) {
      const ir::Equation& equation = program_.equation(id);
      out_.equations.push_back({ir::to_text(program_, equation), line_at(from_.text, equation.span.begin)});
    }
  }

  void add_tensor(int id, bool written) {
    const ir::Tensor& tensor = program_.tensor(id);
    const bool local = tensor.kind == ir::TensorKind::kLocal || !tensor.dtype;
    if (local || !seen_.insert({id, written}).second) return;
    const double bytes = static_cast<double>(tensor.elements()) * size_of(*tensor.dtype);
    out_.tensors.push_back(
        {tensor.name, kind_of_tensor(tensor), std::string(name_of(*tensor.dtype)), written, Bytes(bytes)});
  }

  void add_tensors() {
    for (const int id : kernel_.equations) {
      const ir::Equation& equation = program_.equation(id);
      ir::walk(equation.rhs, [&](const ir::Expr& e) {
        if (e.op == ir::Op::kRead) add_tensor(e.id, false);
      });
      add_tensor(equation.target, true);
    }
  }

  void add_model() {
    const families::Context context{program_, from_.setting.machine, policy_of(from_.setting, program_),
                                    from_.setting.frozen};
    const families::Family* family = families::find_family(kernel_.family);
    if (!family || !family->cost || ir::is_space(kernel_.knobs)) return;
    if (const auto cost = family->cost(context, kernel_); cost.ok()) {
      out_.form = cost->form;
      for (const auto& [name, time] : cost->terms) out_.terms.push_back({name, time});
    }
    ir::Knobs knobs = kernel_.knobs;
    if (family->settle) {
      if (const auto settled = family->settle(context, kernel_); settled.ok()) knobs = *settled;
    }
    for (const auto& [name, value] : knobs.items) out_.knobs[name] = ir::to_text(value);
  }

  const FactsOfCandidate& from_;
  const ir::Program& program_;
  const ir::Kernel& kernel_;
  KernelSheet out_;
  std::set<std::pair<int, bool>> seen_;
};

KernelSheet& sheet_of_step(const std::string& step, Facts& facts) {
  const std::string name(families::kernel_of_step(step));
  for (KernelSheet& kernel : facts.kernels) {
    if (kernel.kernel == name) return kernel;
  }
  return facts.kernels.emplace_back(KernelSheet{.kernel = name, .family = "", .schedule = ""});  // "update.s"
}

void add_resources(const toolchain::Compiled& compiled, StepFacts& out) {
  for (const toolchain::KernelResources& kernel : compiled.kernels) {
    if (kernel.entry != out.entry) continue;
    out.registers = kernel.registers;
    out.spill_stores = kernel.spill_stores;
    out.spill_loads = kernel.spill_loads;
    out.stack_bytes = kernel.stack_bytes;
    out.shared_bytes = kernel.shared_bytes + *out.shared_bytes;
  }
  for (const toolchain::PtxasNote& note : compiled.notes) {
    if (note.kernel.empty() || note.kernel == out.entry) out.notes.push_back(note.text);
  }
}

void add_steps(const Built& built, const machine::Machine& machine, Facts& facts) {
  for (const Step& step : built.plan.steps) {
    StepFacts out;
    out.step = step.name;
    out.prepare = step.phase == Phase::kPrepare;
    if (step.kind == StepKind::kLaunch) {
      out.entry = step.entry;
      out.grid = step.grid;
      out.block = step.block;
      out.cluster = step.cluster;
      out.cooperative = step.cooperative;
      out.pdl = step.pdl;
      out.fallback = step.entry.ends_with(kFallback);
      out.shared_bytes = step.shared_bytes;
      for (size_t i = 0; i < built.plan.modules.size(); ++i) {
        if (built.plan.modules[i].name == step.module) add_resources(built.compiled[i], out);
      }
      if (const auto needs = diagnose::needs_of(out)) out.occupancy = diagnose::occupancy_of(machine, *needs);
    }
    sheet_of_step(step.name, facts).steps.push_back(std::move(out));
  }
}

BoundFacts bounds_of(const sol::SolReport* report) {
  if (!report) return {};
  return {report->io.time, report->work.time, report->practical.time, report->practical.limited_by};
}

}  // namespace

Facts facts_of(const FactsOfCandidate& from) {
  const ir::Program& program = *from.checked.program;
  Facts out;
  out.program = from.text;
  out.numerics = policy_of(from.setting, program);
  out.machine = from.setting.machine.name;
  out.version = version();
  out.frozen = from.setting.frozen;
  out.bounds = bounds_of(from.bounds);
  out.predicted = from.table.predicted;
  for (const ir::Kernel& kernel : program.kernels) {
    const auto needs = std::find_if(from.needs.begin(), from.needs.end(),
                                    [&](const KernelFacts& each) { return each.kernel == kernel.name; });
    out.kernels.push_back(Sheet(from, kernel).make(needs == from.needs.end() ? nullptr : &*needs));
  }
  const std::string none = from.built ? "" : "nothing was compiled";
  const std::string install = from.built ? "" : "./x setup";
  if (from.built) add_steps(*from.built, from.setting.machine, out);
  for (const char* source : {"plan", "ptxas", "cubin"}) set_source({source, from.built != nullptr, none, install}, out);
  set_source({"sass", false, "no machine code was read", "`solstice profile` reads it"}, out);
  set_source({"trace", false, "nothing was timed on a GPU", "`solstice profile` where a GPU is"}, out);
  set_source({"counters", false, "no launch was profiled by ncu", "`solstice profile` where a GPU and ncu are"}, out);
  return out;
}

namespace {

// The repetition of median length: its steps are those of a usual call.
size_t usual_repetition(const run::TimedBlock& traced) {
  std::vector<size_t> order(traced.seconds.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::nth_element(order.begin(), order.begin() + static_cast<long>(order.size() / 2), order.end(),
                   [&](size_t a, size_t b) { return traced.seconds[a] < traced.seconds[b]; });
  return order[order.size() / 2];
}

void add_timeline(const std::vector<const Step*>& steps, const run::TimedBlock& traced, Facts& facts) {
  const size_t usual = usual_repetition(traced);
  if (traced.activity_starts.size() <= usual || traced.activity_starts[usual].size() != steps.size()) return;
  facts.timeline.clear();
  for (size_t i = 0; i < steps.size(); ++i) {
    facts.timeline.push_back(
        {steps[i]->name, Seconds(traced.activity_starts[usual][i]), Seconds(traced.activity_ends[usual][i])});
  }
}

}  // namespace

Status add_trace(const Plan& plan, const run::TimedBlock& traced, const KernelTrace& trace, Facts& facts) {
  SOLSTICE_TRY(const std::vector<const Step*> steps, steps_that_ran(plan, traced));
  for (const TracedKernel& traced_kernel : trace.kernels) {
    for (KernelSheet& kernel : facts.kernels) {
      if (kernel.kernel != traced_kernel.kernel) continue;
      kernel.measured = traced_kernel.measured;
      if (traced_kernel.steps.empty() && kernel.steps.size() == 1) kernel.steps[0].measured = traced_kernel.measured;
    }
    for (const TracedStep& step : traced_kernel.steps) {
      if (StepFacts* found = step_named(step.step, facts)) found->measured = step.measured;
    }
  }
  add_timeline(steps, traced, facts);
  set_source({"trace", true, "", ""}, facts);
  return success();
}

namespace {

// The equation of a place of generated code; of a kernel that has a single one, every place is its.
void name_equations(const KernelSheet& kernel, SassFacts& sass) {
  for (CodePlace& place : sass.places) {
    if (!place.file.empty()) continue;
    if (place.number == 0 && kernel.equations.size() == 1) place.number = 1;
    if (place.number == 0 || static_cast<size_t>(place.number) > kernel.equations.size()) continue;
    const EquationFacts& equation = kernel.equations[static_cast<size_t>(place.number) - 1];
    place.equation = equation.text;
    place.line = equation.line;
  }
}

void add_sass_of(const Plan& plan, const std::string& module, const std::map<std::string, SassFacts>& found,
                 Facts& facts) {
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::kLaunch || step.module != module) continue;
    const auto sass = found.find(step.entry);
    StepFacts* of = step_named(step.name, facts);
    if (!of || sass == found.end()) continue;
    of->sass = sass->second;
    name_equations(sheet_of_step(step.name, facts), *of->sass);
    if (of->counters) diagnose::name_hot_places(*of->sass, *of->counters);
  }
}

void add_reason(const std::string& why, SourceState& state) {
  if (state.why.find(why) == std::string::npos) state.why += (state.why.empty() ? "" : "; ") + why;
}

// Its own kernels alone stay open.
void add_missing_sass(const Plan& plan, const std::string& module, const Error& error, SourceState& state) {
  add_reason(error.message, state);
  if (state.opens.empty()) state.opens = error.hint;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kLaunch && step.module == module) state.missing[step.name] = error.message;
  }
}

// With places; where no profile build can be had, those of the cubin that runs.
SassOfModule placed_sass(const Built& built, size_t i, CodeOfModule code, toolchain::Compiler& lines) {
  Result<std::filesystem::path> headers = data_folder("kernels");
  if (!headers.ok()) return {diagnose::sass_of_cubin(code.cubin, code.options), headers.error().message};
  code.options.headers = std::move(*headers);
  const Result<std::string> cubin = profile_cubin(built, i, lines);
  if (!cubin.ok()) return {diagnose::sass_of_cubin(code.cubin, code.options), cubin.error().message};
  return {diagnose::sass_of_cubin(*cubin, code.options)};
}

// In the order of the modules.
template <typename Read>
std::vector<SassOfModule> side_by_side(size_t modules, const Read& read) {
  std::vector<std::optional<SassOfModule>> found(modules);
  for_each_parallel(modules, [&](size_t i) { found[i] = read(i); });
  std::vector<SassOfModule> out;
  for (std::optional<SassOfModule>& each : found) out.push_back(*std::move(each));
  return out;
}

}  // namespace

void take_sass(const Plan& plan, const std::vector<SassOfModule>& read, Facts& facts) {
  SourceState state{"sass", read.empty(), "", ""};
  for (size_t i = 0; i < read.size(); ++i) {
    const std::string& module = plan.modules[i].name;
    if (read[i].code.ok()) {
      state.there = true;
      add_sass_of(plan, module, *read[i].code, facts);
    } else {
      add_missing_sass(plan, module, read[i].code.error(), state);
    }
    if (!read[i].no_places.empty()) add_reason("no places in the program: " + read[i].no_places, state);
  }
  set_source(std::move(state), facts);
}

std::vector<CodeOfModule> code_of(const Built& built) {
  std::vector<CodeOfModule> out;
  for (size_t i = 0; i < built.compiled.size(); ++i) {
    const families::Source& source = built.sources[i];
    out.push_back({built.compiled[i].cubin, {.source = {source.file_name(), source.lines}}});
  }
  return out;
}

std::vector<SassOfModule> read_code(const std::vector<CodeOfModule>& code) {
  return side_by_side(code.size(),
                      [&](size_t i) { return SassOfModule{diagnose::sass_of_cubin(code[i].cubin, code[i].options)}; });
}

void add_sass(const Built& built, toolchain::Compiler* lines, Facts& facts) {
  const std::vector<CodeOfModule> code = code_of(built);
  const auto placed = [&](size_t i) { return placed_sass(built, i, code[i], *lines); };
  take_sass(built.plan, lines ? side_by_side(code.size(), placed) : read_code(code), facts);
}

}  // namespace solstice::evaluate
