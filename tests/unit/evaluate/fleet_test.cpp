// The fleet with devices that only pretend: what a device, a compiler or a search may do to it. docs/testing.md says
// how it is run under ThreadSanitizer.
#include "evaluate/fleet.h"
#include "search/make_policy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <set>

namespace solstice::evaluate {
namespace {

// Lets others wait for a step of a test.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
  }
  void wait_for(int waiting) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == waiting; });
  }
  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// What the devices of a test share: what they do with a trial, and what they did.
struct Yard {
  std::function<Result<double>(size_t device, int node)> measure = [](size_t, int node) {
    return Result<double>(node);
  };
  std::function<bool(int node)> compiled = [](int) { return true; };
  std::function<Status(int node)> prepare = [](int) { return success(); };
  std::function<Status(size_t device)> open = [](size_t) { return success(); };
  std::mutex mutex;
  std::map<int, std::vector<size_t>> measured_on;
  std::atomic<int> closed = 0;
  std::vector<std::string> left;

  std::vector<size_t> devices_of(int node) {
    const std::lock_guard lock(mutex);
    return measured_on[node];
  }
};

class PretendedTrial : public FleetTrial {
 public:
  PretendedTrial(Yard& yard, int node) : yard_(yard), node_(node) {}
  bool ready(Seconds) override {
    if (yard_.compiled(node_)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;
  }
  Status prepare() override { return yard_.prepare(node_); }
  Result<search::Measurement> measure(size_t device) override {
    {
      const std::lock_guard lock(yard_.mutex);
      yard_.measured_on[node_].push_back(device);
    }
    SOLSTICE_TRY(const double time, yard_.measure(device, node_));
    search::Measurement out;
    out.state = TrialState::kVerified;
    out.time = Seconds(time);
    return out;
  }

 private:
  Yard& yard_;
  int node_;
};

// Everything of it happens in one thread, which is no other device's.
class PretendedDevice : public FleetDevice {
 public:
  PretendedDevice(Yard& yard, size_t number) : yard_(yard), number_(number) {}
  ~PretendedDevice() override { EXPECT_TRUE(thread_ == std::thread::id() || closed_); }
  std::string name() const override { return "device " + std::to_string(number_); }
  Status open() override {
    thread_ = std::this_thread::get_id();
    return yard_.open(number_);
  }
  void close() override {
    EXPECT_EQ(thread_, std::this_thread::get_id());
    EXPECT_FALSE(closed_);
    closed_ = true;
    ++yard_.closed;
  }

 private:
  Yard& yard_;
  size_t number_;
  std::thread::id thread_;
  bool closed_ = false;
};

std::unique_ptr<Fleet> fleet_of(Yard& yard, size_t count) {
  std::vector<std::unique_ptr<FleetDevice>> devices;
  for (size_t i = 0; i < count; ++i) devices.push_back(std::make_unique<PretendedDevice>(yard, i));
  return std::make_unique<Fleet>(
      std::move(devices), [&yard](const search::Node& node) { return std::make_unique<PretendedTrial>(yard, node.id); },
      [&yard](const LeftOut& left) { yard.left.push_back(left.name + ": " + left.why.message); });
}

void start(Fleet& fleet, int first, int last) {
  for (int id = first; id <= last; ++id) {
    search::Node node;
    node.id = id;
    fleet.start(node);
  }
}

std::vector<int> landed(Fleet& fleet, int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) {
    const Result<search::Landed> next = fleet.land();
    EXPECT_TRUE(next.ok()) << next.error().text();
    if (!next.ok()) break;
    EXPECT_EQ(next->measurement->time.value, next->node);
    out.push_back(next->node);
  }
  return out;
}

TEST(Fleet, OneDeviceKeepsTheOrder) {
  Yard yard;
  const auto fleet = fleet_of(yard, 1);
  ASSERT_TRUE(fleet->open().ok());
  EXPECT_EQ(fleet->size(), 1);
  start(*fleet, 1, 5);
  EXPECT_EQ(landed(*fleet, 2), (std::vector<int>{1, 2}));
  start(*fleet, 6, 7);
  EXPECT_EQ(landed(*fleet, 5), (std::vector<int>{3, 4, 5, 6, 7}));
  EXPECT_FALSE(fleet->land().ok());  // nothing is under way
}

TEST(Fleet, ResultsComeInAsTheyAreDone) {
  Yard yard;
  Gate slow;
  yard.measure = [&](size_t, int node) {
    if (node == 1) slow.pass();
    return Result<double>(node);
  };
  const auto fleet = fleet_of(yard, 2);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 4);
  EXPECT_EQ(landed(*fleet, 3), (std::vector<int>{2, 3, 4}));
  slow.open();
  EXPECT_EQ(landed(*fleet, 1), (std::vector<int>{1}));
  EXPECT_NE(yard.devices_of(1), yard.devices_of(2));
  EXPECT_EQ(yard.devices_of(2), yard.devices_of(4));
}

