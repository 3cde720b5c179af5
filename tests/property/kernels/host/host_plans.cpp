#include "property/kernels/host/host_plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "property/kernels/storage.h"

namespace solstice::random_kernels {
namespace {

constexpr unsigned char kGap = 0xff, kZone = 0xa5, kPoison = 0xff;
constexpr size_t kZoneBytes = 256, kAlignment = 128;
constexpr int64_t kMostThreads = 200'000;  // that the emulator starts for a launch

std::string entry_of(const Step& step) { return "host_" + step.entry; }

// The launch of a step, to be called with its pointers.
std::string launcher(const Step& step) {
  return fmt::format("extern \"C\" void {}(void** a) {{ solstice::host::launch({}, a, {}, {}, {}, {}); }}\n",
                     entry_of(step), step.entry, step.grid[0], step.block[0], step.cluster[0], step.shared_bytes);
}

// A red zone, the content (aligned), a red zone.
class Memory {
 public:
  explicit Memory(const std::string& content)
      : bytes_(content.size()), raw_(content.size() + 2 * kZoneBytes + kAlignment, static_cast<char>(kZone)) {
    std::copy(content.begin(), content.end(), reinterpret_cast<char*>(data()));
    before_ = raw_;
  }
  unsigned char* data() {
    auto* const at = reinterpret_cast<unsigned char*>(raw_.data()) + kZoneBytes;
    return at + (kAlignment - reinterpret_cast<uintptr_t>(at) % kAlignment) % kAlignment;
  }
  bool zones_intact() {
    const auto begin = static_cast<size_t>(data() - reinterpret_cast<unsigned char*>(raw_.data())),
               end = begin + bytes_;
    return raw_.compare(0, begin, before_, 0, begin) == 0 &&
           raw_.compare(end, raw_.size(), before_, end, raw_.size()) == 0;
  }
  bool unchanged() const { return raw_ == before_; }

 private:
  size_t bytes_;
  std::string raw_, before_;
};

Memory memory_of(const PlanBuffer& buffer, const ir::TensorValues& inputs) {
  const bool given = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kParam;
  if (given) return Memory(packed(buffer, inputs.at(buffer.name).values, kGap));
  return Memory(std::string(static_cast<size_t>(buffer.bytes), static_cast<char>(kPoison)));
}

std::string fault_of(const PlanBuffer& buffer, Memory& memory) {
  if (!memory.zones_intact()) return fmt::format("wrote outside `{}`", buffer.name);
  const bool given = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kParam;
  if (given && !memory.unchanged()) return fmt::format("wrote into the input `{}`", buffer.name);
  if (buffer.kind == BufferKind::kOutput && !gaps_untouched(buffer, memory.data(), kPoison))
    return fmt::format("wrote between the elements of `{}`", buffer.name);
  return "";
}

}  // namespace

bool runs_on_host(const evaluate::Lowered& lowered) {
  return std::all_of(lowered.plan.steps.begin(), lowered.plan.steps.end(), [](const Step& step) {
    return step.kind == StepKind::kLaunch && step.grid[0] * step.block[0] <= kMostThreads;
  });
}

Result<HostPlans> HostPlans::compile(const std::vector<const evaluate::Lowered*>& plans) {
  std::string code;
  for (const evaluate::Lowered* lowered : plans) {
    for (const families::Source& source : lowered->sources) {
      // A text that opens namespace solstice opens one of its own, where the headers' names are seen too.
      code += fmt::format("namespace of_{} {{\nnamespace solstice {{ using namespace ::solstice; }}\n{}\n", source.name,
                          source.code);
      for (const Step& step : lowered->plan.steps) {
        if (step.module == source.name) code += launcher(step);
      }
      code += "}\n";
    }
  }
  SOLSTICE_TRY(const testing::HostLibrary library, testing::HostLibrary::compile(code, "of random programs"));
  return HostPlans(library);
}

HostRun HostPlans::run(const evaluate::Lowered& lowered, const ir::TensorValues& inputs) const {
  std::map<std::string, Memory> memory;
  for (const PlanBuffer& buffer : lowered.plan.buffers) memory.emplace(buffer.name, memory_of(buffer, inputs));
  for (const Step& step : lowered.plan.steps) {
    std::vector<void*> arguments;
    for (const Argument& argument : step.arguments)
      arguments.push_back(memory.at(argument.buffer).data() + argument.offset);
    library_.entry(entry_of(step))(arguments.data());
  }
  HostRun out;
  for (const PlanBuffer& buffer : lowered.plan.buffers) {
    if (out.fault.empty()) out.fault = fault_of(buffer, memory.at(buffer.name));
    if (buffer.kind == BufferKind::kOutput) out.outputs[buffer.name] = unpacked(buffer, memory.at(buffer.name).data());
  }
  return out;
}

}  // namespace solstice::random_kernels
