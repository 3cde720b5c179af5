#include "evaluate/given/given_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/integer.h"
#include "evaluate/given/driver_constants.h"
#include "evaluate/given/parameter_window.h"
#include "machine/registers.h"
#include "toolchain/cubin.h"

namespace solstice::evaluate {
namespace {

constexpr int64_t kWarp = 32;
constexpr size_t kMostLines = 12;

int64_t size_of_argument(const Argument& argument) {
  return argument.kind == ArgumentKind::kTensorMap ? 128 : 8;  // a clause passes pointers and 64-bit integers besides
}

const char* type_of(const Argument& argument) {
  if (argument.kind == ArgumentKind::kPointer) return "pointer";
  return argument.kind == ArgumentKind::kTensorMap ? "descriptor (128 bytes, by value)" : "`long long`";
}

std::string parameters_flaw(const std::vector<int64_t>& found, const Step& step) {
  if (found.size() != step.arguments.size()) {
    return fmt::format("`{}` has {} parameters, and `args` names {}", step.entry, found.size(), step.arguments.size());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const Argument& argument = step.arguments[i];
    if (found[i] == size_of_argument(argument)) continue;
    return fmt::format("parameter {} of `{}` has {} bytes; `args` passes a {} of {}", i + 1, step.entry, found[i],
                       type_of(argument), size_of_argument(argument));
  }
  return "";
}

std::string resources_flaw(const toolchain::Compiled& compiled, const Step& step, const machine::Machine& machine) {
  const auto used = std::find_if(compiled.kernels.begin(), compiled.kernels.end(),
                                 [&](const auto& kernel) { return kernel.entry == step.entry; });
  if (used == compiled.kernels.end()) return "";
  const int64_t warps = ceil_div(step.block[0] * step.block[1] * step.block[2], kWarp);
  const int64_t registers = machine::registers_of_block(machine, warps * kWarp, used->registers);
  if (registers > machine.registers_per_sm) {
    return fmt::format(
        "`{}` takes {} registers a thread, so that a block of {} threads needs {} of {}: fewer threads, or "
        "`__launch_bounds__`",
        step.entry, used->registers, warps * kWarp, registers, machine.registers_per_sm);
  }
  if (used->stack_bytes > kMostLocalBytes) {
    return fmt::format(
        "`{}` takes {} bytes of local memory a thread, and {} are allowed: a smaller array, or fewer values at once",
        step.entry, used->stack_bytes, kMostLocalBytes);
  }
  const auto shared = static_cast<int64_t>(machine.shared_per_block.value);  // static and dynamic together
  if (used->shared_bytes + step.shared_bytes > shared) {
    return fmt::format("`{}` has {} bytes of static shared memory, and `smem` adds {}: a block has {}", step.entry,
                       used->shared_bytes, step.shared_bytes, shared);
  }
  return "";
}

std::string names_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 4;
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost)));
  return fmt::format("`{}`{}", fmt::join(first, "`, `"), names.size() > kMost ? " ..." : "");
}

// The address of the parameters, where the code takes it: only after all else is known to be right.
std::string window_flaw(const toolchain::Compiled& compiled, const toolchain::CubinFacts& facts) {
  if (!takes_parameter_window(facts)) return "";
  const Result<std::vector<toolchain::CodeSection>> code = toolchain::code_of(compiled.cubin);
  return code.ok() ? parameter_window_flaw(*code, facts.kernels) : code.error().text();
}

std::string state_flaw(const toolchain::Compiled& compiled, const toolchain::CubinFacts& facts, const Step& step) {
  if (!facts.undefined.empty()) {
    return fmt::format("it calls {}, which it does not define: device code neither allocates nor prints",
                       names_of(facts.undefined));
  }
  if (facts.lasting.empty()) {
    const std::string flaw = driver_constants_flaw(facts, step);
    return flaw.empty() ? window_flaw(compiled, facts) : flaw;
  }
  return fmt::format(
      "it has variables in global memory ({}): nothing lasts from one launch to the next; a table is `__constant__`, "
      "and is indexed directly",
      names_of(facts.lasting));
}

std::string entry_flaw(const toolchain::CubinFacts& facts, const Step& step) {
  const auto is_entry = [&](const toolchain::CubinKernel& kernel) { return kernel.entry == step.entry; };
  const auto found = std::find_if(facts.kernels.begin(), facts.kernels.end(), is_entry);
  if (found != facts.kernels.end()) return parameters_flaw(found->parameters, step);
  std::vector<std::string> names;
  for (const toolchain::CubinKernel& kernel : facts.kernels) names.push_back(kernel.entry);
  return fmt::format("it has no kernel `{}`{}; `extern \"C\" __global__` gives a kernel its plain name", step.entry,
                     names.empty() ? "" : ", but " + names_of(names));
}

// True for headers of the host's standard library that kernels/std does not replace.
bool is_host_header(std::string_view line) {
  return line.find("cannot open source file") != std::string_view::npos ||
         line.find("could not open source file") != std::string_view::npos;
}

}  // namespace

std::string flaw_of(const families::Source& source, const toolchain::Compiled& compiled, const Step& step,
                    const machine::Machine& machine) {
  const Result<toolchain::CubinFacts> facts = toolchain::read_cubin(compiled.cubin);
  if (!facts.ok())
    return fmt::format("source `{}`: the compiler's output cannot be read: {}", source.file, facts.error().text());
  for (const std::string& flaw :
       {entry_flaw(*facts, step), state_flaw(compiled, *facts, step), resources_flaw(compiled, step, machine)}) {
    if (!flaw.empty()) return fmt::format("source `{}`: {}", source.file, flaw);
  }
  return "";
}

std::string compile_errors(const families::Source& source, const toolchain::Compiled& compiled) {
  std::string out = fmt::format("source `{}` does not compile:\n", source.file);
  std::istringstream lines(compiled.log);
  size_t shown = 0;
  bool inside = false, header = false;
  for (std::string line; shown < kMostLines && std::getline(lines, line);) {
    const bool message = line.find("): ") != std::string::npos;
    if (message) inside = line.find("error") != std::string::npos;
    if (!inside || line.find_first_not_of(" \t\r") == std::string::npos) continue;
    header = header || is_host_header(line);
    out += line + "\n";
    ++shown;
  }
  if (shown == 0) return out + compiled.log;
  if (header) {
    out +=
        "headers: those of kernels/, CUDA, CCCL (`cuda/std/...`), CUTLASS and CuTe; of the standard library what a "
        "device can have (<cstdint>, <cmath>, <limits>, ...: kernels/std)\n";
  }
  return out;
}

}  // namespace solstice::evaluate
