// Stores that earlier programs wrote.
#include <gtest/gtest.h>

#include "base/file.h"
#include "unit/store/support.h"

namespace solstice::store {
namespace {

class CorpusTest : public StoreTest {
 protected:
  // A store as an earlier program wrote it: the statements of tests/corpus/`name`.
  void write_corpus(const std::string& name) {
    const auto script = read_file(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "tests/corpus" / name);
    ASSERT_TRUE(script.ok());
    write(*script);
  }
};

// tests/corpus/store_1.sql: what a program of schema 1 wrote.
TEST_F(CorpusTest, UpgradesAnOlderStore) {
  ASSERT_NO_FATAL_FAILURE(write_corpus("store_1.sql"));
  Store store = open();
  const Result<LoadedRun> loaded = store.load_run("last");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->run.summary.at("speedup").as_double(), 1.27);
  EXPECT_EQ(loaded->trials.size(), 2u);
  EXPECT_TRUE(loaded->events.empty());
  EXPECT_EQ(loaded->run.seed, 1);
  EXPECT_TRUE(store.add_event(loaded->run.id, 0, search::Event{}).ok());
}

// tests/corpus/store_2.sql: what a program of schema 2 wrote.
TEST_F(CorpusTest, UpgradesAStoreWithoutFacts) {
  ASSERT_NO_FATAL_FAILURE(write_corpus("store_2.sql"));
  Store store = open();
  const Result<LoadedRun> loaded = store.load_run("last");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  ASSERT_EQ(loaded->events.size(), 3u);
  EXPECT_EQ(loaded->events[1].event.proposal->program, "program softmax\n");
  EXPECT_EQ(loaded->events[1].event.proposal->remembered, 0);
  EXPECT_EQ(loaded->run.facts, 0);
  EXPECT_EQ(*store.last_fact(), 0);
  EXPECT_TRUE(store.facts("h200")->empty());
  EXPECT_EQ(*store.add_facts({fact_of(loaded->run.id, 1)}), 1);
}

// tests/corpus/store_3.sql: what a program of schema 3 wrote. Its run goes on, and a resume without anything new leaves
// it as it was.
TEST_F(CorpusTest, UpgradesAStoreThatKeepsNoRecordOfBefore) {
  ASSERT_NO_FATAL_FAILURE(write_corpus("store_3.sql"));
  Store store = open();
  const auto facts = store.facts("h200");
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  ASSERT_EQ(facts->size(), 1u);
  EXPECT_EQ((*facts)[0].structure.form, "1[a,b] = max[b](0[a,b])");
  const Result<LoadedRun> loaded = store.load_run("last");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  ASSERT_TRUE(store.resume_run(loaded->run.id).ok());
  ASSERT_TRUE(store.stop_run(loaded->run.id, RunState::kFailed, "no GPU").ok());
  EXPECT_EQ(to_json(store.load_run(loaded->run.id)->run).dump(), to_json(loaded->run).dump());
}

// tests/corpus/store_4.sql: what a program of schema 4 wrote. Facts belonged to a run.
TEST_F(CorpusTest, UpgradesAStoreWhoseFactsBelongToARun) {
  ASSERT_NO_FATAL_FAILURE(write_corpus("store_4.sql"));
  Store store = open();
  const std::string id = store.load_run("last")->run.id;
  ASSERT_EQ(store.remove_runs({id}).value(), 1);
  const auto facts = store.facts("h200");
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  ASSERT_EQ(facts->size(), 1u);
  EXPECT_EQ((*facts)[0].run, id);
  const std::string another = store.begin_run(run_of("softmax", "o")).value();
  EXPECT_EQ(*store.add_facts({fact_of(another, 1)}), 1);
  EXPECT_EQ(*store.last_fact(), 2);
}

}  // namespace
}  // namespace solstice::store
