// solstice torch: a program's equations as a PyTorch module.
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "cli/command.h"
#include "cli/subject.h"
#include "ir/rewrite/driver.h"
#include "lang/embed.h"
#include "pytorch/module_text.h"

namespace solstice::cli {
namespace {

Json interface_json(const ir::Program& program) {
  int64_t elements = 0;
  Json inputs = Json::array(), outputs = Json::array(), state = Json::object(), updates = Json::object();
  for (const ir::Tensor& t : program.tensors) {
    elements += t.elements();
    if (t.kind == ir::TensorKind::kInput) inputs.push(t.name);
    if (t.kind == ir::TensorKind::kOutput) outputs.push(t.name);
    if (t.kind == ir::TensorKind::kParam || t.kind == ir::TensorKind::kBuffer) state.set(t.name, pytorch::path_of(t));
    if (t.into >= 0) updates.set(t.name, program.tensor(t.into).name);
  }
  return Json::object()
      .set("inputs", inputs)
      .set("outputs", outputs)
      .set("state", state)
      .set("updates", updates)
      .set("elements", elements);
}

Result<int> run_torch(const Invocation& in) {
  const std::string& file = in.get("PROGRAM");
  SOLSTICE_TRY(const std::string text, lang::read_program(file));
  SOLSTICE_TRY(const ir::BoundText program, ir::bound_text(text, file));
  const Result<std::string> module = pytorch::module_text(program.program, std::filesystem::path(file).stem().string());
  if (!module.ok()) return in_its_file(module.error(), file);
  if (in.json()) {
    fmt::print("{}\n", interface_json(program.program).set("module", *module).dump(2));
  } else if (in.has("--out")) {
    SOLSTICE_CHECK(write_file(in.get("--out"), *module));
  } else {
    fmt::print("{}", *module);
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_torch;
const Command solstice_commands_torch = {
    .name = "torch",
    .summary = "Print a program of equations as a PyTorch module",
    .help =
        "The module computes the equations one after another by PyTorch's operators: sums of products by einsum, all "
        "else by broadcasting, reductions, gathers and masks, recurrences step by step. It is a file in KernelBench's "
        "format, with inputs drawn by dtype and within the range that indexing with them allows. `solstice optimize "
        "PROGRAM` and `solstice run PROGRAM` verify kernels against it, and time it, where no module is named. What "
        "cannot be written (an opaque operation, a draw) is refused with its place.",
    .example = "solstice torch docs/tutorial/rms_silu.ucut",
    .parameters = {{"PROGRAM", "", "a .ucut file", "", {}, true, false},
                   {"--out", "FILE", "write it there", "", {}, false, false},
                   json_flag()},
    .run = run_torch,
};

}  // namespace solstice::cli
