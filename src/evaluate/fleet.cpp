#include "evaluate/fleet.h"

namespace solstice::evaluate {
namespace {

constexpr Seconds kSlice{0.01};  // of waiting for a compiler, before looking whether the trial is still wanted

}  // namespace

Fleet::Fleet(std::vector<std::unique_ptr<FleetDevice>> devices, Begin begin, Tell left_out)
    : devices_(std::move(devices)), begin_(std::move(begin)), left_out_(std::move(left_out)) {}

Status Fleet::open() {
  {
    const std::lock_guard lock(mutex_);
    opening_ = devices_.size();
  }
  for (size_t i = 0; i < devices_.size(); ++i) threads_.emplace_back([this, i] { work(i); });
  std::unique_lock lock(mutex_);
  news_.wait(lock, [this] { return opening_ == 0; });
  const std::optional<Error> failed = failed_;
  lock.unlock();
  tell();
  return failed ? Status(*failed) : success();
}

void Fleet::start(const search::Node& node) {
  if (!held_.insert(node.id).second) return;
  std::unique_ptr<FleetTrial> trial = begin_(node);
  const std::lock_guard lock(mutex_);
  waiting_.emplace(started_++, Begun{node.id, std::move(trial)});
  work_.notify_one();
}

Result<search::Landed> Fleet::land() {
  std::unique_lock lock(mutex_);
  if (started_ == landed_ || ending_) return fail(Code::internal, "a trial that was not started was waited for");
  if (done_.empty()) resting_ = false;
  work_.notify_all();
  news_.wait(lock, [this] { return !done_.empty() || failed_; });
  lock.unlock();
  tell();
  lock.lock();
  if (done_.empty()) return *failed_;
  Done done = std::move(done_.front());
  done_.pop_front();
  ++landed_;
  held_.erase(done.of.node);
  lock.unlock();
  done.of.trial->conclude(done.measured);
  return search::Landed{done.of.node, std::move(done.measured)};
}

void Fleet::rest() {
  std::unique_lock lock(mutex_);
  resting_ = true;
  news_.wait(lock, [this] { return busy_ == 0; });
}

void Fleet::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = resting_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

int Fleet::size() const {
  const std::lock_guard lock(mutex_);
  return part_;
}

void Fleet::work(size_t device) {
  const Status how = devices_[device]->open();
  opened(device, how);
  while (how.ok()) {
    Trials::node_type trial = take();
    if (!trial || !run(device, std::move(trial))) break;
  }
  devices_[device]->close();
}

void Fleet::opened(size_t device, const Status& how) {
  const std::lock_guard lock(mutex_);
  --opening_;
  if (how.ok()) {
    ++part_;
  } else {
    leaving_.push_back({device, devices_[device]->name(), how.error()});
    if (opening_ == 0 && part_ == 0) failed_ = how.error();
  }
  news_.notify_all();
}

// The first that waits; empty where it is over.
Fleet::Trials::node_type Fleet::take() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return ending_ || (!resting_ && !failed_ && !waiting_.empty()); });
  if (ending_) return {};
  ++busy_;
  return waiting_.extract(waiting_.begin());
}

bool Fleet::called_off() const {
  const std::lock_guard lock(mutex_);
  return resting_;
}

// True: the device goes on.
bool Fleet::run(size_t device, Trials::node_type taken) {
  FleetTrial& trial = *taken.mapped().trial;
  bool ready = trial.ready(kSlice);
  while (!ready && !called_off()) ready = trial.ready(kSlice);
  const Status prepared = ready ? trial.prepare() : success();
  const bool wanted = ready && prepared.ok();
  std::optional<Result<search::Measurement>> measured;
  if (wanted) measured.emplace(trial.measure(device));
  const std::lock_guard lock(mutex_);
  --busy_;
  bool stays = true;
  if (!prepared.ok()) {
    if (!failed_) failed_ = prepared.error();
  } else if (measured && measured->ok()) {
    done_.push_back({std::move(taken.mapped()), std::move(*measured).value()});
  } else {
    stays = !measured || taken.mapped().broke;
    if (measured && stays && !failed_) failed_ = measured->error();
    if (!stays) leave(device, measured->error());
    taken.mapped().broke |= measured.has_value();
    waiting_.insert(std::move(taken));
  }
  work_.notify_all();
  news_.notify_all();
  return stays;
}

// With the lock held.
void Fleet::leave(size_t device, const Error& why) {
  leaving_.push_back({device, devices_[device]->name(), why});
  if (--part_ == 0 && !failed_) failed_ = why;
}

void Fleet::tell() {
  std::vector<LeftOut> news;
  {
    const std::lock_guard lock(mutex_);
    news.swap(leaving_);
  }
  for (const LeftOut& each : news) left_out_(each);
}

}  // namespace solstice::evaluate
