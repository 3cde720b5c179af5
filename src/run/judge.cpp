#include "run/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"

namespace solstice::run {
namespace {

Result<Plan> read_plan(const std::filesystem::path& path) {
  SOLSTICE_TRY(const std::string text, read_file(path));
  SOLSTICE_TRY(const Json json, parse_json(text));
  SOLSTICE_TRY(Plan plan, from_json<Plan>(json));
  SOLSTICE_CHECK(validate(plan));
  return plan;
}

void adopt(Verdict& verdict, const CaseVerdict& found) {
  verdict.cases.push_back(found);
  if (found.outcome == Outcome::kPassed || !verdict.passed()) return;
  verdict.outcome = found.outcome;
  verdict.message = fmt::format("{}: {}", found.name, found.message);
}

}  // namespace

Judge::Judge(const rt::Driver& driver, rt::DeviceContext context, JudgeOptions options)
    : device_(driver, std::move(context), std::move(options)) {}

// Ending a process that holds a CUDA context takes a while; all of them at once take no longer. Mappings are closed
// meanwhile, the candidate's before its process ends: an exporter that frees what is still mapped is undefined by
// cuIpcCloseMemHandle's contract.
Judge::~Judge() {
  dismiss_spares();
  const rt::InContext inside(device_.driver(), device_.context());
  current_.reset();
}

void Judge::dismiss_spares() {
  for (RunnerProcess& spare : spares_) spare.end_soon();
}

Result<std::unique_ptr<Judge>> Judge::start(JudgeOptions options) {
  SOLSTICE_TRY(const rt::Driver* const driver, rt::cuda_driver());
  if (options.runner.program.empty()) {
    SOLSTICE_TRY(options.runner.program, companion("solstice-runner"));
  }
  SOLSTICE_TRY(rt::DeviceContext context, rt::DeviceContext::open(*driver, options.runner.device));
  std::unique_ptr<Judge> out(new Judge(*driver, std::move(context), std::move(options)));
  SOLSTICE_CHECK(out->start_spares(out->options().first_spares));  // they start while the kernels compile
  SOLSTICE_CHECK(out->device_.start());
  return out;
}

// All at once: starting takes each of them as long as all of them, and nothing is measured meanwhile.
Status Judge::start_spares(int count) {
  // One that died while it waited is no candidate's fault.
  std::erase_if(spares_, [](RunnerProcess& spare) { return !spare.alive(); });
  if (!spares_.empty()) return success();
  for (int i = 0; i < std::max(count, 1); ++i) {
    SOLSTICE_TRY(RunnerProcess spare, RunnerProcess::spawn(options().runner));
    spares_.push_back(std::move(spare));
  }
  return success();
}

Result<RunnerHello> Judge::runner() {
  SOLSTICE_CHECK(start_spares(options().spares));
  const Result<RunnerHello> waited = spares_.front().hello();
  if (waited.ok()) return waited;
  // It may have started while the GPU had no memory left; a fresh one says how things are now.
  spares_.clear();
  SOLSTICE_CHECK(start_spares(options().spares));
  return spares_.front().hello();
}

// A fresh process for the candidate; when it was the last, its successors start meanwhile.
Result<RunnerProcess> Judge::take_runner() {
  SOLSTICE_TRY(const RunnerHello ready, runner());
  RunnerProcess out = std::move(spares_.front());
  spares_.erase(spares_.begin());  // the oldest has started longest ago
  SOLSTICE_CHECK(start_spares(options().spares));
  return out;
}

// A process must not start up during a measurement.
Status Judge::settle() {
  SOLSTICE_CHECK(start_spares(options().spares));
  // One that could not open the GPU is found out when it is needed.
  std::erase_if(spares_, [](RunnerProcess& spare) { return !spare.hello().ok(); });
  return success();
}

Result<int> Judge::fitting_slots(const Plan& plan, int processes) const {
  SOLSTICE_TRY(const Bytes free, free_memory());
  const double allowed = free.value * options().memory_share / std::max(processes, 1);
  int slots = std::max(options().slots, 1);
  while (slots > 1 && static_cast<double>(rt::lay_out_arena(plan, slots, options().red_zone).bytes) > allowed) --slots;
  return slots;
}

Result<int> Judge::slots_for(const std::filesystem::path& plan_json, int processes) const {
  SOLSTICE_TRY(const Plan plan, read_plan(plan_json));
  return fitting_slots(plan, processes);
}

void Judge::release() { current_.reset(); }

void Judge::serve(const void* client) {
  if (client != client_) release();
  client_ = client;
  imports().belong_to(client);
}

Result<Verdict> Judge::verify(const std::filesystem::path& plan_json, const std::vector<JudgeCase>& cases, int slots) {
  release();
  if (cases.empty()) return fail(Code::bad_argument, "verification needs at least one case");
  Verdict verdict;
  verdict.policy = numerics::name_of(options().policy);
  const auto plan = read_plan(plan_json);
  if (!plan.ok()) {
    verdict.outcome = Outcome::kLoadFailed;
    verdict.message = plan.error().text();
    return verdict;
  }
  if (slots == 0) {
    SOLSTICE_TRY(slots, fitting_slots(*plan, 1));
  }
  SOLSTICE_TRY(RunnerProcess runner, take_runner());
  auto run = std::make_shared<CandidateRun>(device_, std::move(runner), *plan);
  for (const JudgeCase& test : cases) SOLSTICE_CHECK(run->check_case(test));
  SOLSTICE_TRY(const Finding loaded, run->load(plan_json, slots));
  verdict.outcome = loaded.outcome;
  verdict.message = loaded.message;
  verdict.slots = slots;
  verdict.sandbox = run->sandbox();
  verdict.memory = Bytes(static_cast<double>(rt::lay_out_arena(*plan, 1, 0).bytes));
  SOLSTICE_CHECK(run_cases(*run, cases, verdict));
  if (verdict.passed()) current_ = std::move(run);
  return verdict;
}

Status Judge::run_cases(CandidateRun& run, const std::vector<JudgeCase>& cases, Verdict& into) {
  for (size_t i = 0; i < 2 * cases.size() && into.passed(); ++i) {
    const int pass = i < cases.size() ? 0 : 1;
    SOLSTICE_TRY(const CaseVerdict found, run.run_case(cases[pass == 0 ? i : 2 * cases.size() - 1 - i], pass));
    adopt(into, found);
  }
  into.prepare = run.prepare_time();
  return success();
}

Result<Verdict> Judge::verify_more(const std::vector<JudgeCase>& cases) {
  if (!current_) return fail(Code::bad_argument, "only a plan that passed verification is verified further");
  Verdict verdict;
  verdict.policy = numerics::name_of(options().policy);
  for (const JudgeCase& test : cases) SOLSTICE_CHECK(current_->check_case(test));
  SOLSTICE_CHECK(run_cases(*current_, cases, verdict));
  if (!verdict.passed()) release();
  return verdict;
}

Result<ProfiledRun> Judge::profile(const std::filesystem::path& plan_json, const JudgeCase& test,
                                   const Profiler& profiler, const ProfileLimits& limits) {
  SOLSTICE_TRY(const Plan plan, read_plan(plan_json));
  RunnerOptions with = options().runner;
  with.profiler = profiler;
  with.start_limit = limits.start;
  with.load_limit = limits.work;
  SOLSTICE_TRY(RunnerProcess runner, RunnerProcess::spawn(with));
  CandidateRun run(device_, std::move(runner), plan, JudgeLimits{limits.work, limits.work, limits.work});
  SOLSTICE_CHECK(run.check_case(test));
  SOLSTICE_TRY(const Finding loaded, run.load(plan_json, 1));
  ProfiledRun out;
  out.sandbox = run.sandbox();
  if (loaded.passed()) {
    SOLSTICE_TRY(out.verdict, run.run_case(test, 0));
  } else {
    out.verdict.name = test.name;
    out.verdict.outcome = loaded.outcome;
    out.verdict.message = loaded.message;
  }
  SOLSTICE_TRY(out.end, run.finish(limits.end));
  return out;
}

Result<TimedBlock> Judge::time_block(const std::vector<JudgeCase>& cases, int repetitions, Tracer tracer) {
  if (!current_) return fail(Code::bad_argument, "only a plan that passed verification is timed");
  if (cases.empty() || repetitions < 1)
    return fail(Code::bad_argument, "timing needs at least one case and one repetition");
  for (const JudgeCase& test : cases) SOLSTICE_CHECK(current_->check_case(test));
  SOLSTICE_CHECK(settle());
  SOLSTICE_TRY(TimedBlock block, current_->time(cases, repetitions, tracer));
  block.verdict.policy = numerics::name_of(options().policy);
  if (!block.verdict.passed()) {
    block.seconds.clear();
    release();
  }
  return block;
}

}  // namespace solstice::run
