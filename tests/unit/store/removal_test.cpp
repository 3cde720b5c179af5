// Runs that are removed, and what stays.
#include <gtest/gtest.h>

#include "base/file.h"
#include "unit/store/support.h"

namespace solstice::store {
namespace {

class RemovalTest : public StoreTest {
 protected:
  // An ended run with one event that brought `program`.
  std::string add_run(Store& store, const std::string& started, const std::string& program) {
    RunRecord run = run_of("softmax", "o");
    run.started = started;
    const std::string id = store.begin_run(run).value();
    search::Event event;
    event.proposal.emplace().program = program;
    EXPECT_TRUE(store.add_event(id, 0, event).ok());
    EXPECT_TRUE(store.finish_run(id, RunState::kFinished, RunOutcome::kNotFaster, "", Json::object()).ok());
    return id;
  }
  int count(const std::string& table) {
    Database db = database();
    Statement query = std::move(db.prepare("SELECT count(*) FROM " + table)).value();
    EXPECT_TRUE(query.step().ok());
    return static_cast<int>(query.integer(0));
  }
};

TEST_F(RemovalTest, ARunGoesWithItsEventsAndTextsButNotWithWhatItTaught) {
  Store store = open();
  const std::string old = add_run(store, "2020-01-01T00:00:00.000Z", "program a\n");
  const std::string kept = add_run(store, "2026-01-01T00:00:00.000Z", "program b\n");
  ASSERT_EQ(*store.add_facts({fact_of(old, 1)}), 1);
  EXPECT_EQ(count("texts"), 3);
  ASSERT_EQ(*store.remove_runs({old, "no-such-run"}), 1);
  EXPECT_EQ(store.load_run(old).error().code, Code::not_found);
  EXPECT_EQ(store.load_run(kept)->events.size(), 1u);
  EXPECT_EQ(count("texts"), 2);  // of the other run, and the form of the fact
  EXPECT_EQ(store.facts("")->size(), 1u);
  EXPECT_TRUE(store.compact().ok());
  EXPECT_EQ(store.load_run("last")->run.id, kept);
}

TEST_F(RemovalTest, ARunningRunStays) {
  Store store = open();
  const std::string id = store.begin_run(run_of("softmax", "o")).value();
  EXPECT_EQ(*store.remove_runs({id}), 0);
  EXPECT_TRUE(store.load_run(id).ok());
}

TEST_F(RemovalTest, SizesComeOldestFirst) {
  Store store = open();
  const std::string young = add_run(store, "2026-01-01T00:00:00.000Z", "program b\n");
  const std::string old = add_run(store, "2020-01-01T00:00:00.000Z", std::string(5000, 'a'));
  const auto sizes = store.sizes();
  ASSERT_TRUE(sizes.ok()) << sizes.error().text();
  ASSERT_EQ(sizes->size(), 2u);
  EXPECT_EQ((*sizes)[0].id, old);
  EXPECT_GT((*sizes)[0].age, (*sizes)[1].age);
  EXPECT_GT((*sizes)[0].size.value, (*sizes)[1].size.value + 4000);
  EXPECT_FALSE((*sizes)[0].running);
}

TEST_F(RemovalTest, SizesSayWhichRunAPartIsOf) {
  Store store = open();
  const std::string whole = add_run(store, "2026-01-01T00:00:00.000Z", "program a\n");
  RunRecord stage = run_of("softmax, stage 1", "o");
  stage.started = "2026-01-01T00:00:01.000Z";
  stage.options = Json::object().set("part", true).set("part_of", whole);
  ASSERT_TRUE(store.begin_run(stage).ok());
  const auto sizes = store.sizes();
  ASSERT_TRUE(sizes.ok()) << sizes.error().text();
  EXPECT_FALSE((*sizes)[0].part);
  EXPECT_TRUE((*sizes)[1].part);
  EXPECT_EQ((*sizes)[1].parent, whole);
}

TEST_F(RemovalTest, ARecordThatIsNoJsonHidesNoOtherRun) {
  Store store = open();
  const std::string damaged = add_run(store, "2020-01-01T00:00:00.000Z", "program a\n");
  const std::string last = add_run(store, "2026-01-01T00:00:00.000Z", "program b\n");
  ASSERT_TRUE(database().execute(("UPDATE runs SET record = '{' WHERE id = '" + damaged + "'").c_str()).ok());
  const auto found = store.load_run("last");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->run.id, last);
  EXPECT_EQ(store.sizes()->size(), 2u);
}

TEST_F(RemovalTest, NothingIsCompactedWhileARunIsRunning) {
  Store store = open();
  const std::string id = store.begin_run(run_of("softmax", "o")).value();
  const Status compacted = store.compact();
  ASSERT_FALSE(compacted.ok());
  EXPECT_NE(compacted.error().message.find(id), std::string::npos) << compacted.error().message;
  ASSERT_TRUE(store.finish_run(id, RunState::kFinished, RunOutcome::kNotFaster, "", Json::object()).ok());
  EXPECT_TRUE(store.compact().ok());
}

}  // namespace
}  // namespace solstice::store