TEST(Fleet, AllDevicesWorkAtOnce) {
  Yard yard;
  Gate together;
  yard.measure = [&](size_t, int node) {
    together.pass();
    return Result<double>(node);
  };
  const auto fleet = fleet_of(yard, 4);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 4);
  std::thread opener([&] {
    together.wait_for(4);
    together.open();
  });
  const std::vector<int> nodes = landed(*fleet, 4);
  EXPECT_EQ(std::set<int>(nodes.begin(), nodes.end()).size(), 4u);
  opener.join();
}

TEST(Fleet, ADeviceThatBreaksIsOutAndItsTrialGoesToAnother) {
  Yard yard;
  Gate broken;
  yard.measure = [&](size_t device, int node) -> Result<double> {
    if (device == 1) {
      broken.open();
      return fail(Code::cuda_error, "it broke");
    }
    broken.pass();
    return double(node);
  };
  const auto fleet = fleet_of(yard, 2);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 6);
  const std::vector<int> nodes = landed(*fleet, 6);
  EXPECT_EQ(std::set<int>(nodes.begin(), nodes.end()), (std::set<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(yard.left, (std::vector<std::string>{"device 1: it broke"}));
  EXPECT_EQ(fleet->size(), 1);
  int twice = 0;
  for (int node = 1; node <= 6; ++node) {
    const std::vector<size_t> devices = yard.devices_of(node);
    EXPECT_EQ(devices.back(), 0u);
    twice += devices.size() == 2 ? 1 : 0;
  }
  EXPECT_EQ(twice, 1);
}

TEST(Fleet, TheLastDevicesErrorEndsTheSearchAfterWhatIsDone) {
  Yard yard;
  yard.measure = [&](size_t device, int node) -> Result<double> {
    if (node < 3) return double(node);
    return fail(Code::cuda_error, "device " + std::to_string(device) + " broke");
  };
  const auto fleet = fleet_of(yard, 1);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 4);
  EXPECT_EQ(landed(*fleet, 2), (std::vector<int>{1, 2}));
  const Result<search::Landed> next = fleet->land();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, Code::cuda_error);
  EXPECT_EQ(yard.left.size(), 1u);
  EXPECT_EQ(fleet->size(), 0);
  EXPECT_FALSE(fleet->land().ok());
}

// Two devices that break on one trial are not what is broken: the second stays, and the search ends.
TEST(Fleet, ATrialThatBreaksTwoDevicesEndsTheSearch) {
  Yard yard;
  yard.measure = [&](size_t, int node) -> Result<double> {
    return node == 2 ? Result<double>(fail(Code::disk_full, "no space")) : Result<double>(node);
  };
  const auto fleet = fleet_of(yard, 4);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 2, 2);
  const Result<search::Landed> next = fleet->land();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, Code::disk_full);
  EXPECT_EQ(yard.left.size(), 1u);
  EXPECT_EQ(fleet->size(), 3);
}

// As where one search of a tree follows another.
TEST(Fleet, WhatIsUnderWayIsNotStartedAgain) {
  Yard yard;
  const auto fleet = fleet_of(yard, 2);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 2);
  start(*fleet, 1, 2);
  EXPECT_EQ(landed(*fleet, 2).size(), 2u);
  EXPECT_EQ(fleet->land().error().code, Code::internal);
  EXPECT_EQ(yard.devices_of(1).size() + yard.devices_of(2).size(), 2u);
}

// No device has a part in it: the others would meet it as well.
TEST(Fleet, AnErrorOfTheCompilerEndsTheSearchAndNoDevice) {
  Yard yard;
  yard.prepare = [](int node) { return node == 2 ? Status(fail(Code::no_compiler, "gone")) : success(); };
  const auto fleet = fleet_of(yard, 1);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 3);
  EXPECT_EQ(landed(*fleet, 1), (std::vector<int>{1}));
  const Result<search::Landed> next = fleet->land();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, Code::no_compiler);
  EXPECT_TRUE(yard.left.empty());
  EXPECT_TRUE(yard.devices_of(3).empty());
}

TEST(Fleet, ADeviceThatDoesNotOpenIsLeftOut) {
  Yard yard;
  yard.open = [](size_t device) { return device == 0 ? success() : Status(fail(Code::too_large, "no room")); };
  {
    const auto fleet = fleet_of(yard, 3);
    ASSERT_TRUE(fleet->open().ok());
    EXPECT_EQ(fleet->size(), 1);
    EXPECT_EQ(std::set<std::string>(yard.left.begin(), yard.left.end()),
              (std::set<std::string>{"device 1: no room", "device 2: no room"}));
    start(*fleet, 1, 3);
    EXPECT_EQ(landed(*fleet, 3), (std::vector<int>{1, 2, 3}));
  }
  EXPECT_EQ(yard.closed, 3);
  yard.open = [](size_t) { return Status(fail(Code::too_large, "no room")); };
  EXPECT_EQ(fleet_of(yard, 2)->open().error().code, Code::too_large);
}

