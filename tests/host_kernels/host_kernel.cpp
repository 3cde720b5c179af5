#include "host_kernels/host_kernel.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

#include "host_kernels/library.h"

namespace solstice::testing {
namespace {

using Bytes8 = std::vector<unsigned char>;

float from_bits(uint32_t bits) {
  float out;
  std::memcpy(&out, &bits, 4);
  return out;
}
uint32_t to_bits(float v) {
  uint32_t out;
  std::memcpy(&out, &v, 4);
  return out;
}

// Only what the tests use: floats of 4 and 8 bytes, bf16, integers, bool.
void store(DType dtype, double v, unsigned char* to) {
  const auto put = [&](auto x) { std::memcpy(to, &x, sizeof(x)); };
  switch (dtype) {
    case DType::kF64:
      return put(v);
    case DType::kF32:
      return put(static_cast<float>(v));
    case DType::kBF16:
      return put(static_cast<uint16_t>(to_bits(static_cast<float>(v)) >> 16));
    case DType::kI64:
      return put(static_cast<int64_t>(v));
    case DType::kI32:
      return put(static_cast<int32_t>(v));
    case DType::kI16:
      return put(static_cast<int16_t>(v));
    case DType::kI8:
      return put(static_cast<int8_t>(v));
    default:
      return put(static_cast<uint8_t>(v));
  }
}

double load(DType dtype, const unsigned char* from) {
  const auto get = [&](auto x) {
    std::memcpy(&x, from, sizeof(x));
    return static_cast<double>(x);
  };
  switch (dtype) {
    case DType::kF64:
      return get(double{});
    case DType::kF32:
      return get(float{});
    case DType::kBF16: {
      uint16_t bits;
      std::memcpy(&bits, from, 2);
      return from_bits(static_cast<uint32_t>(bits) << 16);
    }
    case DType::kI64:
      return get(int64_t{});
    case DType::kI32:
      return get(int32_t{});
    case DType::kI16:
      return get(int16_t{});
    case DType::kI8:
      return get(int8_t{});
    default:
      return get(uint8_t{});
  }
}

int64_t physical(const ir::Tensor& t, int64_t element) {
  int64_t out = 0;
  for (size_t d = t.shape.size(); d-- > 0;) {
    out += element % t.shape[d] * t.strides[d];
    element /= t.shape[d];
  }
  return out;
}

int64_t physical_extent(const ir::Tensor& t) {
  int64_t last = 0;
  for (size_t d = 0; d < t.shape.size(); ++d) last += (t.shape[d] - 1) * t.strides[d];
  return last + 1;
}

// Storage of one tensor, 64-byte aligned.
struct Memory {
  Bytes8 raw;
  unsigned char* data() { return raw.data() + (64 - reinterpret_cast<uintptr_t>(raw.data()) % 64) % 64; }
};

Memory memory_of(const ir::Tensor& t, const std::vector<double>* values) {
  const int size = size_of(*t.dtype);
  Memory out{Bytes8(static_cast<size_t>(physical_extent(t) * size + 64), 0xcd)};
  for (int64_t i = 0; values && i < t.elements(); ++i) {
    store(*t.dtype, (*values)[static_cast<size_t>(i)], out.data() + physical(t, i) * size);
  }
  return out;
}

std::string host_entry(const Step& step) {
  const int64_t together = step.cooperative ? step.grid[0] : step.cluster[0];  // blocks that run at one time
  return fmt::format(
      "\nextern \"C\" void host_entry(void** a) {{\n  solstice::host::launch({}, a, {}, {}, {}, {});\n}}\n", step.entry,
      step.grid[0], step.block[0], together, step.shared_bytes);
}

}  // namespace

Result<Tensors> run_on_host(const ir::Program& program, const families::Emission& emission, const Tensors& values) {
  std::map<std::string, Memory> memory;
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const ir::Tensor& t = program.tensors[id];
    if (!t.dtype) continue;
    const auto given = values.find(static_cast<int>(id));
    memory[t.name] = memory_of(t, given == values.end() ? nullptr : &given->second);
  }
  for (const PlanBuffer& buffer : emission.workspace)
    memory[buffer.name].raw.resize(static_cast<size_t>(buffer.bytes + 64));
  for (const Step& step : emission.steps) {
    if (step.kind == StepKind::kMemset) {
      std::memset(memory.at(step.buffer).data() + step.offset, static_cast<int>(step.pattern),
                  static_cast<size_t>(step.bytes));
      continue;
    }
    std::string code;
    for (const families::Source& source : emission.sources) code = source.name == step.module ? source.code : code;
    SOLSTICE_TRY(const HostLibrary library, HostLibrary::compile(code + host_entry(step), step.name));
    std::vector<void*> arguments;
    for (const Argument& argument : step.arguments)
      arguments.push_back(memory.at(argument.buffer).data() + argument.offset);
    library.entry("host_entry")(arguments.data());
  }
  Tensors out;
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const ir::Tensor& t = program.tensors[id];
    if (!t.dtype) continue;
    for (int64_t i = 0; i < t.elements(); ++i) {
      out[static_cast<int>(id)].push_back(load(*t.dtype, memory[t.name].data() + physical(t, i) * size_of(*t.dtype)));
    }
  }
  return out;
}

Tensors random_inputs(const ir::Program& program, unsigned seed, double scale, int64_t integers) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0, scale);
  std::uniform_int_distribution<int64_t> uniform(0, integers - 1);
  Tensors out;
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const ir::Tensor& t = program.tensors[id];
    if (t.kind != ir::TensorKind::kInput && t.kind != ir::TensorKind::kParam) continue;
    for (int64_t i = 0; i < t.elements(); ++i) {
      double v = is_float(*t.dtype) ? normal(engine) : static_cast<double>(uniform(engine));
      if (*t.dtype == DType::kBool) v = v > 0 ? 1 : 0;
      unsigned char bytes[8];
      store(*t.dtype, v, bytes);
      out[static_cast<int>(id)].push_back(load(*t.dtype, bytes));
    }
  }
  return out;
}

std::string difference(const ir::Program& program, const Tensors& got, const Tensors& expected, double tolerance) {
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const ir::Tensor& t = program.tensors[id];
    if (t.kind != ir::TensorKind::kOutput) continue;
    const auto& a = got.at(static_cast<int>(id));
    const auto& b = expected.at(static_cast<int>(id));
    for (size_t i = 0; i < b.size(); ++i) {
      const bool same = std::isnan(a[i]) || std::isnan(b[i])
                            ? std::isnan(a[i]) && std::isnan(b[i])
                            : a[i] == b[i] || std::fabs(a[i] - b[i]) <= tolerance * (1 + std::fabs(b[i]));
      if (!same) return fmt::format("`{}` element {}: {} instead of {}", t.name, i, a[i], b[i]);
    }
  }
  return "";
}

}  // namespace solstice::testing
