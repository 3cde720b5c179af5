#include "flow/run/stages/prepare/open.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/process/interrupt.h"
#include "flow/run/problem/original.h"
#include "flow/run/report/report.h"

namespace solstice::flow {
namespace {

Result<machine::Machine> choose_machine(const Run& run, bool gpu) {
  if (!run.options.place.machine.empty()) return machine::load_machine(run.options.place.machine);
  if (gpu) return machine::machine_of_device(run.engine.hello.device.name);
  return machine::load_machine(run.options.predicted_machine);
}

// Returns the GPU's part, which starts meanwhile.
Result<std::future<Result<GpuSide>>> connect_oracle(Run& run) {
  std::future<Result<GpuSide>> side;
  run::OracleOptions options;
  options.device = run.options.place.device == "model" ? "cpu" : "auto";
  options.descriptor = run.options.module.oracle_fd;
  options.warm = run.options.several;
  SOLSTICE_TRY(run::OracleClient client, run::OracleClient::start(options));
  run.engine.oracle.emplace(std::move(client));
  stop_on_interrupt(run);
  if (run.options.place.device != "model" && !judge_fits(run.engine, side_request(run, 0))) {
    side = std::async(std::launch::async, [wanted = side_request(run, 0)] { return start_gpu_side(wanted); });
  }
  SOLSTICE_TRY(run.engine.hello, run.engine.oracle->hello());
  return side;
}

// The way to a run without a GPU.
std::string way_without_gpu(const PlaceOptions& place) {
  const char* instead = !place.gpus.given()      ? "use --device model"
                        : place.device == "auto" ? "leave --devices out, which chooses GPUs"
                                                 : "leave --devices out, which chooses GPUs, and use --device model";
  return fmt::format("run `solstice doctor` to see what is missing, or {}: times are then predicted", instead);
}

// The driver's own message where it fails too.
Error why_no_gpu(const Run& run, std::future<Result<GpuSide>>& gpu_side) {
  const std::string instead = way_without_gpu(run.options.place);
  if (gpu_side.valid()) {
    const Result<GpuSide> side = gpu_side.get();
    if (!side.ok()) return fail(side.error().code, side.error().message, instead);
  }
  const OracleHello& hello = run.engine.hello;
  return fail(Code::no_gpu,
              fmt::format("PyTorch {} ({}) cannot use the GPU that the driver sees", hello.torch,
                          hello.cuda ? "for CUDA " + *hello.cuda : "built without CUDA"),
              instead);
}

void describe_place(Run& run, const Opened& opened) {
  const OracleHello& hello = run.engine.hello;
  run.report.machine = opened.machine.name;
  run.report.device = opened.gpu ? hello.device.name : "model";
  run.report.predicted = !opened.gpu;
  if (!opened.gpu && run.options.place.device == "auto")
    run.progress.message("no GPU was found: times are predicted, nothing is measured (--device model)");
  run.report.versions["torch"] = hello.torch;
  run.report.versions["python"] = hello.python;
  if (hello.cuda) run.report.versions["cuda (torch)"] = *hello.cuda;
}

// Of a program that nothing is measured of: there is no module that Python would trace or run.
Result<Opened> open_without_python(Run& run, const std::string& why) {
  Opened opened;
  const Status done = stage(run, "machine", "of the cost models", [&]() -> Result<std::string> {
    SOLSTICE_TRY(opened.machine, choose_machine(run, false));
    run.report.machine = opened.machine.name;
    run.report.device = "model";
    run.report.predicted = true;
    run.why_predicted = why;
    if (run.options.place.device == "auto")
      run.progress.message(why + ": times are predicted, nothing is measured (--device model)");
    return "times are predicted for " + opened.machine.title;
  });
  SOLSTICE_CHECK(done);
  return opened;
}

}  // namespace

void stop_on_interrupt(Run& run) {
  run.engine.oracle->stop_when([&run] { return interrupted() && !run.tree.best(); });
}

GpuSideRequest side_request(const Run& run, int ordinal) {
  // The process that started this one is the oracle: its module is on the GPU already.
  const int64_t caller = run.options.module.oracle_fd ? ::getppid() : 0;
  const PlaceOptions& place = run.options.place;
  return {place.machine, run.options.terms.numerics, ordinal, place.gpus, !place.allow_busy, caller};
}

bool judge_fits(const EngineParts& engine, const GpuSideRequest& wanted) {
  const GpuSideRequest& had = engine.judge_request;
  return engine.judge && had.ordinal == wanted.ordinal && had.machine == wanted.machine && had.gpus == wanted.gpus;
}

namespace {

Result<Opened> open_with_python(Run& run) {
  Opened opened;
  const Status done =
      stage(run, "oracle", run.engine.oracle ? "at hand" : "starting Python", [&]() -> Result<std::string> {
        if (run.engine.oracle) {
          stop_on_interrupt(run);
        } else {
          SOLSTICE_TRY(opened.gpu_side, connect_oracle(run));
        }
        const OracleHello& hello = run.engine.hello;
        opened.gpu = hello.device.is_cuda();
        const bool needed = run.options.place.device == "gpu" || run.options.place.gpus.given();
        if (needed && !opened.gpu) return why_no_gpu(run, opened.gpu_side);
        SOLSTICE_TRY(opened.machine, choose_machine(run, opened.gpu));
        describe_place(run, opened);
        return fmt::format("torch {}, {}", hello.torch,
                           opened.gpu ? hello.device.name : "no GPU: times are predicted for " + opened.machine.title);
      });
  SOLSTICE_CHECK(done);
  return opened;
}

// What is measured needs an original; where nobody asked to measure, it is predicted for want of one.
Result<Opened> open_with_original(Run& run, bool asked) {
  const std::filesystem::path file = run.folders.fresh / kOriginalFile;
  if (Status written = write_original(run.stored.source, run.options.module.file, file); !written.ok()) {
    if (asked || written.error().code != Code::not_yet) return written.error();
    return open_without_python(run, written.error().message);
  }
  run.original = file;
  Result<Opened> opened = open_with_python(run);
  if (opened.ok() && opened->gpu) {
    run.report.original = kWrittenOriginal;
    return opened;
  }
  const bool lacking = opened.ok() || opened.error().code == Code::no_python;
  if (asked || !lacking) return opened;
  const std::string why =
      opened.ok() ? fmt::format("PyTorch {} cannot use the GPU", run.engine.hello.torch) : opened.error().message;
  std::error_code ignored;  // it is of no use to anybody, and in nobody's way
  std::filesystem::remove(file, ignored);
  run.original.clear();
  run.engine.oracle.reset();
  run.report.versions.erase("torch");
  run.report.versions.erase("python");
  return open_without_python(run, why);
}

}  // namespace

Result<Opened> open_place(Run& run) {
  if (!lacks_module(run)) return open_with_python(run);
  const PlaceOptions& place = run.options.place;
  const bool asked = place.device == "gpu" || place.gpus.given();
  if (place.device == "model" && !asked) return open_without_python(run, "--device model");
  return asked || sees_gpu() ? open_with_original(run, asked) : open_without_python(run, "no GPU");
}

}  // namespace solstice::flow
