#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/paths.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/gpu/memory.h"
#include "flow/run/report/report_text.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace {

Result<machine::Machine> choose_machine(const Session& state) {
  if (!state.options.machine.empty()) return machine::load_machine(state.options.machine);
  if (state.gpu) return machine::machine_of_device(state.hello.device.name);
  const bool known = state.resumed && !state.resumed->run.machine.empty();
  return machine::load_machine(known ? state.resumed->run.machine : "h200");
}

GpuSideRequest side_request(const Session& state, int ordinal) {
  // The process that started this one is the oracle: its module is on the GPU already.
  const int64_t caller = state.options.oracle_fd ? ::getppid() : 0;
  return {state.options.machine, state.options.numerics,    ordinal,
          state.options.gpus,    !state.options.allow_busy, caller};
}

bool judge_fits(const Session& state, const GpuSideRequest& wanted) {
  const GpuSideRequest& had = state.engine.judge_request;
  return state.judge && had.ordinal == wanted.ordinal && had.machine == wanted.machine && had.gpus == wanted.gpus;
}

Status open_judge(Session& state) {
  const GpuSideRequest wanted = side_request(state, state.hello.device.index);
  if (!judge_fits(state, wanted)) {
    Result<GpuSide> side =
        state.gpu_side.valid() && wanted.ordinal == 0 ? state.gpu_side.get() : start_gpu_side(wanted);
    if (!side.ok()) return std::move(side).error();
    state.judge.reset();  // they use the compiler
    state.engine.further.clear();
    state.compiler = std::move(side->compiler);
    state.judge = std::move(side->judge);
    state.engine.judge_request = wanted;
    state.engine.driver = side->driver;
    state.engine.further = std::move(side->further);
    for (std::string& note : side->notes) state.report.warnings.push_back(std::move(note));
  } else {
    start_further(state.engine.further, wanted, *state.compiler);
  }
  if (!state.engine.driver.empty()) state.report.versions["driver"] = state.engine.driver;
  if (const std::optional<numerics::Policy> policy = numerics::policy_from_name(wanted.numerics)) {
    state.judge->set_policy(*policy);
    for (const FurtherGpu& gpu : state.engine.further) {
      if (gpu.judge) gpu.judge->set_policy(*policy);
    }
  }
  state.judge->serve(&state.engine);
  return state.judge->adopt_thread();
}

}  // namespace

// NVRTC is needed on a GPU; the model device works without it and says so.
Status open_compiler(Session& state) {
  if (state.gpu) SOLSTICE_CHECK(open_judge(state));
  if (state.compiler) {
    state.report.versions["compiler"] = state.compiler->toolchain().version;
    return success();
  }
  toolchain::CompilerOptions options;
  options.arch = state.machine->arch;
  Result<std::unique_ptr<toolchain::Compiler>> compiler = toolchain::Compiler::create(std::move(options));
  if (compiler.ok()) {
    state.compiler = std::move(compiler).value();
    state.report.versions["compiler"] = state.compiler->toolchain().version;
    return success();
  }
  state.report.warnings.push_back("nothing was compiled: " + compiler.error().message);
  return success();
}

int repetitions_for(const Problem& problem, int usual) {
  constexpr double kEasy = 4e9;  // bytes of a problem that a repetition handles in about ten milliseconds
  const double share = kEasy / std::max(memory_need(problem.program).total().value, 1.0);
  return std::clamp(static_cast<int>(usual * share), 3, usual);
}

Standing Session::standing() const {
  Standing s;
  s.trials = static_cast<int>(std::count_if(tree.nodes().begin(), tree.nodes().end(),
                                            [](const auto& n) { return n.id > 0 && n.measurement.has_value(); }));
  s.trials_allowed = options.trials;
  if (eager.value > 0) s.baseline = eager;
  if (bound_practical.value > 0) s.sol = bound_practical;
  if (const search::Node* best = tree.best()) s.best = best->measurement->time;
  s.predicted = !gpu;
  return s;
}

