// Plans run on the host: the kernels of many programs in one translation unit, since starting a compiler costs more
// than a kernel does. Buffers have red zones, outputs and workspace a poison.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "evaluate/lower.h"
#include "host_kernels/library.h"
#include "ir/interpret.h"

namespace solstice::random_kernels {

// A plan whose kernels need no GPU's instructions, and whose launches an emulator of threads gets through.
bool runs_on_host(const evaluate::Lowered& lowered);

struct HostRun {
  std::string fault;  // "wrote behind `y0`"; "" where there is nothing
  std::map<std::string, std::vector<double>> outputs;
};

// Names of the plans' modules and entries differ from program to program. The plans outlive it.
class HostPlans {
 public:
  static Result<HostPlans> compile(const std::vector<const evaluate::Lowered*>& plans);
  HostRun run(const evaluate::Lowered& lowered, const ir::TensorValues& inputs) const;

 private:
  explicit HostPlans(testing::HostLibrary library) : library_(library) {}
  testing::HostLibrary library_;
};

}  // namespace solstice::random_kernels
