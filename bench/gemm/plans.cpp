// bench_gemm_plans emit DIR | run DIR: family gemm end to end, from equations to the plan runtime on a GPU.
//
// `emit` writes DIR/CASE_SOURCE.cu for every case; compile each to DIR/CASE_SOURCE.cubin (nvcc -cubin
// -std=c++17 -Ikernels -gencode=arch=compute_90a,code=sm_90a). `run` executes the plans and compares with
// direct evaluation.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "families/family.h"
#include "host_kernels/build.h"
#include "host_kernels/host_kernel.h"
#include "rt/executor.h"

namespace solstice {
namespace {

using namespace ir;
using namespace solstice::testing;

struct PlanCase {
  std::string name;
  Program program;
  std::string numerics = "reference";
  bool frozen = false;
  double tolerance = 2e-5;  // of 1 + |value|; sums of 136 terms reach 30
};

ExprRef gelu(ExprRef x) { return num(0.5) * x * (num(1.0) + op(Op::kErf, {x * num(0.7071067811865476)})); }

// y[m,n] = gelu(sum(x*w) + b[n]) * s[m] + r[m,n], with the operands' major orders and a dtype of one's
// choice.
Program linear(int64_t m_extent, int64_t n_extent, int64_t k_extent, bool a_by_m, bool b_by_n,
               DType dtype = DType::kF32) {
  ProgramBuilder b("p");
  const auto shape = [](bool swapped, int64_t p, int64_t q) {
    return swapped ? std::vector<int64_t>{q, p} : std::vector<int64_t>{p, q};
  };
  const int x = b.input("x", shape(a_by_m, m_extent, k_extent), dtype);
  const int w = b.tensor("w", TensorKind::kParam, shape(b_by_n, n_extent, k_extent), dtype);
  const int bias = b.tensor("bias", TensorKind::kParam, {n_extent}, dtype), scale = b.input("s", {m_extent}),
            r = b.input("r", {m_extent, n_extent}, dtype);
  const int y = b.output("y", {m_extent, n_extent}, dtype);
  b.kernel("up", "gemm");
  const auto m = b.index("m", m_extent), n = b.index("n", n_extent), k = b.bound("k", k_extent);
  const auto lhs = b.read(x, a_by_m ? std::vector<ExprRef>{k, m} : std::vector<ExprRef>{m, k});
  const auto rhs = b.read(w, b_by_n ? std::vector<ExprRef>{k, n} : std::vector<ExprRef>{n, k});
  b.define(y, {m, n},
           gelu(make_reduce(Reducer::kSum, {k->id}, lhs * rhs) + b.read(bias, {n})) * b.read(scale, {m}) +
               b.read(r, {m, n}));
  return b.program;
}

// Attention values: o[t,i,h,j] = sum[d](u[t,h,i,d] * v[t,h,d,j]), and a second output.
Program heads() {
  ProgramBuilder b("p");
  const int u = b.input("u", {2, 3, 70, 40}), v = b.input("v", {2, 3, 40, 36}), o = b.output("o", {2, 70, 3, 36}),
            q = b.output("q", {2, 3, 70, 36});
  b.kernel("values", "gemm");
  const auto t = b.index("t", 2), h = b.index("h", 3), i = b.index("i", 70), j = b.index("j", 36), d = b.bound("d", 40);
  b.define(o, {t, i, h, j}, make_reduce(Reducer::kSum, {d->id}, b.read(u, {t, h, i, d}) * b.read(v, {t, h, d, j})));
  const auto t2 = b.index("t", 2), h2 = b.index("h", 3), i2 = b.index("i", 70), j2 = b.index("j", 36);
  b.define(q, {t2, h2, i2, j2}, b.read(o, {t2, i2, h2, j2}) * num(2.0));
  return b.program;
}

PlanCase with_math(PlanCase c, const char* math, double tolerance, std::vector<int64_t> tile = {}) {
  c.name += std::string("_") + math;
  c.program.kernels[0].knobs.set("math", KnobValue::of_name(math));
  if (!tile.empty()) c.program.kernels[0].knobs.set("tile", KnobValue::of_size(std::move(tile)));
  c.numerics = "medium";
  c.tolerance = tolerance;
  return c;
}

// A weight that is read once as fp32, from either operand and in either major order, alone and in splits of K.
void add_streamed(std::vector<PlanCase>& out) {
  struct Shape {
    const char* name;
    int64_t m, n, k;
  };
  for (const auto& [name, m, n, k] : {Shape{"few", 24, 264, 520}, {"tall", 264, 24, 520}, {"odd_few", 37, 131, 301}}) {
    for (const bool by_n : {false, true}) {
      for (const int64_t split : {1, 3}) {
        PlanCase c{std::string(name) + (by_n ? "_byn" : "_byk") + "_split" + std::to_string(split),
                   linear(m, n, k, false, by_n)};
        ir::Knobs& knobs = c.program.kernels[0].knobs;
        knobs.set("stream", KnobValue::of_name(m > n ? "rows" : "columns"));
        knobs.set("split", KnobValue::of_int(split));
        out.push_back(with_math(std::move(c), "fp16x3", 2e-5));
      }
    }
  }
}

std::vector<PlanCase> cases() {
  std::vector<PlanCase> out;
  for (const bool a : {false, true}) {
    for (const bool b : {false, true})
      out.push_back(with_math({"linear" + std::to_string(a) + std::to_string(b), linear(200, 152, 136, a, b)}, "fp16x3",
                              2e-5, {128, 128}));
  }
  out.push_back(with_math({"odd", linear(77, 131, 101, false, true)}, "fp16x3", 2e-5));
  out.push_back({"frozen", linear(200, 152, 136, false, false), "reference", true});
  out.push_back(with_math({"frozen", linear(200, 152, 136, false, false), "", true}, "fp16x3", 2e-5, {128, 256}));
  const PlanCase plain{"plain", linear(200, 152, 136, false, false)};
  for (const char* math : {"simt", "tf32x3", "bf16x6"}) out.push_back(with_math(plain, math, 2e-5));
  for (const auto& [math, tolerance] : {std::pair{"tf32", 2e-2}, {"fp16", 2e-2}, {"bf16", 1.5e-1}, {"bf16x3", 2e-4}})
    out.push_back(with_math(plain, math, tolerance));
  out.push_back({"bf16_native", linear(200, 152, 136, false, true, DType::kBF16), "reference", false, 2e-2});
  out.push_back({"f16_native", linear(200, 152, 136, true, false, DType::kF16), "reference", false, 3e-3});
  out.push_back({"f16_odd", linear(77, 131, 101, false, false, DType::kF16), "reference", false, 3e-3});
  out.push_back({"heads", heads()});
  out.push_back(with_math({"heads", heads()}, "fp16x3", 2e-5));
  out.push_back(with_math({"heads", heads()}, "simt", 2e-5));
  add_streamed(out);
  return out;
}

Result<families::Emission> emission_of(const PlanCase& c, const machine::Machine& machine) {
  const families::Context context{c.program, machine, c.numerics, c.frozen};
  return families::find_family("gemm")->generate(context, c.program.kernels.front());
}

PlanBuffer buffer_of(const Tensor& t) {
  PlanBuffer b;
  b.name = t.name;
  b.kind = t.kind == TensorKind::kInput   ? BufferKind::kInput
           : t.kind == TensorKind::kParam ? BufferKind::kParam
                                          : BufferKind::kOutput;
  b.path = t.kind == TensorKind::kParam ? t.name : "";
  b.dtype = *t.dtype, b.shape = t.shape, b.strides = t.strides;
  b.bytes = t.elements() * size_of(*t.dtype);
  return b;
}

// Of a value that binary16 holds exactly, zero and normal ones.
uint16_t half_bits(float f) {
  const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  if (f == 0) return sign;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(f), &exponent);  // [0.5, 1)
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | (static_cast<int>(std::ldexp(fraction, 11)) & 0x3ff));
}

