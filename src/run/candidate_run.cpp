#include "run/candidate_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "rt/load.h"
#include "run/content.h"

namespace solstice::run {
namespace {

bool has_prepare(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const Step& step) { return step.phase == Phase::kPrepare; });
}

}  // namespace

CandidateRun::CandidateRun(JudgeDevice& device, RunnerProcess runner, Plan plan, std::optional<JudgeLimits> limits)
    : device_(device),
      limits_(limits.value_or(device.options().limits)),
      runner_(std::move(runner)),
      plan_(std::move(plan)) {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (rt::is_interface(plan_.buffers[i])) interface_.push_back(i);
  }
}

CandidateRun::~CandidateRun() { close_memory(); }

void CandidateRun::close_memory() {
  if (!loaded_.handle.empty()) device_.imports().close(loaded_.handle);
  loaded_.handle.clear();
}

Result<RunnerEnd> CandidateRun::finish(Seconds limit) {
  close_memory();
  return runner_.finish(limit);
}

Status CandidateRun::check_case(const JudgeCase& test) const {
  const auto wrong = [&](const PlanBuffer& buffer, const std::string& what) {
    return fail(Code::bad_argument, fmt::format("case `{}`, tensor `{}`: {}", test.name, buffer.name, what));
  };
  for (const size_t i : interface_) {
    const PlanBuffer& buffer = plan_.buffers[i];
    const auto given = test.given.find(buffer.name);
    if (is_given(buffer) && given == test.given.end()) return wrong(buffer, "no value is given");
    if (is_given(buffer) && given->second.bytes != buffer.bytes) {
      return wrong(buffer, fmt::format("{} bytes are given, the plan has {}", given->second.bytes, buffer.bytes));
    }
    if (is_given(buffer) && given->second.dtype != buffer.dtype)
      return wrong(buffer, "another dtype is given than the plan has");
    if (is_expected(buffer) && !test.expected.contains(buffer.name)) return wrong(buffer, "no value is expected");
  }
  return success();
}

Result<Finding> CandidateRun::load(const std::filesystem::path& plan_json, int slots) {
  SOLSTICE_TRY(const RunnerHello hello, runner_.hello());
  sandbox_ = hello.sandbox;
  const auto absolute = std::filesystem::absolute(plan_json).string();
  RunnerLoad request{absolute, slots, device_.options().red_zone, ""};
  const bool given =
      std::any_of(plan_.modules.begin(), plan_.modules.end(), [](const PlanModule& module) { return module.given; });
  if (given) {
    SOLSTICE_TRY(request.scrub, device_.scrub());
  }
  auto loaded = runner_.load(request);
  if (!loaded.ok()) {
    if (const auto finding = finding_of(loaded.error(), true)) return *finding;
    return std::move(loaded).error();
  }
  layout_ = rt::lay_out_arena(plan_, slots, device_.options().red_zone);
  if (loaded->bytes != layout_.bytes)
    return Finding{Outcome::kCrashed, "the runner's memory is not laid out as agreed"};
  SOLSTICE_TRY(arena_, device_.imports().open(loaded->handle));
  loaded_ = *loaded;
  for (const rt::ArenaRange& gap : layout_.gaps) SOLSTICE_CHECK(device_.kernels().fill(at(gap), kRedZone, gap.bytes));
  SOLSTICE_CHECK(device_.kernels().finish());
  return Finding{};
}

// If `persistent` is false, the workspace that prepare has filled is not poisoned.
Status CandidateRun::poison(int pass, bool persistent) {
  JudgeKernels& gpu = device_.kernels();
  for (const auto& places : layout_.slots) {
    for (size_t i = 0; i < places.size(); ++i) {
      const PlanBuffer& buffer = interface_buffer(i);
      if (buffer.kind == BufferKind::kParam) continue;  // in one place for all; give() writes it
      SOLSTICE_CHECK(gpu.fill(at(places[i]), output_poison(buffer, pass), places[i].bytes));
    }
  }
  size_t workspace = 0;
  for (const PlanBuffer& buffer : plan_.buffers) {
    if (buffer.kind != BufferKind::kWorkspace) continue;
    const rt::ArenaRange& range = layout_.workspace_buffers[workspace++];
    if (buffer.persistent && !persistent) continue;
    SOLSTICE_CHECK(gpu.fill(at(range), kPassPoison[pass], range.bytes));
  }
  return success();
}

Status CandidateRun::give(int slot, const JudgeCase& test, bool inputs) {
  const auto& places = layout_.slots[static_cast<size_t>(slot)];
  for (size_t i = 0; i < places.size(); ++i) {
    const PlanBuffer& buffer = interface_buffer(i);
    if (!is_given(buffer) || (buffer.kind == BufferKind::kInput && !inputs)) continue;
    SOLSTICE_CHECK(device_.kernels().copy(at(places[i]), test.given.at(buffer.name).address, places[i].bytes));
  }
  return device_.kernels().finish();
}

