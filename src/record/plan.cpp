#include "record/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/base64.h"

namespace solstice {

std::vector<const char*> enum_names(BufferKind) {
  return {"input", "output", "param", "state", "workspace", "constant"};
}
std::vector<const char*> enum_names(ArgumentKind) {
  return {"pointer", "i32", "i64", "f32", "f64", "tensor_map", "bytes"};
}
std::vector<const char*> enum_names(StepKind) { return {"launch", "memset", "copy"}; }
std::vector<const char*> enum_names(Phase) { return {"prepare", "launch"}; }

namespace {

using BufferTable = std::map<std::string, const PlanBuffer*>;

Error bad(const Step& step, const std::string& what) {
  return fail(Code::bad_record, fmt::format("plan step `{}`: {}", step.name, what));
}

Status check_range(const Step& step, const BufferTable& buffers, const std::string& name, int64_t offset,
                   int64_t bytes) {
  const auto found = buffers.find(name);
  if (found == buffers.end()) return bad(step, fmt::format("no buffer `{}`", name));
  if (offset < 0 || bytes < 0 || offset + bytes > found->second->bytes) {
    return bad(step, fmt::format("bytes [{}, {}) are outside `{}` of {} bytes", offset, offset + bytes, name,
                                 found->second->bytes));
  }
  return success();
}

Status check_map(const Step& step, const BufferTable& buffers, const TensorMap& map) {
  const size_t rank = map.extents.size();
  if (rank < 1 || rank > 5) return bad(step, fmt::format("a tensor map has 1 to 5 dimensions, not {}", rank));
  if (map.strides.size() != rank - 1 || map.box.size() != rank) {
    return bad(step, "a tensor map needs one stride fewer than extents, and as many box sizes");
  }
  int64_t last = (map.extents[0] - 1) * size_of(map.dtype);
  for (size_t i = 0; i < rank; ++i) {
    if (map.extents[i] < 1 || map.extents[i] > (int64_t{1} << 32))
      return bad(step, "a tensor map extent is out of range");
    if (map.box[i] < 1 || map.box[i] > 256)
      return bad(step, fmt::format("tensor map box {} is not in 1..256", map.box[i]));
    if (i == 0) continue;
    if (map.strides[i - 1] % 16 != 0) {
      return bad(step, fmt::format("tensor map stride {} is not a multiple of 16 bytes", map.strides[i - 1]));
    }
    last += (map.extents[i] - 1) * map.strides[i - 1];
  }
  const int64_t row = map.box[0] * size_of(map.dtype);
  if (row % 16 != 0)
    return bad(step, fmt::format("the innermost box of a tensor map is {} bytes, no multiple of 16", row));
  if (map.swizzle != 0 && row > map.swizzle) {
    return bad(step, fmt::format("the innermost box is {} bytes, more than the swizzle of {}", row, map.swizzle));
  }
  return check_range(step, buffers, map.buffer, map.offset, last + size_of(map.dtype));
}

Status check_launch(const Step& step, const BufferTable& buffers, const std::set<std::string>& modules) {
  if (!modules.contains(step.module)) return bad(step, fmt::format("no module `{}`", step.module));
  if (step.entry.empty()) return bad(step, "no entry");
  const auto threads = step.block[0] * step.block[1] * step.block[2];
  if (threads < 1 || threads > 1024) return bad(step, fmt::format("{} threads a block; legal are 1 to 1024", threads));
  constexpr std::array<int64_t, 3> kLimits = {2147483647, 65535, 65535};
  for (size_t i = 0; i < 3; ++i) {
    if (step.grid[i] < 1 || step.grid[i] > kLimits[i]) {
      return bad(step, fmt::format("grid[{}] is {}; legal are 1 to {}", i, step.grid[i], kLimits[i]));
    }
    if (step.cluster[i] < 1 || step.grid[i] % step.cluster[i] != 0) {
      return bad(step,
                 fmt::format("grid[{}] = {} is no multiple of cluster[{}] = {}", i, step.grid[i], i, step.cluster[i]));
    }
  }
  const auto cluster = step.cluster[0] * step.cluster[1] * step.cluster[2];
  if (cluster > 16) return bad(step, fmt::format("{} blocks a cluster; legal are 1 to 16", cluster));
  if (step.shared_bytes < 0 || step.shared_bytes > 232448) {
    return bad(step, fmt::format("{} bytes of shared memory; legal are 0 to 232448", step.shared_bytes));
  }
  for (const Argument& argument : step.arguments) {
    if (argument.kind == ArgumentKind::kI32 && argument.integer != static_cast<int32_t>(argument.integer)) {
      return bad(step, fmt::format("argument {} does not fit an i32", argument.integer));
    }
    if (argument.kind == ArgumentKind::kBytes && !base64_decode(argument.bytes).ok())
      return bad(step, "a struct argument is not base64");
    if (argument.kind == ArgumentKind::kPointer) {
      SOLSTICE_CHECK(check_range(step, buffers, argument.buffer, argument.offset, 0));
    } else if (argument.kind == ArgumentKind::kTensorMap) {
      SOLSTICE_CHECK(check_map(step, buffers, argument.map));
    }
  }
  return success();
}

Status check_fill(const Step& step, const BufferTable& buffers) {
  SOLSTICE_CHECK(check_range(step, buffers, step.buffer, step.offset, step.bytes));
  if (step.kind == StepKind::kCopy) return check_range(step, buffers, step.from, step.from_offset, step.bytes);
  const int size = step.pattern_bytes;
  if (size != 1 && size != 2 && size != 4)
    return bad(step, fmt::format("a memset pattern of {} bytes; legal are 1, 2, 4", size));
  if (step.bytes % size != 0 || step.offset % size != 0) {
    return bad(step,
               fmt::format("{} bytes at {} are no whole number of {}-byte patterns", step.bytes, step.offset, size));
  }
  return success();
}

Status check_buffer(const PlanBuffer& buffer) {
  const auto wrong = [&](const std::string& what) {
    return fail(Code::bad_record, fmt::format("plan buffer `{}`: {}", buffer.name, what));
  };
  if (buffer.bytes < 0) return wrong(fmt::format("{} bytes", buffer.bytes));
  if (buffer.alignment < 1 || buffer.alignment > 256 || (buffer.alignment & (buffer.alignment - 1)) != 0) {
    return wrong(fmt::format("alignment {}; legal are the powers of two up to 256", buffer.alignment));
  }
  if (buffer.shape.size() != buffer.strides.size()) return wrong("as many strides as extents are needed");
  if (buffer.kind != BufferKind::kConstant) return success();
  const Result<std::string> data = base64_decode(buffer.data);
  if (!data.ok()) return wrong("its data is not base64");
  if (static_cast<int64_t>(data->size()) != buffer.bytes) {
    return wrong(fmt::format("{} bytes of data for {} bytes", data->size(), buffer.bytes));
  }
  return success();
}

Status check_order(const Step& step, const std::set<std::string>& earlier, int streams) {
  if (step.stream < 0 || step.stream >= streams) {
    return bad(step, fmt::format("stream {} of {}", step.stream, streams));
  }
  for (const std::string& name : step.after) {
    if (!earlier.contains(name)) return bad(step, fmt::format("waits for `{}`, which is no earlier step", name));
  }
  return success();
}

}  // namespace

Status validate(const Plan& plan) {
  BufferTable buffers;
  if (plan.streams < 1 || plan.streams > 16) {
    return fail(Code::bad_record, fmt::format("the plan has {} streams; legal are 1 to 16", plan.streams));
  }
  for (const PlanBuffer& buffer : plan.buffers) {
    SOLSTICE_CHECK(check_buffer(buffer));
    if (!buffers.emplace(buffer.name, &buffer).second) {
      return fail(Code::bad_record, fmt::format("two plan buffers are named `{}`", buffer.name));
    }
  }
  std::set<std::string> modules;
  for (const PlanModule& module : plan.modules) modules.insert(module.name);
  std::set<std::string> earlier;
  for (const Step& step : plan.steps) {
    SOLSTICE_CHECK(check_order(step, earlier, plan.streams));
    if (step.kind == StepKind::kLaunch) SOLSTICE_CHECK(check_launch(step, buffers, modules));
    if (step.kind != StepKind::kLaunch) SOLSTICE_CHECK(check_fill(step, buffers));
    if (!earlier.insert(step.name).second) return bad(step, "its name is used twice");
  }
  return success();
}

}  // namespace solstice
