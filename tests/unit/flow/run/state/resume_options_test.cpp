// Options of a run that goes on: what is left out is the run's, what differs is named.
#include "flow/run/state/resume_options.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace {

namespace fs = std::filesystem;

OptimizeOptions begun_with() {
  OptimizeOptions out;
  out.module.file = "/home/me/softmax.py";
  out.place.device = "auto";
  out.terms.numerics = "high";
  out.search.seed = 7;
  return out;
}

RunRecord run_of(const OptimizeOptions& options) {
  RunRecord out;
  out.id = "20260101-000000-aaaa";
  out.problem = "softmax";
  out.file = options.module.file;
  out.problem_key = problem_key("text", "", options.module);
  out.options_key = options_key_of(options);
  out.options = kept_options(options);
  out.device = "model";
  out.machine = "h200";
  out.seed = static_cast<int64_t>(options.search.seed);
  return out;
}

// Options of the newest run of `options.store` that goes on.
Result<OptimizeOptions> as_begun(OptimizeOptions options) {
  SOLSTICE_TRY(store::Store store, store::Store::open(options.store));
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run("last"));
  SOLSTICE_CHECK(take_as_begun(loaded, options));
  return options;
}

std::string refused(const OptimizeOptions& options, const RunRecord& run, const std::string& source = "text") {
  StoredRun now;
  now.source = source;
  const Status checked = check_as_begun(options, now, {.run = run, .trials = {}});
  return checked.ok() ? "" : checked.error().message;
}

TEST(ResumeOptions, ACutModuleGoesOnWithItsParts) {
  const OptimizeOptions given = begun_with();
  RunRecord run = run_of(given);
  EXPECT_TRUE(check_whole(run, given).ok());
  run.command = {"solstice", "optimize", "softmax.py"};
  run.summary = Json::object().set(kCut, true);
  EXPECT_TRUE(check_whole(run, given).ok());
  OptimizeOptions batches = given;
  batches.place.detached = true;
  const Status measured_elsewhere = check_whole(run, batches);
  ASSERT_FALSE(measured_elsewhere.ok());
  EXPECT_NE(measured_elsewhere.error().hint.find("solstice optimize --resume " + run.id), std::string::npos);

  run.state = RunState::kFinished;
  EXPECT_NE(check_whole(run, given).error().message.find("nothing is left to do"), std::string::npos);

  OptimizeOptions stage = begun_with();
  stage.module.part = true;
  stage.module.part_of = "20250101-000000-bbbb";
  const Status alone = check_whole(run_of(stage), given);
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().message.find("a part of run 20250101-000000-bbbb"), std::string::npos);
  EXPECT_NE(alone.error().hint.find("solstice optimize --resume 20250101-000000-bbbb"), std::string::npos);
  EXPECT_TRUE(check_whole(run_of(stage), stage).ok());
}

TEST(ResumeOptions, TheSameAreTheRuns) { EXPECT_EQ(refused(begun_with(), run_of(begun_with())), ""); }

TEST(ResumeOptions, EachThatDiffersIsNamedWithACommandThatGoesOn) {
  OptimizeOptions now = begun_with();
  now.terms.numerics = "reference";
  now.terms.frozen = true;
  now.terms.rewrites = "off";
  now.search.findings = false;
  now.place.machine = "h100";
  EXPECT_EQ(
      refused(now, run_of(begun_with())),
      "run 20260101-000000-aaaa of softmax cannot continue with other options than it began with: --machine (the "
      "run has "
      "h200, given is h100), "
      "--numerics (the run has high, given is reference), --weights (the run has live, given is frozen), "
      "--rewrites (the run has on, "
      "given is off), --findings (the run has on, given is off); options that are not given are those of the run: "
      "`solstice optimize --resume 20260101-000000-aaaa`");
  now = begun_with();
  now.terms.numerics = "reference";
  now.store = "/tmp/a store";
  EXPECT_NE(refused(now, run_of(begun_with()))
                .find("`solstice optimize --resume 20260101-000000-aaaa --store '/tmp/a store'`"),
            std::string::npos);
  now.place.detached = true;
  EXPECT_NE(refused(now, run_of(begun_with())).find("`solstice propose 20260101-000000-aaaa --store '/tmp/a store'`"),
            std::string::npos);
  now.module.oracle_fd = 3;
  const std::string call = "`solstice.optimize(module, args, resume=\"20260101-000000-aaaa\", store=\"/tmp/a store\")`";
  EXPECT_NE(refused(now, run_of(begun_with())).find(call), std::string::npos);
}

TEST(ResumeOptions, AFileIsNoModuleOfPython) {
  RunRecord run = run_of(begun_with());
  run.file.clear();
  const std::string why = refused(begun_with(), run, "other");
  EXPECT_NE(why.find("`solstice.optimize(module, args, resume=\"20260101-000000-aaaa\")`"), std::string::npos) << why;
}