// A kernel can reach every slot and the whole workspace, whatever it was given, and could find there what it computed
// before. So all of that is poisoned, and `prepare`, whose results last, is done anew. It sees no inputs.
Result<Finding> CandidateRun::start_over(int slot, const JudgeCase& test, int pass) {
  if (!prepared_ || has_prepare(plan_)) {
    SOLSTICE_CHECK(poison(pass, true));
    SOLSTICE_CHECK(give(slot, test, false));
    const auto done = runner_.prepare({slot, limits_.prepare});
    if (!done.ok()) {
      if (const auto finding = finding_of(done.error(), false)) return *finding;
      return done.error();
    }
    if (!prepared_) prepare_time_ = done->wall;
    prepared_ = true;
  }
  SOLSTICE_CHECK(poison(pass, false));
  return Finding{};
}

Result<Finding> CandidateRun::launch(int slot, CaseVerdict& into) {
  const auto done = runner_.run({slot, limits_.run});
  if (done.ok()) {
    into.wall = done->wall;
    return Finding{};
  }
  if (const auto finding = finding_of(done.error(), false)) return *finding;
  return done.error();
}

Result<CaseVerdict> CandidateRun::run_case(const JudgeCase& test, int pass) {
  CaseVerdict verdict;
  verdict.name = test.name;
  verdict.pass = pass;
  const int slot = pass % slots();
  const auto failed = [&](const Finding& finding) {
    verdict.outcome = finding.outcome;
    verdict.message = finding.message;
    return verdict;
  };
  SOLSTICE_TRY(const Finding prepared, start_over(slot, test, pass));
  if (!prepared.passed()) return failed(prepared);
  SOLSTICE_CHECK(give(slot, test, true));
  SOLSTICE_TRY(const Finding launched, launch(slot, verdict));
  if (!launched.passed()) return failed(launched);
  return check(slot, test, pass, std::move(verdict));
}

Result<Finding> CandidateRun::time_some(const std::vector<const JudgeCase*>& contents, int most, Tracer tracer,
                                        TimedBlock& out) {
  RunnerTime request;
  request.cupti = tracer == Tracer::kCupti;
  request.flush_bytes = device_.flush_bytes();
  request.deadline = limits_.time;
  // In a trace it could not be told from the candidate's own memsets.
  request.poison = tracer == Tracer::kEvents ? kPoison : -1;
  std::vector<Turn> turns = turns_of(slots(), static_cast<int>(contents.size()), batch_++);
  if (turns.size() > static_cast<size_t>(most)) turns.resize(static_cast<size_t>(most));
  SOLSTICE_TRY(const Finding prepared, start_over(0, *contents[0], 0));
  if (!prepared.passed()) return prepared;
  for (const Turn& turn : turns) {
    SOLSTICE_CHECK(give(turn.slot, *contents[static_cast<size_t>(turn.content)], true));
    request.slots.push_back(turn.slot);
  }
  const auto times = runner_.time(request);
  if (!times.ok()) {
    if (const auto finding = finding_of(times.error(), false)) return *finding;
    return times.error();
  }
  if (times->seconds.size() != turns.size())
    return Finding{Outcome::kCrashed, "the runner timed another number of repetitions"};
  if (!times->same_activities || (!out.activities.empty() && out.activities != times->activities)) {
    return Finding{Outcome::kWrongResult, "the kernels that ran were not the same in every repetition"};
  }
  out.seconds.insert(out.seconds.end(), times->seconds.begin(), times->seconds.end());
  out.activities = times->activities;
  const auto append = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  append(out.activity_seconds, times->activity_seconds);
  append(out.activity_starts, times->activity_starts);
  append(out.activity_ends, times->activity_ends);
  out.launch = times->launch;
  for (const Turn& turn : turns) {
    SOLSTICE_TRY(CaseVerdict found, check(turn.slot, *contents[static_cast<size_t>(turn.content)], 0, {}));
    if (found.outcome != Outcome::kPassed)
      return Finding{found.outcome, fmt::format("timed run, {}: {}", found.name, found.message)};
  }
  return Finding{};
}

Result<TimedBlock> CandidateRun::time(const std::vector<JudgeCase>& cases, int repetitions, Tracer tracer) {
  // Parameters have one place: where they differ, one case's are used throughout.
  std::vector<const JudgeCase*> usable;
  for (const JudgeCase& test : cases) {
    const bool same = std::all_of(interface_.begin(), interface_.end(), [&](size_t i) {
      const PlanBuffer& buffer = plan_.buffers[i];
      return buffer.kind != BufferKind::kParam ||
             test.given.at(buffer.name).address == cases[0].given.at(buffer.name).address;
    });
    if (same) usable.push_back(&test);
  }
  TimedBlock out;
  while (out.verdict.passed() && out.seconds.size() < static_cast<size_t>(repetitions)) {
    const int left = repetitions - static_cast<int>(out.seconds.size());
    SOLSTICE_TRY(const Finding found, time_some(usable, left, tracer, out));
    out.verdict.outcome = found.outcome;
    out.verdict.message = found.message;
  }
  return out;
}

}  // namespace solstice::run
