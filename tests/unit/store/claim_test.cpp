// Several processes at one run: each call sees it whole, and one process has it.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "store/process.h"
#include "unit/store/support.h"

namespace solstice::store {
namespace {

class ClaimTest : public StoreTest {
 protected:
  // What another process writes while `call` is under way: it has the store already, and lets it go when `call` waits
  // for it.
  template <typename Call>
  auto meanwhile(const std::string& sql, Call call) {
    Database other = database();
    EXPECT_TRUE(other.execute("BEGIN IMMEDIATE").ok());
    auto result = std::async(std::launch::async, call);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const Status done = other.execute((sql + "; COMMIT").c_str());
    EXPECT_TRUE(done.ok()) << done.error().text();
    return result.get();
  }
  std::string finished() {
    Store store = open();
    const std::string id = *store.begin_run(run_of("p", "o"));
    EXPECT_TRUE(store.finish_run(id, RunState::kFinished, RunOutcome::kNotFaster, "kept", Json()).ok());
    return id;
  }
  // As a killed process leaves it.
  std::string resumed_and_killed() {
    const std::string id = finished();
    EXPECT_TRUE(open().resume_run(id).ok());
    write("UPDATE runs SET pid = 0, process_start = 'gone'");
    return id;
  }
  RunRecord record(const std::string& id) { return open().load_run(id)->run; }
};

// As a process that has it writes.
std::string taken_up() {
  return "UPDATE runs SET before = record, events_before = 0, state = 'running', record = json_set(record, '$.state', "
         "'running', "
         "'$.outcome', 'none'), pid = " +
         std::to_string(::getpid()) + ", process_start = '" + process_start(::getpid()) + "'";
}

TEST_F(ClaimTest, WhoComesSecondIsToldSoAndChangesNothing) {
  const std::string id = finished();
  Store store = open();
  const auto second = meanwhile(taken_up(), [&] { return store.resume_run(id); });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::bad_argument);
  ASSERT_TRUE(store.stop_run(id, RunState::kFailed, "").ok());
  EXPECT_EQ(record(id).outcome, RunOutcome::kNotFaster)
      << "what the run was before is the finished one, not the running one";
}

TEST_F(ClaimTest, WhatWasClosedMeanwhileIsNotClosedAgain) {
  const std::string id = resumed_and_killed();
  Store store = open();
  const Result<int> closed = meanwhile("UPDATE runs SET record = before, state = 'finished', before = ''",
                                       [&] { return store.close_abandoned(); });
  EXPECT_EQ(*closed, 0);
  EXPECT_EQ(record(id).state, RunState::kFinished);
  EXPECT_EQ(record(id).outcome, RunOutcome::kNotFaster);
}

TEST_F(ClaimTest, WhatALiveProcessHasIsNotClosed) {
  const std::string id = resumed_and_killed();
  Store store = open();
  const std::string claim = "UPDATE runs SET record = before, state = 'finished'; " + taken_up();
  EXPECT_EQ(*meanwhile(claim, [&] { return store.close_abandoned(); }), 0);
  EXPECT_EQ(record(id).state, RunState::kRunning);
}

TEST_F(ClaimTest, WhatOthersWriteIsKept) {
  const std::string id = finished();
  Store store = open();
  const auto also = [&](const std::string& policy, auto call) {
    EXPECT_TRUE(meanwhile("UPDATE runs SET record = json_set(record, '$.policy', '" + policy + "')", call).ok());
    EXPECT_EQ(record(id).policy, policy);
  };
  also("a", [&] { return store.describe_run(id, "h200", "model", {}); });
  also("b", [&] { return store.identify_run(id, "another"); });
  also("c", [&] { return store.keep_summary(id, Json::object().set("agent", "cost")); });
  also("d", [&] { return store.finish_run(id, RunState::kFinished, RunOutcome::kNone, "", Json()); });
}

TEST_F(ClaimTest, WhoHasPatienceHasItsTurn) {
  const std::string id = finished();
  Store first = open();
  ASSERT_TRUE(first.resume_run(id).ok());
  auto second = std::async(std::launch::async, [&] { return open().resume_run(id, Seconds(20)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_TRUE(first.finish_run(id, RunState::kFinished, RunOutcome::kFaster, "first", Json()).ok());
  const Result<LoadedRun> was = second.get();
  ASSERT_TRUE(was.ok()) << was.error().text();
  EXPECT_EQ(was->run.reason, "first");
  EXPECT_EQ(record(id).state, RunState::kRunning);
}

// Rounds of processes that begin at once: one gets the run, the others are told that it is going on.
TEST_F(ClaimTest, OneOfManyHasTheRun) {
  const std::string id = finished();
  for (int round = 0; round < 10; ++round) {
    int go[2], hold[2];
    ASSERT_EQ(::pipe(go) + ::pipe(hold), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      const pid_t child = ::fork();
      if (child != 0) {
        children.push_back(child);
        continue;
      }
      char byte = 0;
      ::close(go[1]), ::close(hold[1]);
      (void)!::read(go[0], &byte, 1);
      Store store = open();
      const auto claimed = store.resume_run(id);
      const bool taken = !claimed.ok() && claimed.error().code == Code::bad_argument;
      (void)!::read(hold[0], &byte, 1);  // nobody is gone before all have tried
      ::_exit(claimed.ok() ? 1 : taken ? 0 : 2);
    }
    ::close(go[0]), ::close(hold[0]), ::close(go[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(hold[1]);
    int claimed = 0;
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_NE(WEXITSTATUS(status), 2);
      claimed += WEXITSTATUS(status) == 1 ? 1 : 0;
    }
    EXPECT_EQ(claimed, 1);
    ASSERT_EQ(*open().close_abandoned(), 1);
    EXPECT_EQ(record(id).outcome, RunOutcome::kNotFaster);
  }
}

TEST_F(ClaimTest, AnEventThatIsThereIsAnotherProcesss) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o"));
  ASSERT_TRUE(store.add_event(id, 0, {.kind = search::Event::Kind::kLost}).ok());
  const Status again = store.add_event(id, 0, {.kind = search::Event::Kind::kLost});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::bad_argument);
  EXPECT_EQ(again.error().hint, "run the command again");
  EXPECT_EQ(again.error().message.find("UNIQUE"), std::string::npos) << again.error().message;
}

// A constraint that is looked at only when a transaction ends.
TEST_F(ClaimTest, AnEndThatFailsIsNoneOfTheNextCalls) {
  Store store = open();
  const std::string id = *store.begin_run(run_of("p", "o"));
  write(
      "CREATE TABLE broken(run TEXT REFERENCES runs(id) DEFERRABLE INITIALLY DEFERRED);"
      "CREATE TRIGGER breaks AFTER INSERT ON events BEGIN INSERT INTO broken VALUES ('none'); END;");
  EXPECT_FALSE(store.add_event(id, 0, {.kind = search::Event::Kind::kLost}).ok());
  write("DROP TRIGGER breaks");
  const Status next = store.add_event(id, 0, {.kind = search::Event::Kind::kLost});
  EXPECT_TRUE(next.ok()) << next.error().text();
}

}  // namespace
}  // namespace solstice::store
