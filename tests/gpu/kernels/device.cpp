#include "gpu/kernels/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "property/kernels/storage.h"
#include "rt/executor.h"
#include "run/device_memory.h"

namespace solstice::random_kernels {
namespace {

constexpr unsigned char kGap = 0xff;   // a NaN in every float format
constexpr unsigned char kZone = 0xa5;  // of red zones
constexpr unsigned char kPoisons[] = {0xff, 0x00};

// One allocation: a red zone, the content, a red zone.
struct Block {
  std::string name;
  BufferKind kind = BufferKind::kInput;
  const PlanBuffer* buffer = nullptr;  // null: the workspace
  run::DeviceBuffer memory;
  std::string before;  // all of it, as it was

  void* address(int64_t zone) const {
    return reinterpret_cast<void*>(memory.address() + static_cast<cu::DevicePtr>(zone));
  }
};

class PlanRun {
 public:
  PlanRun(const rt::Driver& driver, const DeviceOptions& options) : driver_(driver), options_(options) {}

  Status run(const Plan& plan, const std::vector<std::string>& cubins, const ir::TensorValues& inputs, DeviceRun& out) {
    SOLSTICE_TRY(rt::LoadedPlan loaded, rt::make_loaded_plan(plan, cubins));
    SOLSTICE_TRY(executor_, rt::Executor::create(driver_, std::move(loaded), options_.red_zone));
    for (size_t i = 0; i < executor_->tensor_count(); ++i) SOLSTICE_CHECK(add_tensor(executor_->tensor(i), inputs));
    SOLSTICE_CHECK(add_workspace());
    for (const unsigned char poison : kPoisons) {
      SOLSTICE_CHECK(launch(poison, poison == kPoisons[0]));
      SOLSTICE_CHECK(look(poison, out));
      if (!out.fault.empty()) return success();
    }
    return success();
  }

 private:
  Status add_block(Block block, const std::string& content) {
    const std::string zone(static_cast<size_t>(options_.red_zone), static_cast<char>(kZone));
    block.before = zone + content + zone;
    if (block.before.empty()) block.before.assign(16, '\0');
    SOLSTICE_TRY(block.memory, run::DeviceBuffer::allocate(driver_, static_cast<int64_t>(block.before.size())));
    blocks_.push_back(std::move(block));
    return success();
  }

  Status add_tensor(const PlanBuffer& buffer, const ir::TensorValues& inputs) {
    Block block;
    block.name = buffer.name;
    block.kind = buffer.kind;
    block.buffer = &buffer;
    const auto given = inputs.find(buffer.name);
    const bool written = buffer.kind == BufferKind::kOutput;
    SOLSTICE_CHECK(
        add_block(std::move(block), written ? std::string(static_cast<size_t>(buffer.bytes), static_cast<char>(kGap))
                                            : packed(buffer, given->second.values, kGap)));
    tensors_.push_back(blocks_.back().address(options_.red_zone));
    return success();
  }

  Status add_workspace() {
    Block block;
    block.name = "the workspace";
    block.kind = BufferKind::kWorkspace;
    return add_block(std::move(block),
                     std::string(static_cast<size_t>(executor_->workspace_bytes()), static_cast<char>(kZone)));
  }

  // Bytes of the workspace that belong to a buffer of the plan, persistent ones if asked for.
  template <class Visit>
  void each_workspace_buffer(Visit visit) const {
    const auto& buffers = executor_->plan().buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (executor_->workspace().offsets[i] >= 0)
        visit(buffers[i], static_cast<size_t>(options_.red_zone + executor_->workspace().offsets[i]));
    }
  }

  Status launch(unsigned char poison, bool first) {
    for (Block& block : blocks_) {
      if (block.kind == BufferKind::kOutput)
        std::fill(block.before.begin() + options_.red_zone, block.before.end() - options_.red_zone,
                  static_cast<char>(poison));
      if (block.buffer || first) {
        if (!block.buffer) poison_workspace(block, poison);
        SOLSTICE_CHECK(upload(block, 0, block.before.size()));
        continue;
      }
      // What `prepare` left stays.
      poison_workspace(block, poison);
      Status status = success();
      each_workspace_buffer([&](const PlanBuffer& buffer, size_t at) {
        if (!buffer.persistent && status.ok()) status = upload(block, at, static_cast<size_t>(buffer.bytes));
      });
      SOLSTICE_CHECK(std::move(status));
    }
    void* const workspace = executor_->workspace_bytes() > 0 ? blocks_.back().address(options_.red_zone) : nullptr;
    if (first) SOLSTICE_CHECK(executor_->prepare(tensors_, workspace, nullptr));
    SOLSTICE_CHECK(executor_->launch(tensors_, workspace, nullptr));
    return wait();
  }

