// test_random_kernels: random programs within each family's reach, compiled, run on the GPU and compared with the
// interpreter.
// `--help` has the options; docs/testing.md says what is generated and what a result may differ by.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "gpu/kernels/supervise.h"
#include "machine/machine.h"
#include "property/kernels/prepare.h"
#include "property/kernels/sample.h"
#include "rt/cuda_driver.h"
#include "toolchain/worker.h"

namespace solstice::random_kernels {
namespace {

constexpr int kSkipped = 77;  // for ctest: there is no GPU

struct Options {
  WorkOptions work;
  int64_t programs = 300;
  int64_t only = -1;
  std::string family, out;
  bool in_process = false, child = false, show = false;
};

std::vector<Item> items_of(const Options& options) {
  std::vector<std::string> families = sampled_families();
  if (!options.family.empty()) families = {options.family};
  std::vector<Item> out;
  if (options.only >= 0) {
    for (const std::string& family : families) out.push_back({family, static_cast<uint64_t>(options.only)});
    return out;
  }
  for (int64_t i = 0; i < options.programs; ++i) {
    out.push_back({families[static_cast<size_t>(i) % families.size()], static_cast<uint64_t>(i) / families.size()});
  }
  return out;
}

// Says every ten seconds how far it is.
class Progress {
 public:
  explicit Progress(size_t all) : all_(all) {}
  void add(const Verdict& verdict) {
    ++done_;
    failures_ += is_failure(verdict.outcome);
    if (monotonic_now() - said_ < Seconds(10)) return;
    said_ = monotonic_now();
    fmt::print(stderr, "{} of {} programs, {} failed\n", done_, all_, failures_);
  }

 private:
  size_t all_, done_ = 0, failures_ = 0;
  Seconds said_ = monotonic_now();
};

Result<std::vector<Verdict>> verdicts_of(const Options& options, const std::vector<Item>& items,
                                         const std::vector<std::string>& arguments) {
  Progress progress(items.size());
  if (!options.in_process) {
    SOLSTICE_TRY(const Sizes sizes, sizes_named(options.work.sizes));
    const auto text_of = [&](const Item& item) {
      return make_sample(item.family, options.work.seed, item.number, sizes).text();
    };
    return supervise(items, arguments, text_of, [&](const Verdict& v) { progress.add(v); });
  }
  SOLSTICE_TRY(const auto work, Work::create(options.work));
  std::vector<Verdict> out;
  const Watcher watcher = {[](const Item&) {}, [](const Item&) {},
                           [&](const Verdict& v) { progress.add(v), out.push_back(v); }};
  if (work->run(items, watcher)) fmt::print(stderr, "the GPU's context is lost: what is left was not run\n");
  return out;
}

Result<int> run(const Options& options, const std::vector<std::string>& arguments) {
  if (options.child) {
    SOLSTICE_TRY(const auto work, Work::create(options.work));
    return serve_items(*work);
  }
  SOLSTICE_TRY(const Sizes sizes, sizes_named(options.work.sizes));
  const std::vector<Item> items = items_of(options);
  if (options.show) {
    SOLSTICE_TRY(const machine::Machine machine, machine::load_machine("h200"));
    for (const Item& item : items) {
      const Sample drawn = make_sample(item.family, options.work.seed, item.number, sizes);
      fmt::print("{}\n", prepare(drawn, options.work.seed, machine).sample.text());
    }
    return 0;
  }
  std::string device;
  if (!options.work.compile_only) {
    const auto driver = rt::cuda_driver();
    if (!driver.ok()) fmt::print("skipped: {}\n", driver.error().message);
    if (!driver.ok()) return kSkipped;
    SOLSTICE_TRY(const rt::DeviceContext context, rt::DeviceContext::open(**driver, 0));
    device = context.name();
  }
  const Seconds begin = monotonic_now();
  SOLSTICE_TRY(const std::vector<Verdict> verdicts, verdicts_of(options, items, arguments));
  fmt::print("{}{} programs in {:.0f} s, seed {}\n", summary(verdicts, options.work.seed, options.work.sizes),
             verdicts.size(), (monotonic_now() - begin).value, options.work.seed);
  if (!options.out.empty())
    SOLSTICE_CHECK(write_file(options.out, to_report(verdicts, options.work.seed, device).dump(1)));
  return all_well(verdicts) && verdicts.size() == items.size() ? 0 : 1;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("--programs", o.programs, "how many, of all families in turn")->capture_default_str();
  app.add_option("--seed", o.work.seed, "of the programs and of their inputs")->capture_default_str();
  app.add_option("--family", o.family, "this one alone")->check(CLI::IsMember(sampled_families()));
  app.add_option("--only", o.only, "the program of this number alone");
  app.add_option("--sizes", o.work.sizes, "device (up to 1e6 points), sanitizer (2e4) or host (1500)")
      ->capture_default_str();
  app.add_option("--out", o.out, "a JSON report");
  app.add_flag("--in-process", o.in_process,
               "one process, for compute-sanitizer: an allocation a tensor, without red zones");
  app.add_flag("--compile-only", o.work.compile_only, "run nothing: for machines without a GPU");
  app.add_flag("--show", o.show, "print the programs, with the knobs they run with");
  app.add_flag("!--no-shrink", o.work.shrink, "leave failing programs as they are");
  app.add_flag("--child", o.child)->group("");
}

// What a process that does the work is told.
std::vector<std::string> arguments_of(const Options& o) {
  std::vector<std::string> out = {"--seed", std::to_string(o.work.seed), "--sizes", o.work.sizes};
  if (o.work.compile_only) out.emplace_back("--compile-only");
  if (!o.work.shrink) out.emplace_back("--no-shrink");
  return out;
}

}  // namespace
}  // namespace solstice::random_kernels

int main(int argc, char** argv) {
  using namespace solstice::random_kernels;
  if (argc == 2 && std::string_view(argv[1]) == "--compile-worker")
    return solstice::toolchain::compile_worker_main(STDIN_FILENO, STDOUT_FILENO);
  CLI::App app("Random kernels of each family on the GPU, compared with the interpreter.");
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.in_process) options.work.device = {0, solstice::Seconds(600)};
  const auto code = run(options, arguments_of(options));
  if (code.ok()) return *code;
  fmt::print(stderr, "{}\n", code.error().text());
  return 2;
}
