// Plans on the GPU of this process: run twice, with other poison, and looked at for what they must not do.
//
// Every tensor has an allocation of its own with a red zone at either end. Outputs and workspace are poisoned before
// each run (0xff, then 0x00), gaps between the elements of a strided tensor hold NaN. What a run leaves is checked: red
// zones and gaps are as they were, inputs too, and both runs gave the same bits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "record/plan.h"
#include "rt/cuda_driver.h"

namespace solstice::random_kernels {

struct DeviceOptions {
  int64_t red_zone = 4096;  // bytes; 0 where a checker of memory looks at allocations
  Seconds limit = Seconds(20);
};

struct DeviceRun {
  std::string fault;                           // what it must not have done; "" where there is nothing
  bool lost = false;                           // the context is: this process can run nothing more
  std::map<std::string, std::string> outputs;  // bytes of the second run
};

class Device {
 public:
  static Result<std::unique_ptr<Device>> open(DeviceOptions options);
  ~Device();

  // One at a time; callers of other threads wait. `starts` is called when it is this one's turn.
  DeviceRun run(const Plan& plan, const std::vector<std::string>& cubins, const ir::TensorValues& inputs,
                const std::function<void()>& starts);

 private:
  Device(const rt::Driver& driver, rt::DeviceContext context, DeviceOptions options);

  const rt::Driver& driver_;
  rt::DeviceContext context_;
  DeviceOptions options_;
  std::mutex mutex_;
};

}  // namespace solstice::random_kernels