float half_value(uint16_t h) {
  const int exponent = h >> 10 & 0x1f, mantissa = h & 0x3ff;
  if (exponent == 31) return mantissa ? NAN : h & 0x8000 ? -INFINITY : INFINITY;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                   : std::ldexp(static_cast<float>(mantissa + 0x400), exponent - 25);
  return h & 0x8000 ? -size : size;
}

// Values as stored: round trips of random_inputs are exact, since it rounds to the dtype.
void encode(DType dtype, const std::vector<double>& values, std::vector<char>& bytes) {
  bytes.resize(values.size() * static_cast<size_t>(size_of(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    const float f = static_cast<float>(values[i]);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if (dtype == DType::kF32)
      std::memcpy(&bytes[4 * i], &f, 4);
    else if (dtype == DType::kBF16)
      std::memcpy(&bytes[2 * i], reinterpret_cast<char*>(&bits) + 2, 2);
    else {
      const uint16_t h = half_bits(f);
      std::memcpy(&bytes[2 * i], &h, 2);
    }
  }
}

std::vector<double> decode(DType dtype, const std::vector<char>& bytes) {
  std::vector<double> out(bytes.size() / static_cast<size_t>(size_of(dtype)));
  for (size_t i = 0; i < out.size(); ++i) {
    float f = 0;
    if (dtype == DType::kF32)
      std::memcpy(&f, &bytes[4 * i], 4);
    else if (dtype == DType::kBF16)
      std::memcpy(reinterpret_cast<char*>(&f) + 2, &bytes[2 * i], 2);
    else {
      uint16_t h;
      std::memcpy(&h, &bytes[2 * i], 2);
      f = half_value(h);
    }
    out[i] = f;
  }
  return out;
}

// random_inputs draws no halves: eighths in [-2, 2) are exact in every format.
Tensors inputs_of(const Program& program) {
  Tensors out = random_inputs(program, 5);
  uint32_t state = 1;
  for (auto& [id, values] : out) {
    if (*program.tensor(id).dtype != DType::kF16) continue;
    for (double& v : values) v = static_cast<double>((state = state * 1664525u + 1013904223u) >> 27) / 8 - 2;
  }
  return out;
}

Status run_case(const PlanCase& c, const machine::Machine& machine, const std::string& folder,
                const rt::Driver& driver) {
  SOLSTICE_TRY(const families::Emission emission, emission_of(c, machine));
  Plan plan;
  plan.program = c.name, plan.target = "sm_90a";
  for (const Tensor& t : c.program.tensors) {
    if (t.is_interface()) plan.buffers.push_back(buffer_of(t));
  }
  for (const PlanBuffer& b : emission.workspace) plan.buffers.push_back(b);
  std::vector<std::string> cubins;
  for (const families::Source& source : emission.sources) {
    std::ifstream file(folder + "/" + c.name + "_" + source.name + ".cubin", std::ios::binary);
    cubins.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    plan.modules.push_back({source.name, source.name + ".cubin", hash_hex(cubins.back()), ""});
  }
  plan.steps = emission.steps;
  SOLSTICE_CHECK(validate(plan));
  SOLSTICE_TRY(auto loaded, rt::make_loaded_plan(plan, cubins));
  SOLSTICE_TRY(auto executor, rt::Executor::create(driver, std::move(loaded)));
  Tensors values = inputs_of(c.program);
  std::vector<void*> addresses;
  for (const Tensor& t : c.program.tensors) {
    if (!t.is_interface()) continue;
    cu::DevicePtr at = 0;
    const size_t bytes = static_cast<size_t>(t.elements() * size_of(*t.dtype));
    SOLSTICE_CHECK(driver.check(driver.cuMemAlloc(&at, bytes), "allocating"));
    std::vector<char> content(bytes, static_cast<char>(0xff));
    const int id = c.program.find_tensor(t.name);
    if (t.kind != TensorKind::kOutput) encode(*t.dtype, values.at(id), content);
    SOLSTICE_CHECK(driver.check(driver.cuMemcpyHtoD(at, content.data(), bytes), "copying"));
    addresses.push_back(reinterpret_cast<void*>(at));
  }
  cu::DevicePtr workspace = 0;
  SOLSTICE_CHECK(driver.check(driver.cuMemAlloc(&workspace, static_cast<size_t>(executor->workspace_bytes()) + 256),
                              "allocating"));
  SOLSTICE_CHECK(driver.check(
      driver.cuMemsetD8Async(workspace, 0xff, static_cast<size_t>(executor->workspace_bytes()), nullptr), "poisoning"));
  SOLSTICE_CHECK(executor->prepare(addresses, reinterpret_cast<void*>(workspace), nullptr));
  SOLSTICE_CHECK(executor->launch(addresses, reinterpret_cast<void*>(workspace), nullptr));
  SOLSTICE_CHECK(driver.check(driver.cuCtxSynchronize(), "running"));
  Tensors got;
  size_t i = 0;
  for (const Tensor& t : c.program.tensors) {
    if (!t.is_interface()) continue;
    std::vector<char> content(static_cast<size_t>(t.elements() * size_of(*t.dtype)));
    SOLSTICE_CHECK(driver.check(
        driver.cuMemcpyDtoH(content.data(), reinterpret_cast<cu::DevicePtr>(addresses[i++]), content.size()),
        "copying"));
    if (t.kind == TensorKind::kOutput) got[c.program.find_tensor(t.name)] = decode(*t.dtype, content);
  }
  evaluate(c.program, values);
  const std::string wrong = difference(c.program, got, values, c.tolerance);
  std::string entries;
  for (const Step& step : emission.steps) entries += " " + step.entry;
  std::printf("%-18s %-40s %s\n", c.name.c_str(), entries.c_str(), wrong.empty() ? "ok" : wrong.c_str());
  return wrong.empty() ? success() : Status(fail(Code::candidate_failed, c.name + ": " + wrong));
}

int emit(const std::string& folder, const machine::Machine& machine) {
  for (const PlanCase& c : cases()) {
    const auto emission = emission_of(c, machine);
    if (!emission.ok()) {
      std::printf("%s: %s\n", c.name.c_str(), emission.error().text().c_str());
      return 1;
    }
    for (const families::Source& source : emission->sources)
      std::ofstream(folder + "/" + c.name + "_" + source.name + ".cu") << source.code;
  }
  return 0;
}

int run(const std::string& folder, const machine::Machine& machine) {
  const auto driver = rt::cuda_driver();
  if (!driver.ok()) return std::printf("%s\n", driver.error().text().c_str()), 1;
  const auto context = rt::DeviceContext::open(**driver, 0);
  if (!context.ok() || !context->make_current().ok()) return std::printf("no device\n"), 1;
  int failures = 0;
  for (const PlanCase& c : cases()) {
    const Status status = run_case(c, machine, folder, **driver);
    failures += !status.ok();
    if (!status.ok()) std::printf("%s: %s\n", c.name.c_str(), status.error().text().c_str());
  }
  std::printf("%d failures\n", failures);
  return failures;
}

}  // namespace
}  // namespace solstice

int main(int count, char** arguments) {
  const auto machine = solstice::machine::load_machine("machines/h200.toml");
  if (count != 3 || !machine.ok())
    return std::printf("usage, in the repository's root: %s emit|run DIR\n", arguments[0]), 2;
  const std::string command = arguments[1];
  return command == "emit" ? solstice::emit(arguments[2], *machine) : solstice::run(arguments[2], *machine);
}