TEST(ResumeOptions, AFileIsTheSameByItsText) {
  OptimizeOptions now = begun_with();
  now.module.file = "/elsewhere/softmax.py";
  EXPECT_EQ(refused(now, run_of(begun_with())), "");
  EXPECT_NE(refused(now, run_of(begun_with()), "other")
                .find("FILE (the run has /home/me/softmax.py, given is /elsewhere/softmax.py); options"),
            std::string::npos);
  const std::string changed = refused(begun_with(), run_of(begun_with()), "other");
  EXPECT_NE(changed.find("FILE (the text of /home/me/softmax.py has changed since the run began); to use the new"),
            std::string::npos)
      << changed;
  now.module.class_name = "Other";
  const std::string other_class = refused(now, run_of(begun_with()));
  EXPECT_NE(other_class.find("the class (the run has none, given is `Other`);"), std::string::npos) << other_class;
}

TEST(ResumeOptions, PredictedTimesGoOnAnywhereMeasuredOnesOnAGpu) {
  for (const char* now : {"auto", "model"}) {
    OptimizeOptions options = begun_with();
    options.place.device = now;
    EXPECT_EQ(refused(options, run_of(begun_with())), "") << now;
  }
  RunRecord measured = run_of(begun_with());
  measured.device = "NVIDIA H200";
  OptimizeOptions options = begun_with();
  EXPECT_EQ(refused(options, measured), "");
  options.place.device = "model";
  EXPECT_NE(refused(options, measured).find("--device (the run has NVIDIA H200, given is model)"), std::string::npos);
}

TEST(ResumeOptions, PredictedTimesThatWereAskedForStayPredicted) {
  OptimizeOptions began = begun_with();
  began.place.device = "model";
  OptimizeOptions now = began;
  for (const char* device : {"gpu", "auto"}) {  // where a GPU is, auto is one
    now.place.device = device;
    EXPECT_NE(refused(now, run_of(began)).find(std::string("--device (the run has model, given is ") + device + ")"),
              std::string::npos);
  }
  now.place.device = "model";
  now.place.gpus.ordinals = {0, 1};
  EXPECT_NE(refused(now, run_of(began)).find("--devices (the run has none: --device is model, given is 0,1)"),
            std::string::npos);
  RunRecord measured = run_of(began);
  measured.device = "NVIDIA H200";  // by a batch
  now.place.device = "auto";
  EXPECT_EQ(refused(now, measured), "");
}

TEST(ResumeOptions, WhatWasMeasuredIsWhatTheEventsSay) {
  store::LoadedRun loaded{.run = run_of(begun_with()), .trials = {}};
  search::Tree tree;
  tree.add({.program = "a"});
  search::Measurement found;
  found.state = TrialState::kPredicted;
  found.time = Seconds(2);
  tree.complete(1, found);
  const auto take_events = [&] {
    loaded.events.clear();
    for (const search::Event& event : tree.events()) loaded.events.push_back({event, ""});
  };
  take_events();
  EXPECT_FALSE(is_of_gpu(loaded));
  found.state = TrialState::kVerified;
  tree.complete(1, found);
  take_events();
  EXPECT_TRUE(is_of_gpu(loaded));  // by a batch whose original.json did not come
  OptimizeOptions now = begun_with();
  now.place.device = "model";
  StoredRun files;
  files.source = "text";
  const Status checked = check_as_begun(now, files, loaded);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("--device (the run has a GPU, given is model)"), std::string::npos)
      << checked.error().message;
}

TEST(ResumeOptions, MemoryIsAsTheRunBeganWithIt) {
  OptimizeOptions now = begun_with();
  now.search.memory = false;
  EXPECT_NE(refused(now, run_of(begun_with())).find("--memory (the run has on, given is off)"), std::string::npos);
}

TEST(ResumeOptions, RecordsWithoutOptionsGoByTheirKey) {
  RunRecord old = run_of(begun_with());
  old.options = Json();
  old.command = {"solstice", "optimize", "softmax.py", "--numerics", "high"};
  EXPECT_EQ(refused(begun_with(), old), "");
  OptimizeOptions now = begun_with();
  now.terms.numerics = "reference";
  const std::string why = refused(now, old);
  EXPECT_NE(why.find("--numerics or --weights (given are reference and live;"), std::string::npos) << why;
  EXPECT_NE(why.find("`solstice optimize softmax.py --numerics high`"), std::string::npos) << why;
  EXPECT_NE(why.find("`solstice optimize --resume 20260101-000000-aaaa --numerics high`"), std::string::npos) << why;
}

