#include "machine/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace solstice::machine {
namespace {

constexpr std::array<std::string_view, 12> kPipeNames = {"tensor.f64", "tensor.tf32", "tensor.f16", "tensor.bf16",
                                                         "tensor.f8",  "tensor.i8",   "simt.f64",   "simt.f32",
                                                         "simt.f16",   "simt.bf16",   "simt.i32",   "sfu"};

Ceiling ceiling_or(const std::optional<BytesPerSecond>& measured, BytesPerSecond datasheet) {
  return measured ? Ceiling{measured->value, true} : Ceiling{datasheet.value, false};
}

}  // namespace

std::string_view name_of(Pipe pipe) { return kPipeNames[static_cast<size_t>(pipe)]; }

std::optional<Pipe> pipe_from_name(std::string_view name) {
  for (size_t i = 0; i < kPipeNames.size(); ++i) {
    if (kPipeNames[i] == name) return static_cast<Pipe>(i);
  }
  return std::nullopt;
}

const std::vector<Pipe>& all_pipes() {
  static const std::vector<Pipe> pipes = [] {
    std::vector<Pipe> all;
    for (size_t i = 0; i < kPipeNames.size(); ++i) all.push_back(static_cast<Pipe>(i));
    return all;
  }();
  return pipes;
}

namespace {

Result<PipeRate> rate_of(const Machine& machine, Pipe pipe) {
  const auto found = machine.pipes.find(pipe);
  if (found != machine.pipes.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [each, rate] : machine.pipes) names.push_back(name_of(each));
  return fail(Code::bad_argument, fmt::format("machine `{}` has no {} pipe", machine.name, name_of(pipe)),
              fmt::format("it has {}", fmt::join(names, ", ")));
}

}  // namespace

Result<FlopsPerSecond> Machine::peak(Pipe pipe) const {
  SOLSTICE_TRY(const PipeRate rate, rate_of(*this, pipe));
  return FlopsPerSecond(sm_count * rate.per_sm_per_clock * rate.clock.value);
}

Result<FlopsPerSecond> Machine::peak_at_max_clock(Pipe pipe) const {
  SOLSTICE_TRY(const PipeRate rate, rate_of(*this, pipe));
  return FlopsPerSecond(sm_count * rate.per_sm_per_clock * max_clock.value);
}

Result<Ceiling> Machine::ceiling(Pipe pipe) const {
  SOLSTICE_TRY(const FlopsPerSecond datasheet, peak(pipe));
  const auto found = measured.pipes.find(pipe);
  if (found != measured.pipes.end()) return Ceiling{found->second.value, true};
  return Ceiling{datasheet.value, false};
}

BytesPerSecond Machine::l2_rate() const {
  return BytesPerSecond(static_cast<double>(sm_count) * l2_bytes_per_sm_per_clock * max_clock.value);
}

Ceiling Machine::copy_ceiling() const { return ceiling_or(measured.copy, dram_rate); }
Ceiling Machine::read_ceiling() const { return ceiling_or(measured.read, dram_rate); }
Ceiling Machine::write_ceiling() const { return ceiling_or(measured.write, dram_rate); }
Ceiling Machine::l2_ceiling() const { return ceiling_or(measured.l2_read, l2_rate()); }
Seconds Machine::launch_time() const { return measured.launch.value_or(microseconds(2.5)); }

namespace {

// SMs that clusters of so many SMs fill, a block each.
int64_t sms_of_clusters(const Machine& machine, int64_t sms) {
  const std::optional<int>& of_4 = machine.measured.clusters_of_4;
  const std::optional<int>& of_8 = machine.measured.clusters_of_8;
  const int64_t all = machine.sm_count;
  if (sms <= 2) return all;  // an SM pair is never divided
  if (sms <= 4 && of_4) return std::min(all, int64_t{4} * *of_4);
  return of_8 ? std::min(all, int64_t{8} * *of_8) : all;
}

}  // namespace

int64_t Machine::clusters_at_once(int64_t blocks, int64_t on_an_sm) const {
  // Four blocks, two an SM, are placed as two SMs with one each.
  const int64_t together = std::gcd(std::max<int64_t>(1, blocks), std::max<int64_t>(1, on_an_sm));
  const int64_t sms = std::max<int64_t>(1, blocks) / together, layers = std::max<int64_t>(1, on_an_sm) / together;
  return std::max<int64_t>(1, layers * (sms_of_clusters(*this, sms) / sms));
}

Result<Pipe> tensor_pipe(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return Pipe::kTensorF64;
    case DType::kF16:
      return Pipe::kTensorF16;
    case DType::kBF16:
      return Pipe::kTensorBF16;
    case DType::kE4M3:
    case DType::kE5M2:
      return Pipe::kTensorF8;
    case DType::kI8:
    case DType::kU8:
      return Pipe::kTensorI8;
    default:
      return fail(
          Code::bad_argument, fmt::format("no tensor pipe multiplies {} directly", name_of(dtype)),
          dtype == DType::kF32 ? "choose a math such as tf32 or fp16x3, or the SIMT pipe" : "use the SIMT pipe");
  }
}

Result<Pipe> simt_pipe(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return Pipe::kSimtF64;
    case DType::kF32:
      return Pipe::kSimtF32;
    case DType::kF16:
      return Pipe::kSimtF16;
    case DType::kBF16:
      return Pipe::kSimtBF16;
    case DType::kE4M3:
    case DType::kE5M2:
      return fail(Code::bad_argument, fmt::format("no SIMT pipe works on {}", name_of(dtype)),
                  "convert to f16 or f32 first");
    default:
      return Pipe::kSimtI32;
  }
}

}  // namespace solstice::machine
