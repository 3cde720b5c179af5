// Times plans in this process, as trials are timed: events around a launch, each behind writes of twice the L2's size.
// For kernels of Solstice's own families, hundreds of them in a minute: no results are looked at, and a
// kernel that fails ends it all. Candidates of others go to the judge.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "record/plan.h"
#include "rt/executor.h"
#include "run/device_memory.h"

namespace solstice::run {

class KernelTimer {
 public:
  static Result<std::unique_ptr<KernelTimer>> open(int ordinal);
  ~KernelTimer();
  std::string device() const { return context_.name(); }
  std::string bus_id() const { return context_.bus_id(); }

  // Memory for the plan's tensors, with values: normal ones; integers below `limits` of their tensor (1 where it has
  // none). Plans with the same tensors are timed on it until the next call. Errors: too_large, cuda_error.
  Status fill(const Plan& plan, const std::map<std::string, int64_t>& limits);
  // Seconds of each repetition, as many as fit into `budget`, between 3 and 15; of a plan that takes three
  // times as long, one. Errors: cuda_error, bad_record; deadline, after which the
  // process holds a GPU that is busy.
  Result<std::vector<double>> time(const Plan& plan, std::vector<std::string> cubins, Seconds budget = Seconds(0.02));

 private:
  KernelTimer(const rt::Driver& driver, rt::DeviceContext context) : driver_(driver), context_(std::move(context)) {}
  Status reserve(DeviceBuffer& buffer, int64_t bytes);
  Status write(const PlanBuffer& buffer, int64_t limit, cu::DevicePtr at);
  Status wait() const;
  std::vector<void*> tensors_of(const rt::Executor& executor) const;
  Result<double> time_once(rt::Executor& executor, int flushes);

  const rt::Driver& driver_;
  rt::DeviceContext context_;
  DeviceBuffer tensors_, workspace_, flush_;
  std::map<std::string, void*> addresses_;
  cu::Event begin_ = nullptr, end_ = nullptr;
};

}  // namespace solstice::run
