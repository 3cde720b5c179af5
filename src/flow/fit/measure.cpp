#include "flow/fit/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/version.h"
#include "evaluate/build.h"
#include "evaluate/candidate.h"
#include "flow/fit/cases.h"
#include "run/gpu_use.h"
#include "run/kernel_timer.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

struct Pending {
  KernelTime time;
  std::map<std::string, int64_t> limits;  // of tensors of integers
  std::unique_ptr<evaluate::PendingBuild> build;
};

// Upper limits of tensors of integers: below the least extent that they index.
std::map<std::string, int64_t> limits_of(const ir::Program& program) {
  std::map<std::string, int64_t> out;
  for (const ir::Equation& equation : program.equations) {
    ir::walk(equation.rhs, [&](const ir::Expr& read) {
      if (read.op != ir::Op::kRead) return;
      const std::vector<int64_t>& shape = program.tensor(read.id).shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (read.args[d]->op != ir::Op::kRead) continue;
        const auto [at, added] = out.emplace(program.tensor(read.args[d]->id).name, shape[d]);
        if (!added) at->second = std::min(at->second, shape[d]);
      }
    });
  }
  return out;
}

Result<std::vector<Pending>> begin_case(const FitCase& one, const machine::Machine& machine, int proposals,
                                        toolchain::Compiler& compiler) {
  SOLSTICE_TRY(const std::vector<KernelTime> programs, programs_of(one, machine, proposals));
  std::vector<Pending> out;
  for (const KernelTime& time : programs) {
    const evaluate::Setting setting{machine, one.numerics, false, nullptr, one.problem};
    const evaluate::Checked checked = evaluate::check(time.program, setting);
    SOLSTICE_TRY(evaluate::Lowered lowered, evaluate::lower_text(time.program, setting));
    Pending pending{time, checked.program ? limits_of(*checked.program) : std::map<std::string, int64_t>{}, nullptr};
    pending.build = std::make_unique<evaluate::PendingBuild>(std::move(lowered), machine, compiler);
    out.push_back(std::move(pending));
  }
  return out;
}

// All cases' programs, made side by side while the first ones are timed.
class Preparing {
 public:
  Preparing(const std::vector<FitCase>& cases, const machine::Machine& machine, int proposals,
            toolchain::Compiler& compiler)
      : done_(cases.size()) {
    const auto serve = [this, &cases, &machine, proposals, &compiler] {
      for (size_t i = next_++; i < cases.size(); i = next_++)
        done_[i].set_value(begin_case(cases[i], machine, proposals, compiler));
    };
    for (unsigned k = 0; k < std::max(1u, std::thread::hardware_concurrency()); ++k) threads_.emplace_back(serve);
  }
  ~Preparing() { next_ = done_.size(); }
  Result<std::vector<Pending>> take(size_t i) { return done_[i].get_future().get(); }

 private:
  std::vector<std::promise<Result<std::vector<Pending>>>> done_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::jthread> threads_;  // ends first
};

// A plan of one launch that does nothing.
Result<Seconds> time_of_nothing(run::KernelTimer& timer, toolchain::Compiler& compiler, const std::string& arch) {
  SOLSTICE_TRY(toolchain::Compiled compiled,
               compiler.compile({"empty", "extern \"C\" __global__ void empty() {}\n", {}}));
  if (!compiled.ok()) return fail(Code::no_compiler, "an empty kernel does not compile\n" + compiled.log);
  Plan plan;
  plan.program = "empty";
  plan.target = arch;
  plan.modules.push_back({"empty", "empty.cubin", hash_hex(compiled.cubin), ""});
  Step step;
  step.name = step.module = step.entry = "empty";
  step.block = {32, 1, 1};
  plan.steps.push_back(step);
  SOLSTICE_CHECK(timer.fill(plan, {}));
  SOLSTICE_TRY(const std::vector<double> seconds, timer.time(plan, {compiled.cubin}));
  return Seconds(run::median(seconds));
}

class Measuring {
 public:
  Measuring(const FitOptions& options, std::unique_ptr<run::KernelTimer> timer)
      : options_(options), timer_(std::move(timer)) {}

  Status begin(toolchain::Compiler& compiler, const std::string& arch) {
    if (!timer_) return success();
    SOLSTICE_TRY(empty_, time_of_nothing(*timer_, compiler, arch));
    return success();
  }

