#include "flow/run/gpu/calibrate.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/paths.h"
#include "base/process/subprocess.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr Seconds kLimit{300};

Result<Json> measure() {
  SOLSTICE_TRY(const fs::path python, python_path());
  SpawnOptions options;
  options.argv = {python.string(), "-m", "solstice.calibrating"};
  SOLSTICE_TRY(options.environment, python_environment());
  SOLSTICE_TRY(const CommandOutput done, run_command(options, kLimit));
  if (done.exit.code == 3) return fail(Code::no_gpu, "PyTorch sees no usable GPU", "`solstice doctor` says more");
  if (!done.exit.ok()) {
    return fail(Code::process_failed, fmt::format("the measurement in Python {}:\n"
                                                  "{}",
                                                  done.exit.text(), done.err));
  }
  // Libraries may print before it; the figures are the last line.
  const size_t end = done.out.find_last_not_of('\n');
  const size_t begin = end == std::string::npos ? 0 : done.out.rfind('\n', end) + 1;
  return parse_json(done.out.substr(begin));
}

Result<machine::Machine> machine_of(const std::string& name, const std::string& device) {
  if (!name.empty()) {
    SOLSTICE_TRY(machine::Machine named, machine::load_machine(name));
    if (named.device == device) return named;
    return fail(Code::bad_argument,
                fmt::format("machine `{}` describes a {}, but the GPU is a {}", name, named.device, device));
  }
  return machine::machine_of_device(device);
}

Error absent(const char* key) { return fail(Code::bad_record, fmt::format("the measured ceilings lack `{}`", key)); }

}  // namespace

Result<machine::Measured> parse_ceilings(const Json& json) {
  machine::Measured out;
  for (const char* key : {"copy", "read", "write", "launch", "eager_launch"}) {
    if (!(json.at(key).as_double() > 0)) return absent(key);
  }
  out.copy = BytesPerSecond(json.at("copy").as_double());
  out.read = BytesPerSecond(json.at("read").as_double());
  out.write = BytesPerSecond(json.at("write").as_double());
  out.launch = Seconds(json.at("launch").as_double());
  out.eager_launch = Seconds(json.at("eager_launch").as_double());
  // Null where PyTorch cannot compile a kernel of our own: the machine file keeps its figures.
  if (const double rate = json.at("l2_read").as_double(); rate > 0) out.l2_read = BytesPerSecond(rate);
  if (const double time = json.at("grid_sync").as_double(); time > 0) out.grid_sync = Seconds(time);
  for (const auto& [name, rate] : json.at("pipes").members()) {
    const std::optional<machine::Pipe> pipe = machine::pipe_from_name(name);
    if (!pipe || !(rate.as_double() > 0)) return absent(name.c_str());
    out.pipes[*pipe] = FlopsPerSecond(rate.as_double());
  }
  out.versions = json.at("versions").as_string();
  return out;
}

Result<Calibrated> calibrate(const std::string& name, const fs::path& file, const std::vector<std::string>& command) {
  SOLSTICE_TRY(const Json json, measure());
  SOLSTICE_TRY(machine::Measured measured, parse_ceilings(json));
  measured.date = utc_now().substr(0, 10);
  measured.command = fmt::format("{}", fmt::join(command, " "));
  Calibrated out;
  out.device = json.at("device").as_string();
  SOLSTICE_TRY(const machine::Machine machine, machine_of(name, out.device));
  out.file = file.empty() ? machine::calibrated_path(machine.name) : file;
  SOLSTICE_CHECK(machine::write_measured(machine, measured, out.file));
  SOLSTICE_TRY(out.machine, machine::load_machine(out.file.string()));
  return out;
}

}  // namespace solstice::flow
