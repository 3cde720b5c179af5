// An evaluator over several devices, each with a thread of its own: whichever is free takes the trial that was started
// first, and results come in as they are done. It knows no GPU; gpu_fleet.h makes one of them.
//
//   Fleet fleet(std::move(devices), begin, left_out);
//   SOLSTICE_CHECK(fleet.open());
//   ... a search uses it: start(), land() ...
//   fleet.end();  // from here on the devices are the caller's own again
//
// Whoever else works with a device takes it only while the fleet rests: before the first land(), after rest() and after
// end().
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "search/search.h"

namespace solstice::evaluate {

// A trial that was begun. All its functions but conclude() are called in a device's thread; several devices have it one
// after the other where it has to be given to another.
class FleetTrial {
 public:
  virtual ~FleetTrial() = default;
  // The trial that was begun is done; waits for that, at most so long.
  virtual bool ready(Seconds patience) = 0;
  virtual Status prepare() = 0;  // work that no device takes part in; an error ends the search
  // On the device of this number. An error takes that device out.
  virtual Result<search::Measurement> measure(size_t device) = 0;
  // The rest, for which no device waits: adds it to the result. In the thread that lands.
  virtual void conclude(search::Measurement& /*out*/) {}
};

// open() and close() are called in the device's own thread, first and last.
class FleetDevice {
 public:
  virtual ~FleetDevice() = default;
  virtual std::string name() const = 0;  // "GPU 1"
  virtual Status open() = 0;             // an error leaves it out
  virtual void close() = 0;              // after such an error too
};

// A device that takes no part, or no further one, with the reason.
struct LeftOut {
  size_t device = 0;
  std::string name;
  Error why;
};

class Fleet : public search::Evaluator {
 public:
  using Begin = std::function<std::unique_ptr<FleetTrial>(const search::Node&)>;  // called by start()
  using Tell = std::function<void(const LeftOut&)>;                               // called by open() and land()

  Fleet(std::vector<std::unique_ptr<FleetDevice>> devices, Begin begin, Tell left_out);
  ~Fleet() override { end(); }

  // Opens all at once. An error: none could be opened.
  Status open();
  void start(const search::Node& node) override;
  // Error: a trial's prepare(), or that of the last device that broke; or a second one on the same trial, which stays,
  // for it is the trial then or something that they share. What is done comes in before.
  Result<search::Landed> land() override;
  // Trials in hand are finished, their results kept, and no other is taken before a land() has to wait for one.
  void rest();
  // The same for good; results that did not land are gone. Devices are closed. Once more, it does nothing.
  void end();
  int size() const;  // devices that take part

 private:
  struct Begun {
    int node = 0;
    std::unique_ptr<FleetTrial> trial;
    bool broke = false;  // a device broke on it
  };
  using Trials = std::map<int64_t, Begun>;  // by when they were started
  struct Done {
    Begun of;
    search::Measurement measured;
  };

  void work(size_t device);
  void opened(size_t device, const Status& how);
  Trials::node_type take();
  bool called_off() const;
  bool run(size_t device, Trials::node_type trial);
  void leave(size_t device, const Error& why);
  void tell();

  std::vector<std::unique_ptr<FleetDevice>> devices_;
  const Begin begin_;
  const Tell left_out_;
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable work_, news_;
  Trials waiting_;
  std::deque<Done> done_;
  std::set<int> held_;            // nodes that were started and have not landed
  std::vector<LeftOut> leaving_;  // that nobody was told of yet
  std::optional<Error> failed_;
  int64_t started_ = 0, landed_ = 0;
  size_t opening_ = 0;
  int part_ = 0, busy_ = 0;
  bool resting_ = true, ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace solstice::evaluate
