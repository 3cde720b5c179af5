#include "store/store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "unit/store/support.h"

namespace solstice::store {
namespace {

TrialRecord trial_of(const std::string& run, int number, TrialState state) {
  TrialRecord trial;
  trial.run = run;
  trial.number = number;
  trial.program = "program p\n";
  trial.state = state;
  if (state == TrialState::kVerified) trial.measured = microseconds(12.5);
  trial.verdict = Json::object().set("ok", state == TrialState::kVerified);
  return trial;
}

TEST_F(StoreTest, KeepsRunsAndTrials) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("softmax", "o"));
  ASSERT_TRUE(store.add_trial(trial_of(id, 1, TrialState::kWrong)).ok());
  ASSERT_TRUE(store.add_trial(trial_of(id, 2, TrialState::kVerified)).ok());
  ASSERT_TRUE(
      store.finish_run(id, RunState::kFinished, RunOutcome::kFaster, "", Json::object().set("speedup", 2.5)).ok());

  const Result<LoadedRun> loaded = open().load_run(id);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->run.state, RunState::kFinished);
  EXPECT_EQ(loaded->run.summary.at("speedup").as_double(), 2.5);
  ASSERT_EQ(loaded->trials.size(), 2u);
  EXPECT_EQ(loaded->trials[1].measured, microseconds(12.5));
  EXPECT_FALSE(loaded->trials[0].measured.has_value());
  EXPECT_TRUE(loaded->trials[1].verdict.at("ok").as_bool());
}

TEST_F(StoreTest, ARunIsDroppedWhereItHasNothing) {
  Store store = open();
  const std::string none = *store.begin_run(run_of("softmax", "o"));
  const std::string some = *store.begin_run(run_of("softmax", "o"));
  ASSERT_TRUE(store.add_trial(trial_of(some, 1, TrialState::kWrong)).ok());
  EXPECT_TRUE(store.drop_run(none).ok());
  EXPECT_TRUE(store.drop_run(some).ok());
  EXPECT_EQ(store.load_run(none).error().code, Code::not_found);
  EXPECT_TRUE(store.load_run(some).ok());
  EXPECT_EQ(store.list()->size(), 1u);
}

TEST_F(StoreTest, FindsVerifiedTrialsOfAProblemNewestRunFirst) {
  Store store = open();
  RunRecord first = run_of("softmax", "o");
  first.started = "2026-01-01T00:00:00.000Z";
  const std::string old_run = *store.begin_run(first);
  const std::string new_run = *store.begin_run(run_of("softmax", "other options"));
  const std::string elsewhere = *store.begin_run(run_of("gelu", "o"));
  ASSERT_TRUE(store.describe_run(new_run, "h200", "a GPU", {{"driver", "580"}}).ok());
  for (const std::string& run : {old_run, new_run, elsewhere}) {
    ASSERT_TRUE(store.add_trial(trial_of(run, 1, TrialState::kVerified)).ok());
    ASSERT_TRUE(store.add_trial(trial_of(run, 2, TrialState::kWrong)).ok());
  }
  const auto found = store.verified_trials("key-of-softmax");
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].run.id, new_run);
  EXPECT_EQ((*found)[0].run.versions.at("driver"), "580");
  EXPECT_EQ((*found)[0].run.machine, "h200");
  EXPECT_EQ((*found)[1].trials.size(), 1u);
  EXPECT_EQ(store.verified_trials("key-of-softmax", "", 1)->size(), 1u);

  // As the newer one was told when it began: nothing of itself, nor of what came later.
  const auto before = store.verified_trials("key-of-softmax", (*found)[0].run.started);
  ASSERT_TRUE(before.ok()) << before.error().text();
  ASSERT_EQ(before->size(), 1u);
  EXPECT_EQ((*before)[0].run.id, old_run);
}

TEST_F(StoreTest, FindsRunsByPrefixAndLast) {
  Store store = open();
  RunRecord first = run_of("a", "o"), second = run_of("b", "o");
  first.id = "20260101-000000-aaaa";
  second.id = "20260102-000000-bbbb";
  ASSERT_TRUE(store.begin_run(first).ok());
  ASSERT_TRUE(store.begin_run(second).ok());
  EXPECT_EQ(store.load_run("last")->run.problem, "b");
  EXPECT_EQ(store.load_run("20260101")->run.problem, "a");
  EXPECT_EQ(store.load_run("2026").error().code, Code::bad_argument);
  EXPECT_EQ(store.load_run("x").error().code, Code::not_found);
  EXPECT_EQ(store.list(1)->front().run->problem, "b");
}

TEST_F(StoreTest, TheNewestOfTwoRunsOfOneSecondIsTheOneThatStartedLater) {
  Store store = open();
  RunRecord first = run_of("a", "o"), second = run_of("b", "o");
  first.id = "20260101-000000-zzzz", first.started = "2026-01-01T00:00:00.200Z";
  second.id = "20260101-000000-aaaa", second.started = "2026-01-01T00:00:00.700Z";
  ASSERT_TRUE(store.begin_run(first).ok());
  ASSERT_TRUE(store.begin_run(second).ok());
  EXPECT_EQ(store.load_run("last")->run.problem, "b");
  EXPECT_EQ(store.list(1)->front().run->problem, "b");
}