namespace {

// Until a candidate is usable there is nothing to finish with: Ctrl-C ends what Python is at.
void stop_on_interrupt(Session& state) {
  state.oracle->stop_when([&state] { return interrupted() && !state.tree.best(); });
}

Status connect_oracle(Session& state) {
  run::OracleOptions options;
  options.device = state.options.device == "model" ? "cpu" : "auto";
  options.descriptor = state.options.oracle_fd;
  options.warm = state.options.several;
  SOLSTICE_TRY(run::OracleClient client, run::OracleClient::start(options));
  state.oracle.emplace(std::move(client));
  stop_on_interrupt(state);
  if (state.options.device != "model" && !judge_fits(state, side_request(state, 0))) {
    state.gpu_side =
        std::async(std::launch::async, [wanted = side_request(state, 0)] { return start_gpu_side(wanted); });
  }
  SOLSTICE_TRY(state.hello, state.oracle->hello());
  return success();
}

// To a run without a GPU.
std::string way_without_gpu(const OptimizeOptions& options) {
  const char* instead = !options.gpus.given()      ? "use --device model"
                        : options.device == "auto" ? "leave --devices out, which chooses GPUs"
                                                   : "leave --devices out, which chooses GPUs, and use --device model";
  return fmt::format("run `solstice doctor` to see what is missing, or {}: times are then predicted", instead);
}

// The driver's own word where it fails too.
Error why_no_gpu(Session& state) {
  const std::string instead = way_without_gpu(state.options);
  if (state.gpu_side.valid()) {
    Result<GpuSide> side = state.gpu_side.get();
    if (!side.ok()) return fail(side.error().code, side.error().message + "; " + instead);
  }
  return fail(Code::no_gpu,
              fmt::format("PyTorch {} ({}) cannot use the GPU that the driver sees; {}", state.hello.torch,
                          state.hello.cuda ? "for CUDA " + *state.hello.cuda : "built without CUDA", instead));
}

}  // namespace

Status start_oracle(Session& state) {
  return stage(state, "oracle", state.oracle ? "at hand" : "starting Python", [&]() -> Result<std::string> {
    if (state.oracle) {
      stop_on_interrupt(state);
    } else {
      SOLSTICE_CHECK(connect_oracle(state));
    }
    state.gpu = state.hello.device.is_cuda();
    const bool needed = state.options.device == "gpu" || state.options.gpus.given();
    if (needed && !state.gpu) return why_no_gpu(state);
    SOLSTICE_TRY(machine::Machine machine, choose_machine(state));
    state.machine.emplace(std::move(machine));
    state.report.machine = state.machine->name;
    state.report.device = state.gpu ? state.hello.device.name : "model";
    state.report.predicted = !state.gpu;
    if (!state.gpu && state.options.device == "auto")
      state.progress.message("no GPU was found: times are predicted, nothing is measured (--device model)");
    state.report.versions["torch"] = state.hello.torch;
    state.report.versions["python"] = state.hello.python;
    if (state.hello.cuda) state.report.versions["cuda (torch)"] = *state.hello.cuda;
    return fmt::format("torch {}, {}", state.hello.torch,
                       state.gpu ? state.hello.device.name : "no GPU: times are predicted for " + state.machine->title);
  });
}

Status import_problem(Session& state) {
  return stage(state, "import", state.options.file.filename().string(), [&]() -> Result<std::string> {
    if (take_prepared(state)) return std::string("as the run before prepared it");
    const std::filesystem::path cache = state.options.file.empty() ? std::filesystem::path() : graph_cache();
    SOLSTICE_CHECK(start_rivals(state));
    SOLSTICE_TRY(Problem problem, load_problem(*state.oracle, state.options.file, state.options.class_name, cache));
    state.problem.emplace(std::move(problem));
    state.meaning = std::make_unique<evaluate::Meaning>(state.problem->tree);
    for (const importer::ImportNote& note : state.problem->imported.notes) state.report.warnings.push_back(note.text);
    return fmt::format("{} operators, {} equations{}", state.problem->graph.nodes.size(),
                       state.problem->program.equations.size(),
                       state.problem->cached.empty() ? "" : " (graph from the cache)");
  });
}

}  // namespace solstice::flow
