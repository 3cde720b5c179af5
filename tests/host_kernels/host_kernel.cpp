#include "host_kernels/host_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

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
  return fmt::format("\nextern \"C\" void host_entry(void** a) {{\n  solstice::host::launch({}, a, {}, {}, {}, {});\n}}\n", step.entry,
                     step.grid[0], step.block[0], step.cluster[0], step.shared_bytes);
}

struct Entry {
  void (*run)(void**) = nullptr;
};

constexpr const char* kFlags = "-std=c++20 -O0 -fPIC";

// The headers that generated code includes, compiled once a process: parsing them is most of a kernel's build.
std::string precompiled() {
  static const std::string header = [] {
    const std::string path = fmt::format("{}/solstice_host_{}_prelude.h", std::filesystem::temp_directory_path().string(), getpid());
    std::ofstream(path) << "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"rows/reduce.h\"\n";
    const int status =
        std::system(fmt::format("g++ {} -x c++-header -I{}/kernels -o {}.gch {}", kFlags, SOLSTICE_SOURCE_DIR, path, path).c_str());
    // Without it the plain header is read instead.
    if (status != 0) fmt::print(stderr, "no precompiled header: g++ ended with {}\n", status);
    static const struct Cleaner {
      std::string path;
      ~Cleaner() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
        std::filesystem::remove(path + ".gch", ignored);
      }
    } cleaner{path};
    return path;
  }();
  return header;
}

Result<Entry> compile(const std::string& code, const std::string& name) {
  static int count = 0;
  const std::string base = fmt::format("{}/solstice_host_{}_{}", std::filesystem::temp_directory_path().string(), getpid(), count++);
  std::ofstream(base + ".cpp") << code;
  const std::string command = fmt::format("g++ {} -shared -include {} -I{}/kernels -o {}.so {}.cpp >{}.log 2>&1", kFlags, precompiled(),
                                          SOLSTICE_SOURCE_DIR, base, base, base);
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(base + ".log");
    return fail(Code::compile_failed,
                fmt::format("kernel `{}`:\n{}\n{}", name, std::string(std::istreambuf_iterator<char>(log), {}), code));
  }
  void* library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* suffix : {".cpp", ".so", ".log"}) std::filesystem::remove(base + suffix);
  if (!library) return fail(Code::compile_failed, dlerror());
  return Entry{reinterpret_cast<void (*)(void**)>(dlsym(library, "host_entry"))};
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
  for (const PlanBuffer& buffer : emission.workspace) memory[buffer.name].raw.resize(static_cast<size_t>(buffer.bytes + 64));
  for (const Step& step : emission.steps) {
    std::string code;
    for (const families::Source& source : emission.sources) code = source.name == step.module ? source.code : code;
    SOLSTICE_TRY(const Entry entry, compile(code + host_entry(step), step.name));
    std::vector<void*> arguments;
    for (const Argument& argument : step.arguments) arguments.push_back(memory.at(argument.buffer).data() + argument.offset);
    entry.run(arguments.data());
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
      const bool same = std::isnan(a[i]) || std::isnan(b[i]) ? std::isnan(a[i]) && std::isnan(b[i])
                                                             : a[i] == b[i] || std::fabs(a[i] - b[i]) <= tolerance * (1 + std::fabs(b[i]));
      if (!same) return fmt::format("`{}` element {}: {} instead of {}", t.name, i, a[i], b[i]);
    }
  }
  return "";
}

}  // namespace solstice::testing
