#include "diagnose/pipe_cycles.h"

#include <algorithm>
#include <optional>

namespace solstice::diagnose {
namespace {

constexpr double kWarpLanes = 32, kSchedulers = 4;

struct PipeLanes {
  const char* pipe;
  machine::Pipe rate;
  double operations;  // that the machine file counts an instruction and lane
};
constexpr PipeLanes kPipeLanes[] = {{"fma", machine::Pipe::kSimtF32, 2},
                                    {"alu", machine::Pipe::kSimtI32, 2},
                                    {"fp64", machine::Pipe::kSimtF64, 2},
                                    {"xu", machine::Pipe::kSfu, 1}};

}  // namespace

double PipeCycles::most() const {
  double out = issue;
  for (const auto& [pipe, cycles] : pipes) out = std::max(out, cycles);
  return out;
}

double cycles_of_pipe(const std::string& pipe, const machine::Machine& machine) {
  for (const PipeLanes& each : kPipeLanes) {
    const auto rate = machine.pipes.find(each.rate);
    if (pipe != each.pipe || rate == machine.pipes.end() || rate->second.per_sm_per_clock <= 0) continue;
    const double lanes = rate->second.per_sm_per_clock / each.operations / kSchedulers;
    return std::max(1.0, kWarpLanes / lanes);
  }
  return 1;
}

PipeCycles cycles_of(const SassMix& mix, const machine::Machine& machine) {
  PipeCycles out;
  out.issue = static_cast<double>(mix.instructions);
  for (const auto& [pipe, count] : mix.pipes)
    out.pipes[pipe] = static_cast<double>(count) * cycles_of_pipe(pipe, machine);
  return out;
}

double most_gain(const PipeCycles& before, const PipeCycles& after) {
  const double by_unit = before.most() / std::max(1.0, after.most());
  return std::max({1.0, by_unit, before.issue / std::max(1.0, after.issue)});
}

}  // namespace solstice::diagnose
