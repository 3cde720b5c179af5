// One program after another: made, checked, compiled, run on the GPU, compared; on all cores, the GPU one at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/kernels/device.h"
#include "gpu/kernels/verdicts.h"
#include "machine/machine.h"
#include "property/kernels/prepare.h"
#include "toolchain/compiler.h"

namespace solstice::random_kernels {

struct Item {
  std::string family;
  uint64_t number = 0;
  bool operator==(const Item&) const = default;
};

struct WorkOptions {
  uint64_t seed = 1;
  std::string sizes = "device";  // device, sanitizer, host
  DeviceOptions device;
  bool shrink = true;
  bool compile_only = false;  // where there is no GPU
};
Result<Sizes> sizes_named(const std::string& name);

// What happens, as it happens; calls do not overlap. `on_device` before a plan runs there.
struct Watcher {
  std::function<void(const Item&)> begin, on_device;
  std::function<void(const Verdict&)> end;
};

class Work {
 public:
  static Result<std::unique_ptr<Work>> create(WorkOptions options);
  // Stops early where the GPU's context is lost: true then.
  bool run(const std::vector<Item>& items, const Watcher& watcher);

 private:
  // Nothing where the context was lost by another program.
  std::optional<Verdict> check(const Item& item, const Watcher& watcher);
  // Adds to the verdict what becomes of it, as it is written.
  void run_prepared(const Prepared& prepared, const Item& item, const Watcher& watcher, Verdict& verdict);
  std::string shrunk(const Prepared& failing, Outcome outcome);

  WorkOptions options_;
  Sizes sizes_;
  machine::Machine machine_;
  std::unique_ptr<toolchain::Compiler> compiler_;
  std::unique_ptr<Device> device_;
  std::mutex watching_;
  std::atomic<bool> lost_ = false;
};

}  // namespace solstice::random_kernels
