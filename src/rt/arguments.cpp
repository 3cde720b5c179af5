#include "rt/arguments.h"

#include <fmt/format.h>

#include <cstring>

#include "base/base64.h"

namespace solstice::rt {
namespace {

template <typename T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// The value's bytes; zeros where they are filled in later.
Result<std::string> value_of(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kPointer:
      return raw(uint64_t{0});
    case ArgumentKind::kI32:
      return raw(static_cast<int32_t>(argument.integer));
    case ArgumentKind::kI64:
      return raw(argument.integer);
    case ArgumentKind::kF32:
      return raw(static_cast<float>(argument.real));
    case ArgumentKind::kF64:
      return raw(argument.real);
    case ArgumentKind::kTensorMap:
      return std::string(sizeof(cu::TensorMap), '\0');
    case ArgumentKind::kBytes:
      return base64_decode(argument.bytes);
  }
  return fail(Code::internal, "an argument of unknown kind");
}

size_t alignment_of(ArgumentKind kind) { return kind == ArgumentKind::kTensorMap ? 128 : 16; }

}  // namespace

Result<PackedArguments> PackedArguments::pack(const std::vector<Argument>& arguments,
                                              const std::map<std::string, size_t>& buffers) {
  PackedArguments out;
  std::vector<std::string> values;
  std::vector<size_t> offsets;
  size_t end = 0;
  for (const Argument& argument : arguments) {
    SOLSTICE_TRY(std::string value, value_of(argument));
    const size_t alignment = alignment_of(argument.kind);
    end = (end + alignment - 1) / alignment * alignment;
    offsets.push_back(end);
    end += value.size();
    values.push_back(std::move(value));
  }
  out.reserve(end + 1);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    std::memcpy(out.at(offsets[i]), values[i].data(), values[i].size());
    out.parameters_.push_back(out.at(offsets[i]));
    if (argument.kind == ArgumentKind::kPointer)
      out.pointers_.push_back({offsets[i], buffers.at(argument.buffer), &argument});
    if (argument.kind == ArgumentKind::kTensorMap)
      out.maps_.push_back({offsets[i], buffers.at(argument.map.buffer), &argument});
  }
  return out;
}

Status PackedArguments::bind(const Driver& driver, const std::vector<cu::DevicePtr>& bases,
                             const std::vector<char>& moved) {
  for (const Patch& patch : pointers_) {
    if (!moved[patch.buffer]) continue;
    const cu::DevicePtr address = bases[patch.buffer] + static_cast<uint64_t>(patch.argument->offset);
    std::memcpy(at(patch.at), &address, sizeof address);
  }
  for (const Patch& patch : maps_) {
    if (!moved[patch.buffer]) continue;
    SOLSTICE_CHECK(encode_tensor_map(driver, patch.argument->map, bases[patch.buffer],
                                     *reinterpret_cast<cu::TensorMap*>(at(patch.at))));
  }
  return success();
}

}  // namespace solstice::rt
