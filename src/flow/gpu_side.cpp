#include "flow/gpu_side.h"

#include <fmt/format.h>

#include "base/paths.h"
#include "run/gpu_use.h"

namespace solstice::flow {
namespace {

constexpr int kSpares = 4;
// Each holds a context of half a GiB. The driver starts them one after the other, while Python starts.
constexpr int kFirstSpares = 12;

Result<std::unique_ptr<run::Judge>> start_judge(const GpuSideRequest& request, toolchain::Compiler& compiler) {
  run::JudgeOptions options;
  SOLSTICE_TRY(options.runner.program, companion("solstice-runner"));
  options.runner.device = request.ordinal;
  options.spares = kSpares;
  options.first_spares = kFirstSpares;
  options.compile = [&compiler](const std::string& source, const std::string&) -> Result<std::string> {
    SOLSTICE_TRY(toolchain::Compiled compiled, compiler.compile({"judge", source, {}}));
    if (!compiled.ok()) return fail(Code::internal, "the judge's own kernels do not compile\n" + compiled.log);
    return std::move(compiled.cubin);
  };
  if (const std::optional<numerics::Policy> policy = numerics::policy_from_name(request.numerics)) options.policy = *policy;
  return run::Judge::start(std::move(options));
}

// Before anything of ours runs there: no context is opened yet.
Status look_at_device(const GpuSideRequest& request, GpuSide& side, std::string& name) {
  SOLSTICE_TRY(const rt::Driver* const driver, rt::cuda_driver());
  cu::Device device = 0;
  SOLSTICE_CHECK(driver->check(driver->cuDeviceGet(&device, request.ordinal), fmt::format("open GPU {}", request.ordinal)));
  char text[256] = {};
  SOLSTICE_CHECK(driver->check(driver->cuDeviceGetName(text, sizeof text, device), "ask for the GPU's name"));
  name = text;
  SOLSTICE_CHECK(driver->check(driver->cuDeviceGetPCIBusId(text, sizeof text, device), "ask for the GPU's bus id"));
  const Result<run::GpuUse> use = run::gpu_use(text);
  if (!use.ok()) {
    side.note = "whether others use the GPU is unknown: " + use.error().message;
    return success();
  }
  side.driver = use->driver;
  side.note = run::use_note(*use);
  return request.alone ? run::refuse_busy(*use, request.caller) : success();
}

}  // namespace

Result<GpuSide> start_gpu_side(const GpuSideRequest& request) {
  GpuSide side;
  std::string device;
  SOLSTICE_CHECK(look_at_device(request, side, device));
  SOLSTICE_TRY(const machine::Machine machine,
               request.machine.empty() ? machine::machine_of_device(device) : machine::load_machine(request.machine));
  toolchain::CompilerOptions options;
  options.arch = machine.arch;
  SOLSTICE_TRY(side.compiler, toolchain::Compiler::create(std::move(options)));
  SOLSTICE_TRY(side.judge, start_judge(request, *side.compiler));
  return side;
}

}  // namespace solstice::flow
