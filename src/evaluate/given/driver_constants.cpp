#include "evaluate/given/driver_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace solstice::evaluate {
namespace {

using toolchain::ConstantRead;

constexpr int kParametersAt = 0x210;  // of sm_90
constexpr int kParameterWindow = 0x198, kParameterWindowEnd = 0x1a0, kConstantWindow = 0xd0, kReservedShared = 0x68;

// First and last byte.
constexpr std::pair<int, int> kAllowed[] = {
    {0x0, 0x17},     // blockDim, gridDim
    {0x20, 0x27},    // window of local memory
    {0x28, 0x2b},    // stack
    {0x2c, 0x2f},    // bytes of dynamic shared memory
    {0x114, 0x117},  // bytes of shared memory, in all
    {0x13c, 0x13f},  // and with what is reserved
    {0x140, 0x15f},  // extents of the cluster, and of the grid in clusters
    {0x188, 0x18b},  // blocks of a cluster
    {0x208, 0x20f},  // descriptor of global memory
};

bool is_allowed(int offset) {
  return std::any_of(std::begin(kAllowed), std::end(kAllowed),
                     [&](const auto& range) { return range.first <= offset && offset <= range.second; });
}

bool is_window(const ConstantRead& read) {
  return read.bank == 0 && !read.indexed && read.offset < kParameterWindowEnd &&
         read.offset + read.bytes > kParameterWindow;
}

// No single byte, and nothing besides.
bool is_half_or_whole(const ConstantRead& read) {
  return read.bytes >= 4 && read.offset >= kParameterWindow && read.offset + read.bytes <= kParameterWindowEnd;
}

std::string flaw_of_read(const ConstantRead& read, bool descriptors) {
  if (read.bank != 0) return "";
  if (read.indexed) return "it reads the constants of its launch at a place that a register tells";
  if (read.offset >= kParametersAt || is_allowed(read.offset)) return "";
  if (is_window(read) && is_half_or_whole(read))
    return descriptors ? "" : "it takes the address of a parameter: what is stored behind it could last";
  switch (read.offset) {
    case kConstantWindow:
      return "it takes the address of a constant: what is stored there lasts; a table is `__constant__`, and is "
             "indexed directly";
    case kReservedShared:
      return "it takes the address of the driver's part of shared memory: what is stored there could last";
    default:
      return fmt::format("it reads a constant of the driver (c[0x0][{:#x}]): a launch's extents alone are its business",
                         read.offset);
  }
}

}  // namespace

std::string driver_constants_flaw(const toolchain::CubinFacts& facts, const Step& step) {
  for (const toolchain::CubinKernel& kernel : facts.kernels) {
    if (kernel.entry != step.entry || kernel.parameters.empty() || kernel.parameters_at == kParametersAt) continue;
    return fmt::format(
        "its parameters begin at {:#x} of their constant bank: code is judged for sm_90 alone, where they begin at "
        "{:#x}",
        kernel.parameters_at, kParametersAt);
  }
  const bool descriptors = std::any_of(step.arguments.begin(), step.arguments.end(),
                                       [](const Argument& a) { return a.kind == ArgumentKind::kTensorMap; });
  for (const ConstantRead& read : facts.reads) {
    if (std::string flaw = flaw_of_read(read, descriptors); !flaw.empty()) return flaw;
  }
  return "";
}

bool takes_parameter_window(const toolchain::CubinFacts& facts) {
  return std::any_of(facts.reads.begin(), facts.reads.end(), is_window);
}

}  // namespace solstice::evaluate