// The caller's before the first land(), after rest() and after end(): nothing is measured then.
TEST(Fleet, RestsUntilAResultIsWaitedFor) {
  Yard yard;
  std::atomic<int> measuring = 0, measured = 0;
  yard.measure = [&](size_t, int node) {
    ++measuring;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --measuring;
    ++measured;
    return Result<double>(node);
  };
  const auto fleet = fleet_of(yard, 3);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 12);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(measured, 0);
  std::set<int> seen;
  for (int i = 0; i < 12; ++i) {
    seen.insert(landed(*fleet, 1).front());
    fleet->rest();
    EXPECT_EQ(measuring, 0);
    const int before = measured;
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    EXPECT_EQ(measured, before);
  }
  EXPECT_EQ(seen.size(), 12u);
}

TEST(Fleet, EndsWhileTrialsAreInFlight) {
  Yard yard;
  Gate compiled, hold;
  yard.compiled = [&](int node) { return node < 3 || compiled.is_open(); };  // the compiler has no end with the others
  yard.measure = [&](size_t, int node) {
    if (node == 2) hold.pass();
    return Result<double>(node);
  };
  const auto fleet = fleet_of(yard, 2);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 8);
  EXPECT_EQ(landed(*fleet, 1), (std::vector<int>{1}));
  hold.wait_for(1);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    hold.open();
  });
  fleet->end();  // waits for the trial in hand alone
  opener.join();
  EXPECT_EQ(yard.closed, 2);
  EXPECT_FALSE(fleet->land().ok());
  fleet->end();
  EXPECT_TRUE(yard.devices_of(3).empty());
}

TEST(Fleet, EndsWithoutATrialOrWithoutBeingOpened) {
  Yard yard;
  ASSERT_TRUE(fleet_of(yard, 3)->open().ok());
  EXPECT_EQ(yard.closed, 3);
  fleet_of(yard, 2);
  EXPECT_EQ(yard.closed, 3);
}

// Proposes "1", "2", ...
class Endless : public search::Proposer {
 public:
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int) override {
    return std::optional(search::Proposal{.program = std::to_string(tree.trials() + 1), .reason = "next"});
  }
};

struct Searched {
  search::Tree tree;
  Result<search::Stop> stop = search::Stop::kTrials;
};

Searched search_with(search::Evaluator& evaluator, int trials, int lookahead,
                     const std::function<bool()>& interrupted) {
  Searched out;
  Endless proposer;
  search::Budget budget;
  budget.trials = trials;
  const auto policy = search::make_policy("greedy(starts=5)", 1);
  out.stop = search::run(out.tree, {**policy, proposer, evaluator}, budget, lookahead, {}, interrupted);
  return out;
}

// As the fleet with one device does, without a thread.
class Ordered : public search::InOrder {
 protected:
  void begin(const search::Node&) override {}
  Result<search::Measurement> finish(int node) override {
    search::Measurement out;
    out.state = TrialState::kVerified;
    out.time = Seconds(node);
    return out;
  }
};

TEST(Fleet, ASearchOnOneDeviceIsTheSameAsWithoutAFleet) {
  Yard yard;
  const auto fleet = fleet_of(yard, 1);
  ASSERT_TRUE(fleet->open().ok());
  Ordered ordered;
  const Searched with = search_with(*fleet, 20, 6, [] { return false; });
  const Searched without = search_with(ordered, 20, 6, [] { return false; });
  ASSERT_EQ(with.tree.events().size(), without.tree.events().size());
  for (size_t i = 0; i < with.tree.events().size(); ++i) {
    EXPECT_EQ(to_json(with.tree.events()[i]).dump(), to_json(without.tree.events()[i]).dump());
  }
}

// Whatever the order was: the tree is what its events say, and a search that goes on from them measures what is
// missing.
TEST(Fleet, ASearchLosesNothingAndReplays) {
  Yard yard;
  yard.measure = [](size_t device, int node) -> Result<double> {
    if (device == 2 && node > 9) return fail(Code::cuda_error, "broke");
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (node % 5)));
    return double(node);
  };
  const auto fleet = fleet_of(yard, 4);
  ASSERT_TRUE(fleet->open().ok());
  const Searched done = search_with(*fleet, 60, 18, [] { return false; });
  ASSERT_TRUE(done.stop.ok());
  EXPECT_EQ(*done.stop, search::Stop::kTrials);
  EXPECT_EQ(done.tree.in_flight(), 0);
  for (const search::Node& node : done.tree.nodes()) EXPECT_TRUE(node.id == 0 || node.usable()) << node.id;
  search::Tree again;
  for (const search::Event& event : done.tree.events()) ASSERT_TRUE(again.apply(event).ok());
  EXPECT_EQ(again.best()->id, done.tree.best()->id);
}

TEST(Fleet, AnInterruptedSearchStopsAfterTheNextResult) {
  Yard yard;
  const auto fleet = fleet_of(yard, 3);
  ASSERT_TRUE(fleet->open().ok());
  int asked = 0;
  const Searched done = search_with(*fleet, 1000, 14, [&] { return ++asked > 5; });
  ASSERT_TRUE(done.stop.ok());
  EXPECT_EQ(*done.stop, search::Stop::kInterrupted);
  fleet->end();
  EXPECT_EQ(yard.closed, 3);
  EXPECT_GT(done.tree.in_flight(), 0);
}

}  // namespace
}  // namespace solstice::evaluate
