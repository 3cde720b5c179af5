// The fleet with devices that only pretend: what a device, a compiler or a search may do to it. docs/testing.md says
// how it is run under ThreadSanitizer.
#include "evaluate/fleet.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "unit/evaluate/pretended_devices.h"

namespace solstice::evaluate {
namespace {

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

// What needs no device, as a diagnosis, keeps none from the next trial.
TEST(Fleet, DevicesGoOnWhileATrialIsConcluded) {
  Yard yard;
  Gate later;
  yard.measure = [&](size_t, int node) {
    if (node == 3) later.open();
    return Result<double>(node);
  };
  yard.conclude = [&](int node) {
    if (node == 1) later.pass();
  };
  const auto fleet = fleet_of(yard, 1);
  ASSERT_TRUE(fleet->open().ok());
  start(*fleet, 1, 3);
  EXPECT_EQ(landed(*fleet, 3), (std::vector<int>{1, 2, 3}));
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

}  // namespace
}  // namespace solstice::evaluate
