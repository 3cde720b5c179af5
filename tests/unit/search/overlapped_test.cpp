// A pretended device whose trials end with work beside it: what is measured while that is waited for, and what lands.
#include "search/overlapped.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace solstice::search {
namespace {

class PretendedOverlap : public Overlapped {
 public:
  using Overlapped::Overlapped;
  std::vector<int> measured;     // in their order
  std::set<int> compiled;        // trials that need not be waited for
  std::set<int> broken;          // trials whose measurement is an error
  std::map<int, int> concludes;  // looks after which the rest of a trial is done; none: at once
  std::map<int, double> waited;

 protected:
  void begin(const Node&) override {}
  bool ready(int node) override { return compiled.contains(node); }
  Result<Measurement> measure(int node) override {
    measured.push_back(node);
    if (broken.contains(node)) return fail(Code::cuda_error, "it broke");
    Measurement out;
    out.state = TrialState::kVerified;
    out.time = Seconds(node);
    return out;
  }
  bool concluded(int node, Seconds) override { return concludes[node]-- <= 0; }
  void conclude(int node, Seconds seconds, Measurement& out) override {
    waited[node] = seconds.value;
    out.detail = "concluded";
  }
};

void start(PretendedOverlap& device, int first, int last) {
  for (int id = first; id <= last; ++id) {
    Node node;
    node.id = id;
    device.start(node);
    device.compiled.insert(id);
  }
}

int landed(PretendedOverlap& device) {
  const Result<Landed> next = device.land();
  EXPECT_TRUE(next.ok()) << next.error().text();
  if (!next.ok()) return -1;
  EXPECT_EQ(next->measurement->time.value, next->node);
  EXPECT_EQ(next->measurement->detail, "concluded");
  return next->node;
}

TEST(Overlapped, MeasuresWhileADiagnosisGoesOn) {
  PretendedOverlap device;
  start(device, 1, 4);
  device.concludes[1] = 2;
  EXPECT_EQ(landed(device), 1);
  EXPECT_EQ(device.measured, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(device.waited[1], 0);
  EXPECT_EQ(landed(device), 2);
  EXPECT_EQ(landed(device), 3);
  EXPECT_EQ(device.measured, (std::vector<int>{1, 2, 3})) << "none is measured twice";
  EXPECT_EQ(landed(device), 4);
  EXPECT_FALSE(device.land().ok());  // nothing is under way
}

TEST(Overlapped, MeasuresNothingAheadWithoutNeed) {
  PretendedOverlap device;
  start(device, 1, 3);
  EXPECT_EQ(landed(device), 1);
  EXPECT_EQ(device.measured, (std::vector<int>{1}));
}

// The compiler still has the next one, or the search is over: then it waits.
TEST(Overlapped, WaitsWhereThereIsNoneToMeasure) {
  bool over = false;
  PretendedOverlap device([&] { return over; });
  start(device, 1, 3);
  device.concludes[1] = 3;
  device.compiled = {1, 3};
  EXPECT_EQ(landed(device), 1);
  EXPECT_EQ(device.measured, (std::vector<int>{1}));
  EXPECT_GT(device.waited[1], 0);
  device.concludes[2] = 3;
  over = true;
  EXPECT_EQ(landed(device), 2);
  EXPECT_EQ(device.measured, (std::vector<int>{1, 2}));
}

TEST(Overlapped, AnErrorWaitsForItsTurn) {
  PretendedOverlap device;
  start(device, 1, 3);
  device.concludes[1] = 5;
  device.broken = {2};
  EXPECT_EQ(landed(device), 1);
  EXPECT_EQ(device.measured, (std::vector<int>{1, 2})) << "nothing is measured behind it";
  const Result<Landed> broken = device.land();
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, Code::cuda_error);
}

// Searches of one tree follow each other: what was measured ahead is the next one's.
TEST(Overlapped, ATrialThatIsUnderWayIsNotStartedAgain) {
  PretendedOverlap device;
  start(device, 1, 2);
  device.concludes[1] = 1;
  EXPECT_EQ(landed(device), 1);
  start(device, 2, 2);
  EXPECT_EQ(landed(device), 2);
  EXPECT_EQ(device.measured, (std::vector<int>{1, 2}));
  EXPECT_FALSE(device.land().ok());
}

}  // namespace
}  // namespace solstice::search