  Status run(std::vector<Pending> programs) {
    bool filled = false;
    for (Pending& pending : programs) {
      SOLSTICE_TRY(const evaluate::Built built, pending.build->finish());
      if (!built.ok) {
        refuse(pending.time, built.log);
        continue;
      }
      ++done_.compiled;
      if (!timer_) continue;
      if (!filled) SOLSTICE_CHECK(timer_->fill(built.plan, pending.limits));
      const Status measured = measure(pending.time, built);
      filled = measured.ok();
      if (measured.ok()) continue;
      if (measured.error().code != Code::cuda_error) {
        return fail(measured.error().code,
                    fmt::format("{}: {}\n{}", pending.time.problem, measured.error().message, pending.time.program));
      }
      refuse(pending.time, measured.error().message);
      SOLSTICE_CHECK(reopen());
    }
    return success();
  }

  const FitDone& done() const { return done_; }

 private:
  void refuse(const KernelTime& time, const std::string& why) {
    done_.refused.push_back(fmt::format("{}: {}\n{}", time.problem, why, time.program));
  }

  // A kernel that fails takes the context and all its memory along.
  Status reopen() {
    timer_.reset();
    SOLSTICE_TRY(timer_, run::KernelTimer::open(0));
    return success();
  }

  Status measure(KernelTime& time, const evaluate::Built& built) {
    std::vector<std::string> cubins;
    for (const toolchain::Compiled& each : built.compiled) cubins.push_back(each.cubin);
    Result<std::vector<double>> seconds = timer_->time(built.plan, std::move(cubins));
    if (!seconds.ok()) return seconds.error();
    std::sort(seconds->begin(), seconds->end());
    time.measured = Seconds(run::median(*seconds));
    time.low = Seconds((*seconds)[seconds->size() / 4]);
    time.high = Seconds((*seconds)[3 * seconds->size() / 4]);
    time.empty = empty_;
    time.device = timer_->device();
    time.version = std::string(version());
    time.date = utc_now();
    ++done_.measured;
    return options_.out.empty() ? success() : append_line(options_.out, to_json(time).dump());
  }

  const FitOptions& options_;
  std::unique_ptr<run::KernelTimer> timer_;  // null: nothing is measured
  Seconds empty_{0};
  FitDone done_;
};

Status refuse_others(const run::KernelTimer& timer) {
  const Result<run::GpuUse> use = run::gpu_use(timer.bus_id());
  return use.ok() ? run::refuse_busy(*use) : success();  // without NVML nobody can say
}

}  // namespace

Result<FitDone> measure_fit(const FitOptions& options, Progress& progress) {
  std::filesystem::path table = options.table;
  if (table.empty()) {
    SOLSTICE_TRY(const std::filesystem::path folder, data_folder("bench/families"));
    table = folder / "cases.txt";
  }
  SOLSTICE_TRY(const std::vector<FitCase> cases, read_fit_cases(table, options.only));
  if (cases.empty()) return fail(Code::bad_argument, fmt::format("--only matches no line of {}", table.string()));
  std::unique_ptr<run::KernelTimer> timer;
  if (options.device != "model") {
    SOLSTICE_TRY(timer, run::KernelTimer::open(0));
    if (!options.allow_busy) SOLSTICE_CHECK(refuse_others(*timer));
  }
  SOLSTICE_TRY(const machine::Machine machine, !options.machine.empty() ? machine::load_machine(options.machine)
                                               : timer                  ? machine::machine_of_device(timer->device())
                                                                        : machine::load_machine("h200"));
  toolchain::CompilerOptions compiling;
  compiling.arch = machine.arch;
  SOLSTICE_TRY(const auto compiler, toolchain::Compiler::create(std::move(compiling)));
  Measuring measuring(options, std::move(timer));
  SOLSTICE_CHECK(measuring.begin(*compiler, machine.arch));
  Preparing preparing(cases, machine, options.proposals, *compiler);
  for (size_t i = 0; i < cases.size(); ++i) {
    Result<std::vector<Pending>> programs = preparing.take(i);
    if (!programs.ok())
      return fail(programs.error().code, fmt::format("{}: {}", cases[i].problem, programs.error().message));
    SOLSTICE_CHECK(measuring.run(std::move(programs).value()));
    progress.message(fmt::format("{} of {}: {}", i + 1, cases.size(), cases[i].problem));
  }
  return measuring.done();
}

}  // namespace solstice::flow
