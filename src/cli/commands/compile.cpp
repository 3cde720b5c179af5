// solstice compile: a scheduled program to cubins and a launch plan.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/view/table.h"
#include "evaluate/build.h"
#include "evaluate/candidate.h"
#include "evaluate/keep.h"
#include "lang/embed.h"

namespace solstice::cli {
namespace {

Json kept_json(const evaluate::Kept& kept) {
  Json lacking = Json::array();
  for (const auto& [file, why] : kept.lacking) lacking.push(fmt::format("{}: {}", file, why));
  return Json::object()
      .set("files", text_list(kept.files))
      .set("lacking", lacking)
      .set("build", kept.build)
      .set("profile", kept.profile);
}

std::string kept_text(const evaluate::Kept& kept, const std::string& folder) {
  std::string text = fmt::format("kept {}\n", fmt::join(kept.files, ", "));
  std::map<std::string, std::vector<std::string>> lacking;  // files by the reason, which they mostly share
  for (const auto& [file, why] : kept.lacking) lacking[why].push_back(file);
  for (const auto& [why, files] : lacking) text += fmt::format("without {}: {}\n", fmt::join(files, ", "), why);
  return text + fmt::format("profile with: cd {} && {} && {}\n", folder, kept.build, kept.profile);
}

Json report_json(const evaluate::Built& built, const std::string& out) {
  Json modules = Json::array();
  for (size_t i = 0; i < built.compiled.size(); ++i) {
    const toolchain::Compiled& c = built.compiled[i];
    modules.push(Json::object()
                     .set("name", built.plan.modules[i].name)
                     .set("key", c.key)
                     .set("cached", c.cached)
                     .set("seconds", c.seconds.value)
                     .set("kernels", evaluate::resources_of(built, i)));
  }
  return Json::object().set("ok", built.ok).set("out", out).set("log", built.log).set("modules", modules);
}

std::string report_table(const evaluate::Built& built) {
  std::vector<std::vector<std::string>> rows = {
      {"module", "kernel", "launches", "registers", "shared", "spills", "compiled", "key"}};
  for (size_t i = 0; i < built.compiled.size(); ++i) {
    const toolchain::Compiled& c = built.compiled[i];
    for (const toolchain::KernelResources& k : c.kernels) {
      const std::string& name = built.plan.modules[i].name;
      const int64_t shared = k.shared_bytes + evaluate::dynamic_shared_bytes(built.plan, name, k.entry);
      rows.push_back({name, clip(k.entry, 48), std::to_string(evaluate::launches_of(built.plan, name, k.entry).size()),
                      std::to_string(k.registers), show(Bytes(static_cast<double>(shared))),
                      std::to_string(k.spill_stores + k.spill_loads), c.cached ? "cached" : show(c.seconds), c.key});
    }
  }
  return table(rows);
}

Result<int> run_compile(const Invocation& in) {
  SOLSTICE_TRY(const std::string text, lang::read_program(in.get("PROGRAM")));
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(in.get("--machine")));
  SOLSTICE_TRY(evaluate::Lowered lowered,
               evaluate::lower_text(
                   text, {machine, in.get("--numerics"), in.get("--weights") == "frozen", nullptr, in.get("PROGRAM")}));
  toolchain::CompilerOptions options;
  options.arch = machine.arch;
  SOLSTICE_TRY(const auto compiler, toolchain::Compiler::create(options));
  SOLSTICE_TRY(const evaluate::Built built, evaluate::PendingBuild(std::move(lowered), machine, *compiler).finish());
  if (built.ok) SOLSTICE_CHECK(evaluate::write_build(built, in.get("--out")));
  std::optional<evaluate::Kept> kept;
  if (built.ok && in.flag("--keep")) {
    SOLSTICE_TRY(kept, evaluate::keep_build(built, *compiler, in.get("--out")));
  }
  if (in.json()) {
    Json report = report_json(built, in.get("--out"));
    if (kept) report.set("kept", kept_json(*kept));
    fmt::print("{}\n", report.dump(2));
  }
  if (!built.ok) {
    return fail(Code::compile_failed, "the device code did not compile:\n" + built.log,
                "mend the lines that it names; of a family's own code this is a bug of Solstice");
  }
  if (in.json()) return 0;
  fmt::print("{}wrote {}\n", report_table(built), (std::filesystem::path(in.get("--out")) / "plan.json").string());
  if (kept) fmt::print("{}", kept_text(*kept, in.get("--out")));
  return 0;
}

}  // namespace

extern const Command solstice_commands_compile;
const Command solstice_commands_compile = {
    .name = "compile",
    .summary = "Compile a scheduled program to cubins and a launch plan",
    .help =
        "Needs NVRTC or nvcc, but no GPU. Writes plan.json and, for every module, a .cubin and a .cu below DIR; "
        "prints registers, shared memory and spills as ptxas reports them. Kernels whose code differs in names "
        "only share a module. --keep also leaves PTX, SASS (by nvdisasm or cuobjdump, which the pip package "
        "nvidia-cuda-nvdisasm or a CUDA toolkit has), a NAME.alone.cu with all headers of ours inside, which "
        "nvcc compiles alone, and launch.cu, which runs the plan on random inputs; it prints the command lines that "
        "build and profile it.",
    .example = "solstice compile program.ucut --machine h200 --out build/program",
    .parameters =
        {{"PROGRAM", "", "a .ucut file whose kernels have schedules", "", {}, true, false},
         {"--machine", "NAME", "machine to compile for", "h200", {}, false, false},
         program_numerics(),
         {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
         {"--out", "DIR", "output folder", "plan", {}, false, false},
         {"--keep", "", "leave everything that reading and profiling the kernels needs", "", {}, false, false},
         json_flag()},
    .run = run_compile,
};

}  // namespace solstice::cli
