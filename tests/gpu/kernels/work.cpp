#include "gpu/kernels/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "evaluate/build.h"
#include "gpu/kernels/shrink.h"
#include "property/kernels/judge.h"
#include "property/kernels/storage.h"

namespace solstice::random_kernels {
namespace {

Outcome outcome_of(Fate fate) {
  switch (fate) {
    case Fate::kReady:
      return Outcome::kPassed;
    case Fate::kRefused:
      return Outcome::kRefused;
    case Fate::kInvalid:
      return Outcome::kInvalid;
    default:
      return Outcome::kFault;
  }
}

void failed(Verdict& verdict, Outcome outcome, std::string why) {
  verdict.outcome = outcome;
  verdict.why = std::move(why);
}

const PlanBuffer& buffer_named(const Plan& plan, const std::string& name) {
  return *std::find_if(plan.buffers.begin(), plan.buffers.end(), [&](const PlanBuffer& b) { return b.name == name; });
}

}  // namespace

Result<Sizes> sizes_named(const std::string& name) {
  if (name == "device") return sizes_of_device();
  if (name == "sanitizer") return sizes_of_sanitizer();
  if (name == "host") return sizes_of_host();
  return fail(Code::bad_argument, fmt::format("no sizes `{}`; there are device, sanitizer, host", name));
}

Result<std::unique_ptr<Work>> Work::create(WorkOptions options) {
  auto out = std::make_unique<Work>();
  out->options_ = std::move(options);
  SOLSTICE_TRY(out->sizes_, sizes_named(out->options_.sizes));
  SOLSTICE_TRY(out->machine_, machine::load_machine("h200"));
  toolchain::CompilerOptions compiler;
  compiler.arch = out->machine_.arch;
  SOLSTICE_TRY(out->compiler_, toolchain::Compiler::create(compiler));
  if (out->options_.compile_only) return out;
  SOLSTICE_TRY(out->device_, Device::open(out->options_.device));
  return out;
}

bool Work::run(const std::vector<Item>& items, const Watcher& watcher) {
  std::atomic<size_t> next = 0;
  const auto serve = [&] {
    while (!lost_) {
      const size_t i = next++;
      if (i >= items.size()) return;
      {
        const std::lock_guard lock(watching_);
        watcher.begin(items[i]);
      }
      const std::optional<Verdict> verdict = check(items[i], watcher);
      const std::lock_guard lock(watching_);
      if (verdict) watcher.end(*verdict);
    }
  };
  // Twice the cores: a thread waits for its compile, while another interprets.
  std::vector<std::jthread> threads;
  for (unsigned k = 0; k < 2 * std::max(1u, std::thread::hardware_concurrency()); ++k) threads.emplace_back(serve);
  threads.clear();
  return lost_;
}

std::optional<Verdict> Work::check(const Item& item, const Watcher& watcher) {
  Verdict verdict;
  verdict.family = item.family;
  verdict.number = static_cast<int64_t>(item.number);
  const Prepared prepared =
      prepare(make_sample(item.family, options_.seed, item.number, sizes_), options_.seed, machine_);
  verdict.exact = prepared.sample.exact;
  verdict.refused_knobs = prepared.refused_knobs;
  failed(verdict, outcome_of(prepared.fate), prepared.why);
  if (prepared.fate == Fate::kReady) run_prepared(prepared, item, watcher, verdict);
  if (lost_ && verdict.outcome != Outcome::kCrashed) return std::nullopt;
  if (verdict.outcome != Outcome::kPassed) verdict.text = prepared.sample.text();
  if (options_.shrink && verdict.outcome == Outcome::kWrong) verdict.shrunk = shrunk(prepared, verdict.outcome);
  return verdict;
}

void Work::run_prepared(const Prepared& prepared, const Item& item, const Watcher& watcher, Verdict& verdict) {
  evaluate::PendingBuild build(prepared.lowered, machine_, *compiler_);
  const auto expected = expected_of(prepared.sample, *prepared.program, options_.seed);
  const auto built = build.finish();
  if (!expected.ok()) return failed(verdict, Outcome::kInvalid, expected.error().text());
  if (!built.ok()) return failed(verdict, Outcome::kNotCompiled, built.error().text());
  if (!built->ok) return failed(verdict, Outcome::kNotCompiled, built->log);
  if (!device_) return;
  std::vector<std::string> cubins;
  for (const toolchain::Compiled& each : built->compiled) cubins.push_back(each.cubin);
  if (lost_) return;
  const DeviceRun run = device_->run(built->plan, cubins, expected->inputs, [&] {
    const std::lock_guard lock(watching_);
    if (watcher.on_device) watcher.on_device(item);
  });
  // Whoever comes after the one that lost the context is not to blame.
  if (run.lost && !lost_.exchange(true)) return failed(verdict, Outcome::kCrashed, run.fault);
  if (run.lost) return;
  std::map<std::string, std::vector<double>> got;
  for (const auto& [name, bytes] : run.outputs) {
    got[name] = unpacked(buffer_named(built->plan, name), reinterpret_cast<const unsigned char*>(bytes.data()));
  }
  if (!run.fault.empty()) return failed(verdict, Outcome::kWrong, run.fault);
  const Judged judged = judge(*prepared.program, *expected, got);
  verdict.worst = judged.worst;
  verdict.elements = judged.elements;
  verdict.unasked = judged.unasked;
  if (!judged.wrong.empty()) failed(verdict, Outcome::kWrong, judged.wrong);
}

std::string Work::shrunk(const Prepared& failing, Outcome outcome) {
  const auto still_fails = [&](const Sample& sample) {
    const Prepared prepared = prepare_as_written(sample, machine_);
    if (prepared.fate != Fate::kReady || lost_) return false;
    Verdict verdict;
    run_prepared(prepared, {sample.family, sample.number}, {}, verdict);
    return verdict.outcome == outcome;
  };
  return shrink(failing.sample, still_fails).text();
}

}  // namespace solstice::random_kernels
