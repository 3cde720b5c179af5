// Devices of a fleet that only pretend, and gates that let tests decide what happens when.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "evaluate/fleet.h"

namespace solstice::evaluate {

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
  std::function<void(int node)> conclude = [](int) {};
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
  void conclude(search::Measurement&) override { yard_.conclude(node_); }

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

inline std::unique_ptr<Fleet> fleet_of(Yard& yard, size_t count) {
  std::vector<std::unique_ptr<FleetDevice>> devices;
  for (size_t i = 0; i < count; ++i) devices.push_back(std::make_unique<PretendedDevice>(yard, i));
  return std::make_unique<Fleet>(
      std::move(devices), [&yard](const search::Node& node) { return std::make_unique<PretendedTrial>(yard, node.id); },
      [&yard](const LeftOut& left) { yard.left.push_back(left.name + ": " + left.why.message); });
}

inline void start(Fleet& fleet, int first, int last) {
  for (int id = first; id <= last; ++id) {
    search::Node node;
    node.id = id;
    fleet.start(node);
  }
}

inline std::vector<int> landed(Fleet& fleet, int count) {
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

}  // namespace solstice::evaluate
