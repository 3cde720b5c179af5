#include "flow/run/parts/assembly.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/outcome/dropin.h"
#include "flow/run/report/measured.h"
#include "flow/run/report/report.h"
#include "flow/run/stages/finals/headline.h"
#include "flow/run/stages/finals/memory_peaks.h"
#include "flow/run/stages/finals/rivals.h"
#include "flow/run/stages/prepare/start_rivals.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

std::string folder_of(int number) { return fmt::format("stage_{}", number); }

bool belongs(const fs::path& file) {
  static const std::set<std::string> kNames = {"plan.json",    "dropin.json", "program.ucut",
                                               "problem.ucut", "report.md",   "report.json"};
  return file.extension() == ".cubin" || kNames.contains(file.filename().string());
}

}  // namespace

int StageOutcome::trials() const { return report ? static_cast<int>(report->candidates.size()) : 0; }

bool StageOutcome::tried() const { return report ? !report->out_of_time : !not_begun; }

std::string StageOutcome::outcome() const {
  if (!tried()) return "not tried";
  return report ? enum_name(report->outcome) : "failed";
}

bool StageOutcome::faster() const {
  if (!report) return false;
  if (!report->predicted) return report->outcome == RunOutcome::kFaster;
  const std::optional<Seconds> best = best_prediction(*report);
  return best && *best < original();
}

Seconds StageOutcome::time() const {
  if (!report) return Seconds(0);
  if (!report->predicted) return report->headline.replacement ? report->headline.replacement->median : Seconds(0);
  return best_prediction(*report).value_or(Seconds(0));
}

Seconds StageOutcome::original() const {
  if (report && report->headline.original) return report->headline.original->median;
  return stage.seconds;
}

std::string StageOutcome::why_not() const {
  if (!report) return failed;
  if (report->out_of_time)
    return "not tried for lack of time: none of its candidates was done within its share of the budget; --budget gives "
           "more";
  if (const std::optional<Seconds> best = report->predicted ? best_prediction(*report) : std::nullopt)
    return fmt::format("no gain is predicted for kernels of ours: {}, where PyTorch takes {}", time_text(*best),
                       time_text(original()));
  return report->reason.empty() ? enum_name(report->outcome) : report->reason;
}

Status Assembly::finish(const Cut& cut, std::vector<StageOutcome>& stages) {
  cut_ = &cut;
  stages_ = &stages;
  const Seconds began = monotonic_now();
  run_.progress.stage_started("drop-in", "stages and PyTorch's calls together");
  SOLSTICE_TRY(const std::string done, put_together());
  std::error_code ignored;  // it is the run's own folder, which goes with it
  fs::remove_all(run_.folders.fresh / "stages", ignored);
  run_.report.timings["drop-in"] += monotonic_now() - began;
  run_.progress.stage_finished("drop-in", done, monotonic_now() - began);
  time_baselines();
  return success();
}

// The opponents, as next to a module that is ours as a whole; after Ctrl-C there are none.
void Assembly::time_baselines() {
  if (!opened_.gpu) return;
  Baseline eager;
  eager.name = "PyTorch eager";
  eager.speedup = 1;
  eager.time = run_.report.headline.original;
  eager.note = eager.time ? "in turn with the drop-in" : "not timed: there is no drop-in to compare it with";
  if (!times_rivals(run_) || interrupted()) {
    if (eager.time) run_.report.baselines.push_back(eager);
    return;
  }
  const Seconds began = monotonic_now();
  run_.progress.stage_started("baselines", kRivalsDetail);
  run_.engine.oracle->stop_when([] { return interrupted(); });
  const std::string done = time_rivals(run_, eager);
  run_.engine.oracle->stop_when(nullptr);
  run_.report.timings["baselines"] += monotonic_now() - began;
  run_.progress.stage_finished("baselines", done, monotonic_now() - began);
}

// Also after Ctrl-C, unlike other stages of a run: what was found by then is its outcome.
Result<std::string> Assembly::put_together() {
  const bool any = !kept().empty();
  std::string done = any ? "predicted" : decline(run_, nothing_ours());
  if (any) SOLSTICE_CHECK(ask_schedule());
  if (any && opened_.gpu) {
    SOLSTICE_TRY(done, measure());
  }
  add_rows();
  if (!opened_.gpu) predict();
  if (any && run_.report.outcome != RunOutcome::kNotFaster) SOLSTICE_CHECK(write());  // with its rows
  if (interrupted() && run_.report.outcome != RunOutcome::kFaster) {
    run_.report.outcome = RunOutcome::kInterrupted;
    run_.report.reason = "the search was stopped; so far: " + run_.report.reason;
  }
  return done;
}

std::vector<int> Assembly::kept() const {
  std::vector<int> out;
  for (const StageOutcome& each : *stages_) {
    if (each.faster() && !dropped_.contains(each.stage.number)) out.push_back(each.stage.number);
  }
  return out;
}

