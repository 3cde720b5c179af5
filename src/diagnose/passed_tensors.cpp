#include "diagnose/passed_tensors.h"

#include <algorithm>
#include <map>

namespace solstice::diagnose {
namespace {

bool reads(const KernelSheet& kernel, const std::string& tensor) {
  return std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                     [&](const TensorFacts& each) { return !each.written && each.name == tensor; });
}

double read_by_both(const KernelSheet& writer, const KernelSheet& reader) {
  double out = 0;
  for (const TensorFacts& each : reader.tensors) {
    if (!each.written && reads(writer, each.name)) out += each.bytes.value;
  }
  return out;
}

// Seconds by resource, of one kernel in place of several: arithmetic on different units overlaps.
void add_needs(const KernelSheet& kernel, std::map<std::string, ResourceNeed>& sums) {
  for (const ResourceNeed& need : kernel.needs) {
    ResourceNeed& sum = sums[need.resource];
    sum.amount += need.amount;
    sum.time += need.time;
  }
}

Seconds longest_without(const std::map<std::string, ResourceNeed>& sums, double bytes) {
  Seconds out;
  for (const auto& [resource, need] : sums) {
    const bool memory = resource == "dram" || resource == "l2";
    const double left = memory && need.amount > 0 ? std::max(0.0, 1 - bytes / need.amount) : 1;
    out = std::max(out, need.time * left);
  }
  return out;
}

}  // namespace

double PassedTensor::moved() const {
  return tensor->bytes.value * static_cast<double>(1 + readers.size()) + bytes_read_by_both;
}

std::vector<PassedTensor> passed_tensors(const ProgramView& view) {
  std::vector<PassedTensor> out;
  for (const KernelView& writer : view.kernels) {
    for (const TensorFacts& made : writer.kernel.tensors) {
      if (!made.written || made.kind != "intermediate" || writer.kernel.once) continue;
      PassedTensor passed{&made, &writer, {}, 0};
      for (const KernelView& reader : view.kernels) {
        if (&reader == &writer || reader.kernel.once || !reads(reader.kernel, made.name)) continue;
        passed.readers.push_back(&reader);
        passed.bytes_read_by_both += read_by_both(writer.kernel, reader.kernel);
      }
      if (!passed.readers.empty()) out.push_back(std::move(passed));
    }
  }
  return out;
}

std::optional<Seconds> most_saved(const PassedTensor& passed, double bytes) {
  std::vector<const KernelView*> kernels = passed.readers;
  kernels.push_back(passed.writer);
  std::map<std::string, ResourceNeed> needs;
  Seconds time;
  for (const KernelView* kernel : kernels) {
    if (!kernel->kernel.bound || kernel->time().value <= 0) return std::nullopt;
    time += kernel->time();
    add_needs(kernel->kernel, needs);
  }
  const Seconds launches = passed.writer->machine.launch_time() * static_cast<double>(passed.readers.size());
  return std::max(Seconds(0), time - longest_without(needs, bytes)) + launches;
}

GainBound gain_without_passing(const ProgramView& view, const PassedTensor& passed, double bytes, std::string because) {
  const std::optional<Seconds> saved = most_saved(passed, bytes);
  if (!saved || view.time().value <= 0) return open_bound("times or bounds of these kernels are not known");
  return {gain_without(*saved / view.time()), 1, std::move(because)};
}

}  // namespace solstice::diagnose