  void poison_workspace(Block& block, unsigned char poison) const {
    each_workspace_buffer([&](const PlanBuffer& buffer, size_t at) {
      std::fill_n(block.before.begin() + static_cast<std::ptrdiff_t>(at), buffer.bytes, static_cast<char>(poison));
    });
  }

  Status upload(const Block& block, size_t from, size_t bytes) {
    return driver_.check(driver_.cuMemcpyHtoD(block.memory.address() + from, block.before.data() + from, bytes),
                         "upload");
  }

  Status wait() const {
    const Deadline deadline(options_.limit);
    while (true) {
      const cu::Result state = driver_.cuStreamQuery(nullptr);
      if (state != cu::kNotReady) return driver_.check(state, "run the plan");
      if (deadline.passed()) return fail(Code::deadline, fmt::format("not done after {} s", options_.limit.value));
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Status look(unsigned char poison, DeviceRun& out) {
    for (const Block& block : blocks_) {
      std::string now(block.before.size(), '\0');
      SOLSTICE_CHECK(driver_.check(driver_.cuMemcpyDtoH(now.data(), block.memory.address(), now.size()), "download"));
      if (out.fault.empty()) out.fault = fault_of(block, now, poison);
      if (block.kind != BufferKind::kOutput) continue;
      std::string result = now.substr(static_cast<size_t>(options_.red_zone), static_cast<size_t>(block.buffer->bytes));
      std::string& known = out.outputs[block.name];
      const bool again = !known.empty() && out.fault.empty();
      if (again && values_of(block, known) != values_of(block, result))
        out.fault = fmt::format("`{}` differs from run to run", block.name);
      known = std::move(result);
    }
    return success();
  }

  static std::string values_of(const Block& block, const std::string& bytes) {
    const auto size = size_of(block.buffer->dtype);
    int64_t elements = 1;
    for (const int64_t e : block.buffer->shape) elements *= e;
    std::string out;
    for (int64_t i = 0; i < elements; ++i)
      out.append(bytes, static_cast<size_t>(place_of(*block.buffer, i) * size), static_cast<size_t>(size));
    return out;
  }

  std::string fault_of(const Block& block, const std::string& now, unsigned char poison) const {
    const auto zone = static_cast<size_t>(options_.red_zone);
    const auto same = [&](size_t from, size_t count) {
      return now.compare(from, count, block.before, from, count) == 0;
    };
    if (!same(0, zone)) return fmt::format("wrote before `{}`", block.name);
    if (!same(now.size() - zone, zone)) return fmt::format("wrote behind `{}`", block.name);
    if (!block.buffer) return fault_of_workspace(block, now);
    if (block.kind != BufferKind::kOutput)
      return same(0, now.size()) ? "" : fmt::format("wrote into the input `{}`", block.name);
    const bool clean = gaps_untouched(*block.buffer, reinterpret_cast<const unsigned char*>(now.data()) + zone, poison);
    return clean ? "" : fmt::format("wrote between the elements of `{}`", block.name);
  }

  std::string fault_of_workspace(const Block& block, const std::string& now) const {
    std::vector<std::pair<size_t, size_t>> used;
    each_workspace_buffer(
        [&](const PlanBuffer& buffer, size_t at) { used.emplace_back(at, at + static_cast<size_t>(buffer.bytes)); });
    used.emplace_back(now.size(), now.size());
    size_t from = 0;
    for (const auto& [begin, end] : used) {
      if (now.compare(from, begin - from, block.before, from, begin - from) != 0)
        return "wrote between the buffers of the workspace";
      from = end;
    }
    return "";
  }

  const rt::Driver& driver_;
  const DeviceOptions& options_;
  std::unique_ptr<rt::Executor> executor_;
  std::vector<Block> blocks_;  // the workspace last
  std::vector<void*> tensors_;
};

}  // namespace

Device::Device(const rt::Driver& driver, rt::DeviceContext context, DeviceOptions options)
    : driver_(driver), context_(std::move(context)), options_(options) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::open(DeviceOptions options) {
  SOLSTICE_TRY(const rt::Driver* const driver, rt::cuda_driver());
  SOLSTICE_TRY(rt::DeviceContext context, rt::DeviceContext::open(*driver, 0));
  return std::unique_ptr<Device>(new Device(*driver, std::move(context), options));
}

DeviceRun Device::run(const Plan& plan, const std::vector<std::string>& cubins, const ir::TensorValues& inputs,
                      const std::function<void()>& starts) {
  const std::lock_guard lock(mutex_);
  starts();
  DeviceRun out;
  Status status = context_.make_current();
  if (status.ok()) status = PlanRun(driver_, options_).run(plan, cubins, inputs, out);
  if (status.ok()) return out;
  out.fault = status.error().text();
  out.lost = status.error().code == Code::cuda_error || status.error().code == Code::deadline;
  return out;
}

}  // namespace solstice::random_kernels