std::string Assembly::nothing_ours() const {
  const bool all = std::all_of(stages_->begin(), stages_->end(), [](const StageOutcome& each) { return each.tried(); });
  std::string out = all ? "none of its parts is faster in kernels of ours"
                        : "none of its parts is known to be faster in kernels of ours";
  for (const StageOutcome& each : *stages_)
    out += fmt::format("; stage {} ({}): {}", each.stage.number, each.stage.title, each.why_not());
  return out;
}

void Assembly::predict() {
  run_.report.outcome = RunOutcome::kPredicted;
  if (kept().empty()) {
    run_.report.reason = "nothing was measured; " + nothing_ours();
    return;
  }
  Seconds ours{0}, all{0};
  for (const PartRow& row : run_.report.parts) {
    all += row.time;
    if (row.ours) ours += row.time;
  }
  const auto [device, host] = predicted_times();
  const Seconds original = cut_->predicted.original.time, time = sol::headline_time(device, host, opened_.machine);
  run_.report.reason = fmt::format(
      "nothing was measured; predicted {:.3g}x faster, {} where PyTorch eager takes {}: {} of {} parts are ours, "
      "{:.0f} % of the {} that all parts take{}",
      time.value > 0 ? original / time : 1.0, time_text(time), time_text(original), kept().size(),
      run_.report.parts.size(), all.value > 0 ? 100 * (ours / all) : 0.0, time_text(all),
      time > device ? " on the GPU alone (launching them on the host takes longer)" : "");
}

// Of the drop-in, on the device and on the host: the original with the calls of stages replaced, each by one launch.
std::pair<Seconds, Seconds> Assembly::predicted_times() const {
  Seconds device = cut_->predicted.original.device, host = cut_->predicted.original.host;
  const std::vector<int> numbers = kept();
  for (const StageOutcome& each : *stages_) {
    if (std::find(numbers.begin(), numbers.end(), each.stage.number) == numbers.end()) continue;
    device += each.time() - each.original();
    if (host.value > 0) host += opened_.machine.measured.eager_launch.value_or(Seconds(0));
    for (const std::string& name : each.stage.names) {
      const auto call = cut_->predicted.calls.find(name);
      if (call != cut_->predicted.calls.end()) host += Seconds(0) - call->second.host;
    }
  }
  return {device, host};
}

Status Assembly::copy_stage(const StageOutcome& stage) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(stage.folder, error)) {
    if (!belongs(entry.path())) continue;
    SOLSTICE_TRY(const std::string bytes, read_file(entry.path()));
    SOLSTICE_CHECK(write_file(run_.folders.fresh / folder_of(stage.stage.number) / entry.path().filename(), bytes));
  }
  if (error) return fail(Code::io_error, "cannot read a stage's folder: " + error.message());
  return success();
}

Status Assembly::ask_schedule() {
  SOLSTICE_TRY(schedule_, schedule_of(*run_.engine.oracle, kept()));
  return success();
}

// Needs no oracle: its process may be lost once calls were timed.
Status Assembly::write() {
  const std::vector<int> numbers = kept();
  Json schedule = schedule_;
  Json places = Json::object();
  std::map<int, std::string> left_out;  // by stage
  for (const StageOutcome& each : *stages_) {
    std::error_code ignored;  // of an earlier attempt with more stages
    fs::remove_all(run_.folders.fresh / folder_of(each.stage.number), ignored);
    if (std::find(numbers.begin(), numbers.end(), each.stage.number) == numbers.end()) continue;
    places.set(std::to_string(each.stage.number), folder_of(each.stage.number));
    SOLSTICE_CHECK(copy_stage(each));
    if (each.report && !each.report->left_out.empty()) left_out[each.stage.number] = each.report->left_out;
  }
  schedule.set("stages", places);
  Json rows = Json::array();
  for (const PartRow& row : run_.report.parts) rows.push(to_json(row));
  const importer::ImportedProblem none;
  const DropinParts parts{whole_.graph, none, whole_.subject, opened_.machine.arch, run_.options.terms.frozen,
                          schedule,     rows, !opened_.gpu,   !left_out.empty()};
  run_.report.left_out.clear();
  for (const auto& [stage, text] : left_out)
    run_.report.left_out += fmt::format("{}stage {}: {}", run_.report.left_out.empty() ? "" : "; ", stage, text);
  return write_dropin(parts, run_.folders.fresh, run_.folders.out);
}

// Stages whose values PyTorch decides on go, where there are any.
bool Assembly::drop_deciders() {
  bool any = false;
  for (const StageOutcome& each : *stages_) {
    if (each.stage.decides && each.faster() && dropped_.insert(each.stage.number).second) any = true;
  }
  return any && !kept().empty();
}

