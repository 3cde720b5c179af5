// A search that is killed at any moment goes on from its events: every trial is recorded once, and the tree is the one
// that a search nobody disturbed grows.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "base/file.h"
#include "search/make_policy.h"
#include "search/search.h"
#include "store/store.h"

namespace solstice::flow {
namespace {

using search::Event;
using search::Node;
using search::Tree;

// "0", "1", .. behind what it starts from.
class Digits : public search::Proposer {
 public:
  Result<std::optional<search::Proposal>> propose(const Tree& tree, int node) override {
    for (int digit = 0; digit < 6; ++digit) {
      search::Proposal out;
      out.program = tree.node(node).proposal.program + std::to_string(digit);
      if (!tree.contains(out.program)) return std::optional(std::move(out));
    }
    return std::optional<search::Proposal>();
  }
};

class Slow : public search::InOrder {
 protected:
  void begin(const Node& node) override { texts_[node.id] = node.proposal.program; }
  Result<search::Measurement> finish(int node) override {
    ::usleep(500);
    search::Measurement out;
    out.state = node % 5 == 0 ? TrialState::kWrong : TrialState::kVerified;
    search::Random random(1, texts_[node]);
    out.time = Seconds(0.5 + random.uniform());
    return out;
  }

 private:
  std::map<int, std::string> texts_;
};

constexpr int kTrials = 400;

Status go_on(const std::filesystem::path& folder, const std::string& id, const char* led_by) {
  SOLSTICE_TRY(store::Store store, store::Store::open(folder));
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(id));
  Tree tree;
  for (const store::StoredEvent& stored : loaded.events) SOLSTICE_CHECK(tree.apply(stored.event));
  if (loaded.events.empty()) {
    tree = Tree(Seconds(1));
    SOLSTICE_CHECK(store.add_event(id, 0, tree.events()[0]));
  }
  SOLSTICE_TRY(const auto policy, search::make_policy(led_by, 1));
  Digits proposer;
  Slow evaluator;
  search::Observer observer;
  observer.recorded = [&](const Tree& t, size_t number) -> Status {
    const Event& event = t.events()[number];
    TrialRecord trial;
    trial.run = id;
    trial.number = event.node;
    if (event.measurement) trial.state = event.measurement->state;
    return store.add_event(id, number, event, event.measurement ? &trial : nullptr);
  };
  search::Budget budget;
  budget.trials = kTrials;
  SOLSTICE_CHECK(search::run(tree, {*policy, proposer, evaluator}, budget, 4, observer, [] { return false; }));
  return store.finish_run(id, RunState::kFinished, RunOutcome::kNotFaster, "", Json());
}

// In a process of its own, killed after `microseconds`, 0: not at all. Whether it came to its end.
bool run_process(const std::filesystem::path& folder, const std::string& id, const char* policy,
                 unsigned microseconds) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(go_on(folder, id, policy).ok() ? 0 : 1);
  if (microseconds > 0) {
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  return WIFEXITED(status);
}

std::vector<std::string> texts_of(const std::vector<store::StoredEvent>& events) {
  std::vector<std::string> out;
  for (const store::StoredEvent& stored : events) out.push_back(to_json(stored.event).dump());
  return out;
}

// What was measured, and proposed, by how often that was recorded.
std::map<std::string, int> counts_of(const std::vector<store::StoredEvent>& events) {
  std::map<std::string, int> out;
  for (const store::StoredEvent& stored : events) {
    const Event& event = stored.event;
    if (event.kind == Event::Kind::kMeasured) ++out["measured " + std::to_string(event.node)];
    if (event.kind == Event::Kind::kAgain) --out["measured " + std::to_string(event.node)];  // which is once more
    if (event.kind == Event::Kind::kProposed) ++out["proposed " + event.proposal->program];
  }
  return out;
}

struct Killed {
  const char* policy;
  int kills;
};

void PrintTo(const Killed& killed, std::ostream* out) { *out << killed.policy; }

class KilledSearch : public ::testing::TestWithParam<Killed> {};

TEST_P(KilledSearch, GoesOnWithEveryTrialOnce) {
  const auto [policy, wanted] = GetParam();
  const auto folder = TempFolder::create("killed-search-");
  ASSERT_TRUE(folder.ok());
  const auto begin = [&] {
    auto store = store::Store::open(folder->path());
    EXPECT_TRUE(store.ok());
    RunRecord run;
    run.problem = "digits";
    run.problem_key = "k";
    return *store->begin_run(std::move(run));
  };
  const std::string quiet = begin(), killed = begin();
  ASSERT_TRUE(run_process(folder->path(), quiet, policy, 0));
  search::Random random(7);
  int kills = 0;
  while (kills < wanted &&
         !run_process(folder->path(), killed, policy, 1000 + static_cast<unsigned>(random.below(8000))))
    ++kills;
  EXPECT_EQ(kills, wanted) << "it ended before it was killed so often";
  ASSERT_TRUE(run_process(folder->path(), killed, policy, 0));

  auto store = store::Store::open(folder->path());
  ASSERT_TRUE(store.ok());
  const auto a = store->load_run(quiet), b = store->load_run(killed);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->trials.size(), static_cast<size_t>(kTrials));
  ASSERT_EQ(b->trials.size(), static_cast<size_t>(kTrials));
  const std::map<std::string, int> counts = counts_of(b->events);
  EXPECT_EQ(counts.size(), 2u * kTrials + 1);  // and the original
  for (const auto& [what, times] : counts) EXPECT_EQ(times, 1) << what;
  EXPECT_EQ(texts_of(a->events), texts_of(b->events));
}

INSTANTIATE_TEST_SUITE_P(Policies, KilledSearch,
                         ::testing::Values(Killed{"mcts(children=6)", 50}, Killed{"greedy", 10},
                                           Killed{"epsilon-greedy(root_children=1000)", 10}, Killed{"beam", 10},
                                           Killed{"successive-halving", 10}, Killed{"random", 10}));

}  // namespace
}  // namespace solstice::flow
