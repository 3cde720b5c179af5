#include "search/replay/replay.h"

#include "search/policy.h"
#include "unit/search/recorded_landscape.h"

namespace solstice::search {
namespace {

std::vector<std::string> order_of(const std::vector<Event>& events) {
  std::vector<std::string> out;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::kProposed) out.push_back(event.proposal->program);
  }
  return out;
}

// Same tree, same decisions: whatever the policy draws by, and however many trials are in flight.
TEST(Replay, OfTheRecordedPolicyAndSeedIsTheRecord) {
  for (const PolicySpec* policy : all_policies()) {
    for (const Landscape* landscape : all_landscapes()) {
      for (const int lookahead : {1, 3}) {
        const Record record = testing::recorded_landscape(*landscape, std::string(policy->name), 7, 60, lookahead);
        EXPECT_LE(record.lookahead(), lookahead);
        const Result<Replayed> again = replay(record, std::string(policy->name), 7);
        ASSERT_TRUE(again.ok()) << again.error().text();
        EXPECT_EQ(order_of(again->events), order_of(record.run().events)) << policy->name << " on " << landscape->name;
        EXPECT_EQ(again->coverage(), 1) << policy->name << " on " << landscape->name;
        EXPECT_EQ(again->sequence.last().speedup, record.sequence().last().speedup);
        EXPECT_EQ(again->sequence.last().spent.seconds, record.sequence().last().spent.seconds);
      }
    }
  }
}

TEST(Replay, OfOthersKeepsToTheRecord) {
  for (const Landscape* landscape : all_landscapes()) {
    const Record record = testing::recorded_landscape(*landscape, "random", 3, 200);
    for (const PolicySpec* policy : all_policies()) {
      const Result<Replayed> other = replay(record, std::string(policy->name), 5);
      ASSERT_TRUE(other.ok()) << policy->name << ": " << other.error().text();
      for (const std::string& program : order_of(other->events)) EXPECT_NE(record.find(program), nullptr);
      EXPECT_GT(other->coverage(), 0);
      EXPECT_LE(other->coverage(), 1);
      double before = 1;
      EXPECT_LE(other->sequence.last().speedup, record.sequence().last().speedup);
      for (const Point& point : other->sequence.points) {
        EXPECT_TRUE(point.speedup >= before || landscape->noise > 0);
        before = point.speedup;
      }
      const Result<Replayed> twice = replay(record, std::string(policy->name), 5);
      EXPECT_EQ(order_of(other->events), order_of(twice->events));
    }
  }
}

// From the problem a (2 s) and b (4 s), from b c (1 s); d, from a, was in flight when the search ended.
Record small() {
  const auto proposed = [](int node, const char* program, int parent) {
    return Event{
        .kind = Event::Kind::kProposed, .node = node, .proposal = Proposal{.program = program, .parent = parent}};
  };
  const auto measured = [](int node, double seconds) {
    Measurement m;
    m.state = TrialState::kVerified;
    m.time = Seconds(seconds);
    m.cost = Seconds(10);
    return Event{.kind = Event::Kind::kMeasured, .node = node, .measurement = m};
  };
  RecordedRun run{.id = "small"};
  run.events = {measured(0, 8), proposed(1, "a", 0), measured(1, 2), proposed(2, "b", 0),
                measured(2, 4), proposed(3, "c", 2), measured(3, 1), proposed(4, "d", 1)};
  return std::move(Record::read(run)).value();
}