Result<std::string> Assembly::measure() {
  run::OracleClient& oracle = *run_.engine.oracle;
  SOLSTICE_CHECK(write());
  const std::string path = dropin_path(run_, whole_).string();
  SOLSTICE_TRY(std::string why, check(path));
  if (!why.empty() && drop_deciders()) {
    run_.report.warnings.push_back("stages that decisions of PyTorch's depend on are not used: with them " + why);
    SOLSTICE_CHECK(enter_stage(oracle, 0));  // which forgets the drop-in that it has loaded
    SOLSTICE_CHECK(ask_schedule());
    SOLSTICE_CHECK(write());
    SOLSTICE_TRY(why, check(path));
  }
  if (!why.empty()) return decline(run_, std::move(why));
  SOLSTICE_CHECK(oracle.prepare_inputs("trial"));
  SOLSTICE_TRY(std::string done, time(path));
  measure_calls();
  return done;
}

// Rows for the reader: the drop-in was timed, whatever becomes of them. A call may take the oracle's process with it,
// so that only the opponents come later, which have a process of their own where the module is a file's.
void Assembly::measure_calls() {
  Result<std::map<std::string, Seconds>> found = time_calls(*run_.engine.oracle, "trial", kept());
  if (found.ok())
    measured_ = std::move(*found);
  else
    run_.report.warnings.push_back("times of PyTorch's calls are predicted: " + found.error().message);
}

// Why the drop-in fails, "" where it passes.
Result<std::string> Assembly::check(const std::string& path) {
  const std::string& numerics = run_.options.terms.numerics;
  const Result<OracleDropinCheck> found = run_.engine.oracle->check_dropin(path, numerics);
  if (!found.ok() && (found.error().code == Code::candidate_failed || found.error().code == Code::too_large))
    return found.error().message;
  if (!found.ok()) return found.error();
  limit_ = timed_limit(*found);
  return refusal_of(run_, *found, Verified::kInParts).value_or("");
}

Result<std::string> Assembly::time(const std::string& path) {
  constexpr bool kEachPartWon = true;  // others are not in it
  const Result<Timing> timing = time_in_tries(kEachPartWon, [&] { return compare_once(run_, path, limit_, clocks_); });
  if (!timing.ok()) return declined_or_error(run_, timing.error());
  if (const std::string why = objection(*timing); !why.empty())
    return decline(run_, "the drop-in was not compared with the original: " + why);
  Headline& h = run_.report.headline;
  h.original = measured_of(*timing, &TimingRound::baseline);
  h.replacement = measured_of(*timing, &TimingRound::candidate);
  h.speedup = timing->speedup;
  h.speedup_low = timing->interval999[0];
  h.speedup_high = timing->interval999[1];
  if (const std::string why = impossible(); !why.empty()) return decline(run_, "the drop-in's time is void: " + why);
  const std::string figure = fmt::format("{:.3g}x [{:.3g}, {:.3g}]", h.speedup, h.speedup_low, h.speedup_high);
  if (!timing->win)
    return decline(run_, "the drop-in of its parts is " + figure + " of the original: no win beyond noise");
  run_.report.outcome = RunOutcome::kFaster;
  measure_memory(run_, whole_);
  return figure;
}

// The kernels of all stages run in it. A stage's inputs may still lie in L2, where those of the judge never do.
std::string Assembly::impossible() const {
  constexpr double kWarm = 0.5;
  Seconds kernels{0};
  for (const StageOutcome& each : *stages_) {
    const bool used = each.faster() && !dropped_.contains(each.stage.number);
    if (used && each.report->headline.kernels) kernels += each.report->headline.kernels->median;
  }
  const Seconds whole = run_.report.headline.replacement->median;
  if (whole >= kernels * kWarm) return "";
  return fmt::format("it took {}, but the kernels of its stages take {} by themselves", time_text(whole),
                     time_text(kernels));
}

void Assembly::add_rows() {
  std::vector<PartRow>& rows = run_.report.parts;
  rows.clear();
  const std::vector<int> numbers = kept();
  for (const StageOutcome& each : *stages_) {
    PartRow row;
    row.what = fmt::format("stage {}: {}", each.stage.number, each.stage.title);
    row.ours = std::find(numbers.begin(), numbers.end(), each.stage.number) != numbers.end();
    row.outcome = each.outcome();
    row.trials = each.trials();
    row.original = each.original();
    row.time = row.ours ? each.time() : row.original;
    row.predicted = !opened_.gpu;
    if (dropped_.contains(each.stage.number)) row.why = "decisions of PyTorch's depend on its last bits";
    if (!row.ours && row.why.empty()) row.why = each.why_not();
    rows.push_back(std::move(row));
  }
  for (const CutCall& call : cut_->calls) {
    PartRow row;
    row.what = call.op;
    const auto found = measured_.find(call.name);
    row.time = found == measured_.end() ? call.seconds : found->second;
    row.original = row.time;
    row.predicted = found == measured_.end();
    if (!call.file.empty()) row.place = fmt::format("{}:{}", fs::path(call.file).filename().string(), call.line);
    row.why = call.why;
    rows.push_back(std::move(row));
  }
  fill_shares();
}

void Assembly::fill_shares() {
  Seconds all{0};
  for (const PartRow& row : run_.report.parts) all += row.time;
  for (PartRow& row : run_.report.parts) row.share = all.value > 0 ? row.time / all : 0;
}

}  // namespace solstice::flow