// Records of earlier versions have a truth for the rewrites.
TEST(ResumeOptions, RewritesAreTheRuns) {
  for (const Json& kept : {Json("strict"), Json(false), Json(true), Json("off")}) {
    const auto folder = TempFolder::create("resume-options-");
    ASSERT_TRUE(folder.ok());
    RunRecord run = run_of(begun_with());
    run.options.set("rewrites", kept);
    ASSERT_TRUE(store::Store::open(folder->path())->begin_run(run).ok());
    OptimizeOptions options;
    options.store = folder->path();
    options.left_out = {"FILE", "--rewrites"};
    const auto completed = as_begun(options);
    ASSERT_TRUE(completed.ok()) << completed.error().text();
    EXPECT_EQ(completed->terms.rewrites, kept.is_bool() ? (kept.as_bool() ? "on" : "off") : kept.as_string());
  }
}

TEST(ResumeOptions, WhatIsLeftOutIsTheRuns) {
  const auto folder = TempFolder::create("resume-options-");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(store::Store::open(folder->path())->begin_run(run_of(begun_with())).ok());
  OptimizeOptions options;
  options.store = folder->path();
  options.left_out = {"FILE", "--device", "--machine", "--numerics", "--weights", "--rewrites", "--seed"};
  const auto completed = as_begun(options);
  ASSERT_TRUE(completed.ok()) << completed.error().text();
  EXPECT_EQ(completed->module.file, "/home/me/softmax.py");
  EXPECT_EQ(completed->terms.numerics, "high");
  EXPECT_EQ(completed->search.seed, 7u);
  EXPECT_EQ(completed->place.machine, "");  // found from the device, as then
  options.left_out = {"FILE"};
  EXPECT_EQ(as_begun(options)->terms.numerics, "reference");
  options.place.detached = true;
  options.left_out = {"FILE", "--machine"};
  EXPECT_EQ(as_begun(options)->place.machine, "h200");
}

TEST(ResumeOptions, ASearchGoesOnAsItWas) {
  const auto folder = TempFolder::create("resume-options-");
  ASSERT_TRUE(folder.ok());
  OptimizeOptions began = begun_with();
  began.search.budget = Seconds(12), began.search.trials = 30, began.search.eps = 0.5, began.search.window = 3,
  began.search.roi = 0.25, began.search.memory = false;
  RunRecord run = run_of(began);
  run.folder = "/home/me/runs/softmax";
  ASSERT_TRUE(store::Store::open(folder->path())->begin_run(run).ok());
  OptimizeOptions options;
  options.store = folder->path();
  options.left_out = {"FILE", "--budget", "--trials", "--eps", "--window", "--roi", "--memory", "--out"};
  const auto same = as_begun(options);
  ASSERT_TRUE(same.ok()) << same.error().text();
  EXPECT_EQ(same->search.budget, Seconds(12));
  EXPECT_EQ(same->search.trials, 30);
  EXPECT_EQ(same->search.eps, 0.5);
  EXPECT_EQ(same->search.window, 3);
  EXPECT_EQ(same->search.roi, 0.25);
  EXPECT_FALSE(same->search.memory);
  EXPECT_EQ(same->out, "/home/me/runs/softmax");
  options.agent.controller = "flat";  // for the first time: it takes longer
  EXPECT_EQ(as_begun(options)->search.budget, OptimizeOptions().search.budget);
  EXPECT_EQ(as_begun(options)->search.trials, 30);  // what was tried counts
  options.agent = {};
  options.left_out.erase("--budget");  // `--budget 5m`: the other part is the run's
  options.search.budget = Seconds(300);
  EXPECT_EQ(as_begun(options)->search.budget, Seconds(300));
  EXPECT_EQ(as_begun(options)->search.trials, 30);
  options.left_out = {"FILE"};
  const auto other = as_begun(options);
  EXPECT_EQ(other->search.eps, OptimizeOptions().search.eps);
  EXPECT_TRUE(other->out.empty());
}

TEST(ResumeOptions, AModuleOfPythonIsPassedAgain) {
  const auto folder = TempFolder::create("resume-options-");
  ASSERT_TRUE(folder.ok());
  OptimizeOptions began = begun_with();
  began.module.file.clear();
  ASSERT_TRUE(store::Store::open(folder->path())->begin_run(run_of(began)).ok());
  OptimizeOptions options;
  options.store = folder->path();
  options.left_out = {"FILE"};
  const auto completed = as_begun(options);
  ASSERT_FALSE(completed.ok());
  EXPECT_NE(completed.error().hint.find("resume=\"20260101-000000-aaaa\", store=\"" + folder->path().string() + "\")"),
            std::string::npos)
      << completed.error().message;
  options.module.oracle_fd = 3;
  EXPECT_TRUE(as_begun(options).ok());
}

}  // namespace
}  // namespace solstice::flow
