// solstice run: one scheduled program, tried once.
#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/named_module.h"
#include "cli/progress.h"
#include "cli/view/table.h"
#include "flow/run/run_program.h"
#include "lang/embed.h"
#include "record/kernel_table.h"
#include "record/kernel_trace.h"

namespace solstice::cli {
namespace {

Result<flow::RunOptions> run_options(const Invocation& in) {
  flow::RunOptions options;
  if (in.has("--of")) {
    SOLSTICE_TRY(options.module, named_module(in.get("--of"), in));
  }
  options.place.device = in.get("--device");
  options.place.machine = in.get("--machine");
  options.terms.numerics = in.get("--numerics");
  options.terms.frozen = in.get("--weights") == "frozen";
  options.out = in.get("--out");
  options.command = in.argv;
  return options;
}

bool usable(const search::Measurement& m) {
  return m.state == TrialState::kVerified || m.state == TrialState::kPredicted;
}

std::string text_of_trace(const Json& record) {
  const Result<KernelTrace> trace = kernel_trace_of(record);
  if (!trace.ok()) return "the times by kernel cannot be read: " + trace.error().message;
  return trace->kernels.empty() ? "no times by kernel: " + trace->note : text_of(*trace);
}

std::optional<Seconds> measured_time(const search::Measurement& m) {
  return m.state == TrialState::kVerified && m.time.value > 0 ? std::optional(m.time) : std::nullopt;
}

// Where its time goes; "" of a candidate that was refused.
std::string text_of_table(const search::Measurement& m) {
  const auto read = kernel_table_of(m.record, measured_time(m));
  if (!read.ok()) return "\nthe table of its kernels cannot be read: " + read.error().message;
  if (!*read) return "";
  std::string out = "\n\n" + table(cells_of(**read));
  for (const std::string& reason : reasons_of(**read)) out += reason + "\n";
  out.pop_back();
  return out;
}

std::string text_of_prediction(const flow::ProgramRun& done) {
  const std::optional<PredictedOriginal>& original = done.predicted_original;
  if (done.original || !original || original->time.value <= 0) return "";
  return fmt::format(", PyTorch eager predicted {} (predicted {})", show(original->time),
                     show_factor(original->time / done.measurement.time));
}

std::string text_of(const flow::ProgramRun& done) {
  const search::Measurement& m = done.measurement;
  std::string out = enum_name(m.state);
  if (usable(m)) out += fmt::format(": {}", show(m.time));
  if (usable(m) && done.original)
    out += fmt::format(", PyTorch eager {} ({})", show(*done.original), show_factor(*done.original / m.time));
  if (usable(m)) out += text_of_prediction(done);
  if (usable(m) && done.bound) out += fmt::format(", {} of the practical bound", show_factor(m.time / *done.bound));
  const std::string same = done.original_is.empty() ? flow::same_as_module(m) : "the original: " + done.original_is;
  if (usable(m) && !same.empty()) out += "\n" + same;
  if (m.record.find("trace")) out += "\n" + text_of_trace(m.record);
  if (usable(m)) out += text_of_table(m);
  return m.detail.empty() ? out : out + "\n" + m.detail;
}

// What is not known is 0 in a measurement, and null here.
Json trial_json(const search::Measurement& measurement) {
  Json out = to_json(measurement);
  for (const char* name : {"time", "cost", "joules", "noise"}) {
    if (out.at(name).as_double() == 0) out.set(name, Json());
  }
  return out;
}

Result<int> run_run(const Invocation& in) {
  const std::string& file = in.get("PROGRAM");
  SOLSTICE_TRY(const std::string text, lang::read_program(file));
  SOLSTICE_TRY(const flow::RunOptions options, run_options(in));
  const std::unique_ptr<Progress> progress = progress_of(in);
  SOLSTICE_TRY(const flow::ProgramRun done, flow::run_program(text, file, options, *progress));
  if (in.json()) {
    Json body = Json::object().set("predicted", done.predicted).set("trial", trial_json(done.measurement));
    const search::Measurement& m = done.measurement;
    SOLSTICE_TRY(const std::optional<KernelTable> kernels, kernel_table_of(m.record, measured_time(m)));
    if (usable(m) && kernels) body.set("kernels", to_json(*kernels));
    if (done.predicted_original) body.set("predicted_original", to_json(*done.predicted_original));
    if (done.original) body.set("original", done.original->value);
    if (!done.original_is.empty()) body.set("original_is", done.original_is);
    if (done.bound) body.set("practical_bound", done.bound->value);
    fmt::print("{}\n", body.dump(2));
  } else {
    fmt::print("{}\n", text_of(done));
    if (done.measurement.state == TrialState::kWrong && in.has("--of"))
      fmt::print(stderr, "  hint: `solstice import {}` prints what it has to compute\n", in.get("--of"));
  }
  return usable(done.measurement) ? 0 : exit_code(ErrorKind::kInput);
}

}  // namespace

extern const Command solstice_commands_run;
const Command solstice_commands_run = {
    .name = "run",
    .summary = "Verify and time a scheduled program",
    .help =
        "With --of, the program is a candidate for that module: it is verified on the module's inputs against "
        "the float64 oracle, and timed on a GPU. Without --of, --device gpu does the same against an original that is "
        "written from the program's equations (`solstice torch`). Else, or without a GPU, it is checked, compiled if "
        "a compiler is installed, and its time is predicted. The exit code is 2 if the program is illegal, does "
        "not compile, or computes something else.",
    .example = "solstice run program.ucut --of examples/linear_gelu.py",
    .parameters =
        {{"PROGRAM", "", "a .ucut file whose kernels have schedules", "", {}, true, false},
         {"--of", "FILE", std::string("module that the program computes: ") + kModuleHelp, "", {}, false, false},
         eval_flag(),
         train_flag(),
         why_flag(),
         device_option("where the program runs; model: predict its time"),
         machine_option(),
         {"--numerics", "POLICY", "accuracy policy", "reference", {"reference", "high", "medium"}, false, false},
         {"--weights", "MODE", "frozen: parameters may be packed once", "live", {"live", "frozen"}, false, false},
         {"--out", "DIR", "folder for the plan and the cubins", "", {}, false, false},
         quiet_flag(),
         json_flag()},
    .run = run_run,
};

}  // namespace solstice::cli