TEST_F(StoreTest, LastPassesOverRunsThatFailedBeforeTheirSearch) {
  Store store = open();
  const auto begin = [&](const char* id) {
    RunRecord run = run_of(id, "o");
    run.id = id;
    EXPECT_TRUE(store.begin_run(run).ok());
  };
  const auto end = [&](const char* id, RunState state) {
    EXPECT_TRUE(store.finish_run(id, state, RunOutcome::kNone, "", Json()).ok());
  };
  begin("20260101-000000-aaaa");
  end("20260101-000000-aaaa", RunState::kFailed);
  EXPECT_EQ(store.load_run("last")->run.id, "20260101-000000-aaaa");  // there is no other
  begin("20260102-000000-bbbb");
  end("20260102-000000-bbbb", RunState::kInterrupted);  // killed before its first trial: it goes on
  begin("20260103-000000-cccc");
  end("20260103-000000-cccc", RunState::kFailed);
  EXPECT_EQ(store.load_run("last")->run.id, "20260102-000000-bbbb");
  begin("20260104-000000-dddd");
  ASSERT_TRUE(store.add_event("20260104-000000-dddd", 0, search::Event{}).ok());
  end("20260104-000000-dddd", RunState::kFailed);
  EXPECT_EQ(store.load_run("last")->run.id, "20260104-000000-dddd");
}

TEST_F(StoreTest, LastPassesOverPartsOfAModule) {
  Store store = open();
  RunRecord whole = run_of("net", "o"), part = run_of("net, stage 1", "o");
  whole.id = "20260101-000000-aaaa", part.id = "20260101-000001-bbbb";
  part.options = Json::object().set("part", true);
  ASSERT_TRUE(store.begin_run(whole).ok());
  ASSERT_TRUE(store.begin_run(part).ok());
  EXPECT_EQ(store.load_run("last")->run.problem, "net");
}

TEST_F(StoreTest, ARunLearnsItsProblemLater) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o"));
  ASSERT_TRUE(store.identify_run(id, "another").ok());
  EXPECT_EQ(store.load_run(id)->run.problem_key, "another");
  EXPECT_EQ(store.load_run(id)->run.problem, "p");
  TrialRecord trial;
  trial.run = id;
  trial.state = TrialState::kVerified;
  ASSERT_TRUE(store.add_trial(trial).ok());
  EXPECT_EQ(store.verified_trials("another")->size(), 1u);
  EXPECT_TRUE(store.verified_trials("key-of-p")->empty());
  EXPECT_EQ(store.identify_run("none", "x").error().code, Code::not_found);
}

TEST_F(StoreTest, KeepsWhatAKilledProcessWrote) {
  const pid_t child = ::fork();
  if (child == 0) {
    Store store = open();
    RunRecord run = run_of("killed", "o");
    run.id = "r1";
    (void)store.begin_run(run);
    for (int i = 1; i <= 20; ++i) (void)store.add_trial(trial_of("r1", i, TrialState::kVerified));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  Store store = open();
  EXPECT_EQ(store.load_run("r1")->trials.size(), 20u);
  EXPECT_EQ(*store.close_abandoned(), 1);
  EXPECT_EQ(store.load_run("r1")->run.state, RunState::kInterrupted);
}

TEST_F(StoreTest, LeavesItsOwnRunningRunsOpen) {
  Store store = open();
  ASSERT_TRUE(store.begin_run(run_of("alive", "o")).ok());
  EXPECT_EQ(*store.close_abandoned(), 0);
}

TEST_F(StoreTest, ADamagedRecordIsNamedAndHidesNoOther) {
  Store store = open();
  RunRecord good = run_of("good", "o"), bad = run_of("bad", "o"), trials = run_of("trials", "o");
  good.id = "1-good", bad.id = "2-bad", trials.id = "3-trials";
  for (const RunRecord& run : {good, bad, trials}) ASSERT_TRUE(store.begin_run(run).ok());
  ASSERT_TRUE(store.add_trial(trial_of(trials.id, 7, TrialState::kVerified)).ok());
  {
    Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
    ASSERT_TRUE(database.execute("UPDATE runs SET record = '{\"id\": 3', pid = 0 WHERE id = '2-bad'").ok());
    ASSERT_TRUE(database.execute("UPDATE trials SET record = '[]'").ok());
  }
  EXPECT_EQ(*store.close_abandoned(), 1);  // the damaged one, whose process is none
  EXPECT_EQ(*store.close_abandoned(), 0);
  const auto listed = store.list();
  ASSERT_TRUE(listed.ok()) << listed.error().text();
  ASSERT_EQ(listed->size(), 3u);
  EXPECT_EQ((*listed)[2].run->problem, "good");
  EXPECT_EQ((*listed)[1].id, "2-bad");
  const std::string database = (folder_.path() / "runs.db").string();
  const std::string why = (*listed)[1].run.error().message;
  EXPECT_NE(why.find("the record of run 2-bad in " + database + " is damaged"), std::string::npos) << why;
  EXPECT_EQ(store.load_run("2-bad").error().message, why);
  const std::string trial = store.load_run("3").error().message;
  EXPECT_NE(trial.find("trial 7 of run 3-trials in " + database), std::string::npos) << trial;
}

// Written when trials could name artifacts.
TEST_F(StoreTest, ReadsTrialsOfAnEarlierProgram) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o"));
  ASSERT_TRUE(store.add_trial(trial_of(id, 1, TrialState::kVerified)).ok());
  {
    Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
    ASSERT_TRUE(database.execute("UPDATE trials SET record = json_set(record, '$.artifacts', json_array('0f'))").ok());
  }
  EXPECT_EQ(store.load_run(id)->trials.size(), 1u);
}

