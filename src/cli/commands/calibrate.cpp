// solstice calibrate: this GPU's ceilings into a machine file.
#include "flow/run/gpu/calibrate.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

std::string rate(double per_second, const char* unit) { return fmt::format("{:.4g} {}", per_second * 1e-12, unit); }

Result<int> run_calibrate(const Invocation& in) {
  std::vector<std::string> command = in.argv;
  command[0] = "solstice";
  SOLSTICE_TRY(const flow::Calibrated done, flow::calibrate(in.get("--machine"), in.get("--out"), command));
  const machine::Measured& m = done.machine.measured;
  std::vector<std::vector<std::string>> rows = {{"ceiling", "measured", "datasheet"}};
  Json ceilings = Json::object();
  const auto stream = [&](const char* name, const std::optional<BytesPerSecond>& value) {
    if (!value) return;
    rows.push_back({name, rate(value->value, "TB/s"), rate(done.machine.dram_rate.value, "TB/s")});
    ceilings.set(name, value->value);
  };
  stream("copy", m.copy);
  stream("read", m.read);
  stream("write", m.write);
  if (m.l2_read) {
    rows.push_back({"L2 read", rate(m.l2_read->value, "TB/s"), rate(done.machine.l2_rate().value, "TB/s")});
    ceilings.set("l2_read", m.l2_read->value);
  }
  for (const auto& [pipe, value] : m.pipes) {
    const Result<FlopsPerSecond> peak = done.machine.peak(pipe);
    rows.push_back({std::string(machine::name_of(pipe)), rate(value.value, "TFLOP/s"),
                    peak.ok() ? rate(peak->value, "TFLOP/s") : "-"});
    ceilings.set(machine::name_of(pipe), value.value);
  }
  if (m.launch) rows.push_back({"launch", show(*m.launch), "-"});
  if (m.eager_launch) rows.push_back({"eager launch", show(*m.eager_launch), "-"});
  if (m.grid_sync) rows.push_back({"grid sync", show(*m.grid_sync), "-"});
  if (in.json()) {
    fmt::print(
        "{}\n",
        Json::object().set("device", done.device).set("file", done.file.string()).set("ceilings", ceilings).dump(2));
  } else {
    fmt::print("{}\n{}wrote {}\n", done.device, table(rows), done.file.string());
  }
  return 0;
}

}  // namespace

extern const Command solstice_commands_calibrate;
const Command solstice_commands_calibrate = {
    .name = "calibrate",
    .summary = "Measure the ceilings of this GPU and write a machine file",
    .help =
        "Times large copies, large matrix products, sequences of tiny kernels, reads from L2 and barriers over "
        "all SMs, through PyTorch; this takes some 20 seconds on an idle GPU. Datasheet figures stay as they "
        "are. The machine file goes to your configuration folder, which takes precedence over the shipped files.",
    .example = "solstice calibrate",
    .parameters =
        {{"--machine", "NAME", "machine description to start from [default: that of the GPU]", "", {}, false, false},
         {"--out", "FILE", "file to write instead", "", {}, false, false},
         json_flag()},
    .run = run_calibrate,
};

}  // namespace solstice::cli