TEST(Replay, CountsWhatTheRecordCannotAnswer) {
  const Record record = small();
  // a; then from a, where d has no result: not answered; b; from b comes c, and all that is recorded has been tried.
  const Result<Replayed> greedy = replay(record, "greedy(starts=1)", 1);
  ASSERT_TRUE(greedy.ok());
  EXPECT_EQ(order_of(greedy->events), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(greedy->decisions, 4);
  EXPECT_EQ(greedy->answered, 3);
  EXPECT_EQ(greedy->sequence.last().speedup, 8);
  EXPECT_EQ(greedy->sequence.last().spent.seconds, 30);
  EXPECT_FALSE(replay(record, "gready", 1).ok());
}

// A run that began without a GPU: a looked faster than b, and is slower.
TEST(Replay, APredictionIsNoResultOfWhatWasMeasured) {
  const auto proposed = [](int node, const char* program) {
    return Event{.kind = Event::Kind::kProposed, .node = node, .proposal = Proposal{.program = program}};
  };
  const auto result = [](int node, double seconds, TrialState state) {
    return Event{.kind = Event::Kind::kMeasured,
                 .node = node,
                 .measurement = Measurement{.state = state, .time = Seconds(seconds)}};
  };
  RecordedRun run{.id = "two devices"};
  run.events = {result(0, 8, TrialState::kVerified),  proposed(1, "a"),
                result(1, 1, TrialState::kPredicted), proposed(2, "b"),
                result(2, 2, TrialState::kPredicted), result(1, 6, TrialState::kVerified),
                result(2, 3, TrialState::kVerified)};
  const Record record = std::move(Record::read(run)).value();
  const Result<Replayed> again = replay(record, "greedy", 1);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_DOUBLE_EQ(again->sequence.last().speedup, 8.0 / 3);
}

TEST(Recorded, IsWhatWasKnownAfterEachTrial) {
  const Record record = small();
  const Sequence& s = record.sequence();
  ASSERT_EQ(s.points.size(), 4u);
  EXPECT_EQ(s.original, Seconds(8));
  const double speedups[] = {1, 4, 4, 8};
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(s.points[k].speedup, speedups[k]);
    EXPECT_EQ(s.points[k].spent.seconds, 10 * static_cast<double>(k));
  }
  RecordedRun broken = record.run();
  broken.events.erase(broken.events.begin() + 1);
  EXPECT_FALSE(Record::read(broken).ok());
}

// A candidate is worth what the record knows in the end; a lucky rough measurement is no retained speedup.
TEST(Recorded, JudgesByTheLastMeasurement) {
  RecordedRun run = small().run();
  Event again{.kind = Event::Kind::kAgain, .node = 3, .precision = Precision::kPrecise};
  Event slower = run.events[6];
  slower.measurement->time = Seconds(2.5);
  run.events.insert(run.events.end(), {again, slower});
  const Record record = std::move(Record::read(run)).value();
  const Sequence& s = record.sequence();
  ASSERT_EQ(s.points.size(), 5u);
  EXPECT_EQ(s.points[3].best.time, Seconds(1));
  EXPECT_DOUBLE_EQ(s.points[3].speedup, 8 / 2.5);
  EXPECT_EQ(s.points[4].speedup, 4);
}

// Predictions before a GPU measured are trials that cost time, and nothing else.
TEST(Recorded, LeavesPredictionsOutOnceOthersWereMeasured) {
  RecordedRun run = small().run();
  for (Event& event : run.events) {
    if (event.kind == Event::Kind::kMeasured && event.node == 1) event.measurement->state = TrialState::kPredicted;
  }
  const Record record = std::move(Record::read(run)).value();
  const Sequence& s = record.sequence();
  EXPECT_EQ(s.measured_since, 1u);
  EXPECT_EQ(s.points[1].best.time, Seconds(0));
  EXPECT_EQ(s.points[1].speedup, 1);
  EXPECT_EQ(s.points[1].spent.trials, 1);
  EXPECT_EQ(s.last().best.time, Seconds(1));
}

// Nothing says what the original takes: speedups are over the slowest trial; a figure of the run's summary is taken
// before that.
TEST(Recorded, KnowsTheOriginalFromTheEventsOrTheSummary) {
  RecordedRun run = small().run();
  run.events.erase(run.events.begin());
  EXPECT_EQ(std::move(Record::read(run)).value().sequence().last().speedup, 4);
  run.original = Seconds(16);
  EXPECT_EQ(std::move(Record::read(run)).value().sequence().last().speedup, 16);
}

}  // namespace
}  // namespace solstice::search
