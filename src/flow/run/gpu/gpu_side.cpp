#include "flow/run/gpu/gpu_side.h"

#include <fmt/format.h>

#include "base/paths.h"
#include "run/gpu_use.h"

namespace solstice::flow {
namespace {

constexpr int kSpares = 4;
// Each holds a context of half a GiB. The driver starts them one after the other, while Python starts.
constexpr int kFirstSpares = 12;

Result<std::unique_ptr<run::Judge>> start_judge(const GpuSideRequest& request, int ordinal,
                                                toolchain::Compiler& compiler) {
  run::JudgeOptions options;
  SOLSTICE_TRY(options.runner.program, companion("solstice-runner"));
  options.runner.device = ordinal;
  options.spares = kSpares;
  options.first_spares = ordinal == request.ordinal ? kFirstSpares : kSpares;
  options.compile = [&compiler](const std::string& source, const std::string&) -> Result<std::string> {
    SOLSTICE_TRY(toolchain::Compiled compiled, compiler.compile({"judge", source, {}}));
    if (!compiled.ok()) return fail(Code::internal, "the judge's own kernels do not compile\n" + compiled.log);
    return std::move(compiled.cubin);
  };
  if (const std::optional<numerics::Policy> policy = numerics::policy_from_name(request.numerics))
    options.policy = *policy;
  return run::Judge::start(std::move(options));
}

// Of every GPU that is visible; no context is opened.
Result<std::vector<GpuKind>> visible_gpus(const rt::Driver& driver) {
  int count = 0;
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGetCount(&count), "count the GPUs"));
  std::vector<GpuKind> out;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cu::Device device = 0;
    char name[256] = {};
    int multiprocessors = 0;
    SOLSTICE_CHECK(driver.check(driver.cuDeviceGet(&device, ordinal), fmt::format("open GPU {}", ordinal)));
    SOLSTICE_CHECK(driver.check(driver.cuDeviceGetName(name, sizeof name, device), "ask for the GPU's name"));
    SOLSTICE_CHECK(driver.check(driver.cuDeviceGetAttribute(&multiprocessors, cu::kMultiprocessors, device),
                                "read a GPU attribute"));
    out.push_back({name, multiprocessors});
  }
  return out;
}

// Before anything of ours runs there.
Status look_at_use(const rt::Driver& driver, int ordinal, const GpuSideRequest& request, GpuSide& side) {
  const std::string which = request.gpus.given() ? fmt::format("GPU {}: ", ordinal) : "";
  cu::Device device = 0;
  char bus_id[256] = {};
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGet(&device, ordinal), fmt::format("open GPU {}", ordinal)));
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGetPCIBusId(bus_id, sizeof bus_id, device), "ask for the GPU's bus id"));
  const Result<run::GpuUse> use = run::gpu_use(bus_id);
  if (!use.ok()) {
    side.notes.push_back(which + "whether others use the GPU is unknown: " + use.error().message);
    return success();
  }
  side.driver = use->driver;
  if (const std::string note = run::use_note(*use); !note.empty()) side.notes.push_back(which + note);
  Status free = request.alone ? run::refuse_busy(*use, request.caller) : success();
  if (!free.ok()) free.error().message.insert(0, which);
  return free;
}

bool works(const run::Judge& judge) {
  const rt::InContext afterwards_as_before(judge.driver(), judge.device());
  return judge.sound();
}

}  // namespace

void start_further(std::vector<FurtherGpu>& gpus, const GpuSideRequest& request, toolchain::Compiler& compiler) {
  std::vector<std::pair<FurtherGpu*, std::future<Result<std::unique_ptr<run::Judge>>>>> starting;
  for (FurtherGpu& gpu : gpus) {
    if (gpu.judge && !works(*gpu.judge)) gpu.judge.reset();
    if (gpu.judge || !gpu.why.empty()) continue;
    starting.emplace_back(&gpu, std::async(std::launch::async, [&request, &compiler, ordinal = gpu.ordinal] {
      return start_judge(request, ordinal, compiler);
    }));
  }
  for (auto& [gpu, started] : starting) {
    Result<std::unique_ptr<run::Judge>> judge = started.get();
    gpu->why = judge.ok() ? "" : judge.error().text();
    if (judge.ok()) gpu->judge = std::move(*judge);
  }
}

bool sees_gpu() {
  const Result<const rt::Driver*> driver = rt::cuda_driver();
  int count = 0;
  return driver.ok() && (*driver)->cuDeviceGetCount(&count) == cu::kSuccess && count > 0;
}

Result<GpuSide> start_gpu_side(const GpuSideRequest& request) {
  GpuSide side;
  SOLSTICE_TRY(const rt::Driver* const driver, rt::cuda_driver());
  SOLSTICE_TRY(const std::vector<GpuKind> visible, visible_gpus(*driver));
  SOLSTICE_TRY(const std::vector<int> further, further_gpus(request.gpus, request.ordinal, visible));
  if (static_cast<size_t>(request.ordinal) >= visible.size()) {
    return fail(Code::no_gpu, fmt::format("there is no GPU {}; {} are visible", request.ordinal, visible.size()));
  }
  SOLSTICE_CHECK(look_at_use(*driver, request.ordinal, request, side));
  for (const int ordinal : further) {
    SOLSTICE_CHECK(look_at_use(*driver, ordinal, request, side));
    side.further.push_back({ordinal});
  }
  const std::string& device = visible[static_cast<size_t>(request.ordinal)].name;
  SOLSTICE_TRY(const machine::Machine machine,
               request.machine.empty() ? machine::machine_of_device(device) : machine::load_machine(request.machine));
  toolchain::CompilerOptions options;
  options.arch = machine.arch;
  SOLSTICE_TRY(side.compiler, toolchain::Compiler::create(std::move(options)));
  std::future<void> others =
      std::async(std::launch::async, [&] { start_further(side.further, request, *side.compiler); });
  Result<std::unique_ptr<run::Judge>> judge = start_judge(request, request.ordinal, *side.compiler);
  others.get();
  if (!judge.ok()) return std::move(judge).error();
  side.judge = std::move(*judge);
  return side;
}

}  // namespace solstice::flow