TEST_F(StoreTest, KeepsAFactOfANodeOnceAndForGood) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o"));
  const auto added = store.add_facts({fact_of(id, 1), fact_of(id, 2)});
  ASSERT_TRUE(added.ok()) << added.error().text();
  EXPECT_EQ(*added, 2);
  Fact changed = fact_of(id, 2);
  changed.gain = 3;
  EXPECT_EQ(*store.add_facts({changed, fact_of(id, 3)}), 1) << "never counted twice";
  const auto facts = store.facts("h200");
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  ASSERT_EQ(facts->size(), 3u);
  EXPECT_EQ(to_json((*facts)[1]).dump(), to_json(fact_of(id, 2)).dump());
  EXPECT_EQ(store.facts("h200", *store.last_fact())->size(), 3u);
  EXPECT_EQ(store.facts("h200", 2)->size(), 2u) << "as a run saw them that began then";
  EXPECT_EQ(store.facts("")->size(), 3u);
  EXPECT_TRUE(store.facts("h100")->empty());
  EXPECT_FALSE(store.add_facts({fact_of("no such run", 1)}).ok());
  Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
  EXPECT_FALSE(database.execute("DELETE FROM facts").ok());
  EXPECT_FALSE(database.execute("UPDATE facts SET node = 9").ok());
}

TEST_F(StoreTest, KeepsEventsInOrderAndTextsOnce) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o")), other = *store.begin_run(run_of("p", "o"));
  search::Event proposed;
  proposed.node = 1;
  proposed.proposal = search::Proposal{.program = "program p\n", .reason = "why"};
  search::Event measured;
  measured.kind = search::Event::Kind::kMeasured;
  measured.node = 1;
  measured.measurement.emplace().time = Seconds(0.5);
  const TrialRecord trial = trial_of(id, 1, TrialState::kVerified);
  ASSERT_TRUE(store.add_event(id, 0, proposed).ok());
  ASSERT_TRUE(store.add_event(other, 0, proposed).ok());
  ASSERT_TRUE(store.add_event(id, 1, measured, &trial).ok());
  EXPECT_FALSE(store.add_event(id, 1, measured).ok()) << "somebody else has written it";
  const Result<LoadedRun> loaded = open().load_run(id);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  ASSERT_EQ(loaded->events.size(), 2u);
  EXPECT_EQ(to_json(loaded->events[0].event).dump(), to_json(proposed).dump());
  EXPECT_EQ(to_json(loaded->events[1].event).dump(), to_json(measured).dump());
  EXPECT_EQ(loaded->trials.size(), 1u);
  Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
  auto count = database.prepare("SELECT count(*) FROM texts");
  ASSERT_TRUE(count.ok() && *count->step());
  EXPECT_EQ(count->integer(0), 1);
}

TEST_F(StoreTest, AnEmptyIdNamesNoRun) {
  Store store = open();
  ASSERT_TRUE(store.begin_run(run_of("p", "o")).ok());
  EXPECT_EQ(store.load_run("").error().code, Code::bad_argument);
}

TEST_F(StoreTest, RefusesAStoreOfANewerProgram) {
  { Store store = open(); }
  {
    Database database = std::move(Database::open(folder_.path() / "runs.db")).value();
    ASSERT_TRUE(database.execute("PRAGMA user_version = 99").ok());
  }
  const Result<Store> store = Store::open(folder_.path());
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::store_error);
  EXPECT_NE(store.error().message.find("schema 99"), std::string::npos);
}

TEST_F(StoreTest, SaysWhatIsWrongWithAFileThatIsNoDatabase) {
  ASSERT_TRUE(write_file(folder_.path() / "runs.db", std::string(4096, 'x')).ok());
  const Result<Store> store = Store::open(folder_.path());
  EXPECT_EQ(store.error().code, Code::store_error);
  EXPECT_NE(store.error().message.find("is damaged, or is none"), std::string::npos) << store.error().text();
  EXPECT_NE(store.error().hint.find("move it away, or name another folder"), std::string::npos);
}

}  // namespace
}  // namespace solstice::store
