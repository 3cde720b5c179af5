// bench_gemm_shapes emit CASES DIR | run CASES DIR [repeats]: generated plans against cuBLAS fp32 on any shape.
//
// CASES is a table of products (product.h; cases.txt is one) of type f32. VALUES are normal (the default), relu,
// lognormal, outlier12, outlier20 (channels of x times 2^s, of w by it), special (Inf and NaN), huge, subnormal; with
// another POLICY than `reference` cuBLAS uses TF32. `emit` writes DIR/NUMBER_SOURCE.cu and prints what was chosen and
// the predicted time; compile each to a .cubin beside it (nvcc -cubin -std=c++17 -Ikernels
// -gencode=arch=compute_90a,code=sm_90a). `run` executes them: errors of both against cublasDgemm, median times of
// alternating ABBA launches with 256 MB written in between, and the time of the plan's first 1, 2, ... launches.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "base/hash.h"
#include "families/family.h"
#include "gemm/product.h"
#include "ir/bind.h"
#include "rt/executor.h"

namespace solstice {
namespace {

bool same_operands(const Product& a, const Product& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.operands == b.operands && a.values == b.values;
}

struct Generated {
  ir::Program program;
  families::Emission emission;
  double predicted_us = 0;
  std::string choice;  // the first proposal, where nothing was written
};

Result<Generated> generate(const Product& c, const machine::Machine& machine) {
  Generated out;
  Diagnostics diagnostics;
  SOLSTICE_TRY(out.program, ir::load_program(c.text(), c.name, diagnostics));
  const families::Family& family = *families::find_family("gemm");
  const families::Context context{out.program, machine, c.policy, false};
  SOLSTICE_TRY(const families::Cost cost, family.cost(context, out.program.kernels.front()));
  SOLSTICE_TRY(out.emission, family.generate(context, out.program.kernels.front()));
  SOLSTICE_TRY(const auto proposals, family.propose(context, out.program.kernels.front()));
  out.predicted_us = cost.time.value * 1e6;
  out.choice = c.knobs.empty() && !proposals.empty() ? ir::to_text(proposals.front().knobs) : c.knobs;
  return out;
}

int emit(const std::vector<Product>& cases, const std::string& folder, const machine::Machine& machine) {
  int failures = 0;
  for (const Product& c : cases) {
    const auto g = generate(c, machine);
    failures += !g.ok();
    if (!g.ok()) {
      std::printf("%s: %s\n", c.name.c_str(), g.error().text().c_str());
      continue;
    }
    for (const families::Source& source : g->emission.sources)
      std::ofstream(folder + "/" + c.name + "_" + source.name + ".cu") << source.code;
    std::printf("%-14s %8.1f us  %s\n", c.name.c_str(), g->predicted_us, g->choice.c_str());
  }
  return failures != 0;
}

struct Cublas {
  using Create = int (*)(void**);
  template <typename T>
  using Gemm = int (*)(void*, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  void* handle = nullptr;
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  int (*set_math_mode)(void*, int) = nullptr;
  bool open() {
    const char* named = std::getenv("CUBLAS");
    void* library = dlopen(named ? named : "libcublas.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (!library) return std::printf("no cuBLAS: %s (set CUBLAS to its path)\n", dlerror()), false;
    sgemm = reinterpret_cast<Gemm<float>>(dlsym(library, "cublasSgemm_v2"));
    dgemm = reinterpret_cast<Gemm<double>>(dlsym(library, "cublasDgemm_v2"));
    set_math_mode = reinterpret_cast<int (*)(void*, int)>(dlsym(library, "cublasSetMathMode"));
    return reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"))(&handle) == 0;
  }
  // Row-major y[m,n] is column-major y^T = op(w) op(x).
  template <typename T>
  bool run(Gemm<T> gemm, const Product& c, cu::DevicePtr x, cu::DevicePtr w, cu::DevicePtr y) const {
    const T one = 1, zero = 0;
    const auto extent = [](int64_t v) { return static_cast<int>(v); };
    return gemm(handle, c.w_by_n() ? 0 : 1, c.x_by_m() ? 1 : 0, extent(c.n), extent(c.m), extent(c.k), &one,
                reinterpret_cast<const T*>(w), extent(c.w_by_n() ? c.n : c.k), reinterpret_cast<const T*>(x),
                extent(c.x_by_m() ? c.m : c.k), &zero, reinterpret_cast<T*>(y), extent(c.n)) == 0;
  }
};

class Bench {
 public:
  Bench(const rt::Driver& driver, const machine::Machine& machine, std::string folder, int repeats)
      : driver_(driver), machine_(machine), folder_(std::move(folder)), repeats_(repeats) {}

  bool start() {
    flush_ = allocate(256u << 20);
    return cublas_.open() && driver_.cuEventCreate(&begin_, 0) == 0 && driver_.cuEventCreate(&end_, 0) == 0;
  }

  Status run(const Product& c) {
    if (c.dtype != "f32") return fail(Code::bad_argument, "products of f32 are measured here, not of " + c.dtype);
    current_ = c.name;
    if (!same_operands(shape_, c)) prepare(c);
    SOLSTICE_TRY(const Generated g, generate(c, machine_));
    SOLSTICE_TRY(const auto executor, executor_of(g, g.emission.steps.size()));
    driver_.cuMemsetD8Async(y_, 0xff, static_cast<size_t>(4 * c.m * c.n), nullptr);
    SOLSTICE_CHECK(launch(*executor));
    SOLSTICE_CHECK(driver_.check(driver_.cuCtxSynchronize(), "running " + c.name));
    std::string ours = errors();
    const std::vector<float> once = result();
    constexpr int kDefault = 0, kTf32 = 3;  // cublasMath_t
    cublas_.set_math_mode(cublas_.handle, c.policy == "reference" ? kDefault : kTf32);
    cublas_.run<float>(cublas_.sgemm, c, x_, w_, y_);
    const std::string theirs = errors();
    std::vector<float> mine, other;
    for (int i = 0; i < repeats_; ++i) {
      for (const bool us : {true, false, false, true}) {
        const float t =
            time([&] { us ? void(launch(*executor)) : void(cublas_.run<float>(cublas_.sgemm, c, x_, w_, y_)); });
        (us ? mine : other).push_back(t);
      }
    }
    if (std::memcmp(once.data(), result().data(), 4 * once.size()) != 0) ours += " DIFFERS between launches";
    std::string parts;
    for (size_t steps = 1; steps < g.emission.steps.size(); ++steps) parts += part(g, steps) + " ";
    const float t = median(mine), u = median(other);
    std::printf(
        "%-14s %5ldx%5ldx%5ld %s cublas %7.2f us ours %7.2f us %5.2fx (model %7.2f; first launches %s) error %s cublas "
        "%s  %s\n",
        c.name.c_str(), c.m, c.n, c.k, (c.operands + (c.values.empty() ? "" : ":" + c.values)).c_str(), u, t, u / t,
        g.predicted_us, parts.c_str(), ours.c_str(), theirs.c_str(), g.choice.c_str());
    std::fflush(stdout);
    return success();
  }

 private:
  cu::DevicePtr allocate(size_t bytes) {
    cu::DevicePtr p = 0;
    if (driver_.cuMemAlloc(&p, bytes) != 0) std::printf("out of memory: %zu bytes\n", bytes), std::exit(1);
    return p;
  }

  // Normal values, from a pool: blocks of it follow each other in random order and sign.
  static std::vector<double> values(int64_t count, unsigned seed) {
    static const std::vector<double> pool = [] {
      std::mt19937 generator(1);
      std::normal_distribution<float> normal;
      std::vector<double> p(1 << 20);
      for (double& v : p) v = normal(generator);
      return p;
    }();
    std::mt19937 generator(seed);
    std::vector<double> out(static_cast<size_t>(count));
    for (size_t i = 0; i < out.size(); i += 997) {
      const size_t from = generator() % (pool.size() - 997);
      for (size_t j = i; j < std::min(out.size(), i + 997); ++j) out[j] = pool[from + j - i];
    }
    return out;
  }

  // Element (line, k) of x or w.
  static double shaped(const std::string& values, bool is_x, int64_t line, int64_t k, double v) {
    if (values == "relu" && is_x) return std::max(v, 0.0);
    if (values == "lognormal") return std::exp(3 * v);
    if (values == "outlier12" && k % 97 == 5) return std::ldexp(v, is_x ? 12 : -12);
    if (values == "outlier20" && k % 97 == 5) return std::ldexp(v, is_x ? 20 : -20);
    if (values == "special" && is_x && line % 7 == 3 && k == 7) return INFINITY;
    if (values == "special" && is_x && line % 7 == 5 && k == 1) return NAN;
    if (values == "special" && !is_x && line % 41 == 9 && k == 3) return -INFINITY;
    if (values == "huge") return v * (is_x ? 1e25 : 1e-15);
    if (values == "subnormal" && is_x) return v * 1e-40;
    return v;
  }
  static void shape(std::vector<double>& v, const Product& c, bool is_x) {
    const int64_t lines = is_x ? c.m : c.n;
    const bool by_line = is_x ? c.x_by_m() : c.w_by_n();
    for (int64_t i = 0; i < lines * c.k; ++i) {
      double& e = v[static_cast<size_t>(i)];
      e = static_cast<float>(by_line ? shaped(c.values, is_x, i % lines, i / lines, e)
                                     : shaped(c.values, is_x, i / c.k, i % c.k, e));
    }
  }

  void fill(cu::DevicePtr& narrow, cu::DevicePtr wide, const std::vector<double>& v) {
    const std::vector<float> f(v.begin(), v.end());
    driver_.cuMemcpyHtoD(narrow, f.data(), 4 * f.size());
    driver_.cuMemcpyHtoD(wide, v.data(), 8 * v.size());
  }

  // Operands, and in float64 the result and sum |x||w|.
  void prepare(const Product& c) {
    for (const cu::DevicePtr p : {x_, w_, y_, workspace_}) {
      if (p) driver_.cuMemFree(p);
    }
    shape_ = c, workspace_ = 0;
    const size_t a = static_cast<size_t>(c.m * c.k), b = static_cast<size_t>(c.n * c.k),
                 r = static_cast<size_t>(c.m * c.n);
    x_ = allocate(4 * a), w_ = allocate(4 * b), y_ = allocate(4 * r);
    const cu::DevicePtr wide_x = allocate(8 * a), wide_w = allocate(8 * b), wide_y = allocate(8 * r);
    std::vector<double> x = values(c.m * c.k, 3), w = values(c.n * c.k, 4);
    shape(x, c, true);
    shape(w, c, false);
    for (std::vector<double>* result : {&magnitude_, &expected_}) {
      const auto shown = [&](std::vector<double> v) {
        if (result == &magnitude_) std::for_each(v.begin(), v.end(), [](double& e) { e = std::fabs(e); });
        return v;
      };
      fill(x_, wide_x, shown(x));
      fill(w_, wide_w, shown(w));
      cublas_.run<double>(cublas_.dgemm, c, wide_x, wide_w, wide_y);
      result->resize(r);
      driver_.cuMemcpyDtoH(result->data(), wide_y, 8 * r);
    }
    for (const cu::DevicePtr p : {wide_x, wide_w, wide_y}) driver_.cuMemFree(p);
  }

  std::vector<float> result() {
    std::vector<float> got(expected_.size());
    driver_.cuMemcpyDtoH(got.data(), y_, 4 * got.size());
    return got;
  }
  std::string errors() {
    const std::vector<float> got = result();
    double error2 = 0, norm2 = 0, element = 0;
    size_t worst = 0, wrong_class = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const float want = static_cast<float>(expected_[i]);
      if (!std::isfinite(want) || !std::isfinite(got[i])) {
        wrong_class += std::isnan(want) ? !std::isnan(got[i]) : want != got[i];
        continue;
      }
      const double d = got[i] - expected_[i];
      error2 += d * d, norm2 += expected_[i] * expected_[i];
      if (std::fabs(d) > element * magnitude_[i]) element = std::fabs(d) / magnitude_[i], worst = i;
    }
    char text[96];
    int used = std::snprintf(text, sizeof text, "%.1e;%.1e", std::sqrt(error2 / norm2), element);
    if (wrong_class)
      used += std::snprintf(text + used, sizeof text - static_cast<size_t>(used), " %zu of wrong class", wrong_class);
    if (element > 1e-5) {
      const size_t n = static_cast<size_t>(shape_.n);
      std::snprintf(text + used, sizeof text - static_cast<size_t>(used), " WRONG at %zu,%zu", worst / n, worst % n);
    }
    return text;
  }

  Result<std::unique_ptr<rt::Executor>> executor_of(const Generated& g, size_t steps) {
    Plan plan;
    plan.program = "p", plan.target = "sm_90a";
    for (const ir::Tensor& t : g.program.tensors) {
      if (!t.is_interface()) continue;
      PlanBuffer b;
      b.name = t.name, b.dtype = *t.dtype, b.shape = t.shape, b.strides = t.strides;
      b.kind = t.kind == ir::TensorKind::kInput   ? BufferKind::kInput
               : t.kind == ir::TensorKind::kParam ? BufferKind::kParam
                                                  : BufferKind::kOutput;
      b.path = t.kind == ir::TensorKind::kParam ? t.name : "";
      b.bytes = t.elements() * size_of(*t.dtype);
      plan.buffers.push_back(b);
    }
    for (const PlanBuffer& b : g.emission.workspace) plan.buffers.push_back(b);
    std::vector<std::string> cubins;
    for (const families::Source& source : g.emission.sources) {
      std::ifstream file(folder_ + "/" + current_ + "_" + source.name + ".cubin", std::ios::binary);
      cubins.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      plan.modules.push_back({source.name, source.name + ".cubin", hash_hex(cubins.back()), ""});
    }
    plan.steps.assign(g.emission.steps.begin(), g.emission.steps.begin() + static_cast<std::ptrdiff_t>(steps));
    SOLSTICE_CHECK(validate(plan));
    SOLSTICE_TRY(auto loaded, rt::make_loaded_plan(plan, cubins));
    SOLSTICE_TRY(auto executor, rt::Executor::create(driver_, std::move(loaded)));
    if (workspace_) driver_.cuMemFree(workspace_);
    workspace_ = allocate(static_cast<size_t>(executor->workspace_bytes()) + 256);
    SOLSTICE_CHECK(executor->prepare(tensors(*executor), reinterpret_cast<void*>(workspace_), nullptr));
    return executor;
  }
  std::vector<void*> tensors(const rt::Executor& executor) const {
    std::vector<void*> out;
    for (size_t i = 0; i < executor.tensor_count(); ++i) {
      const std::string& name = executor.tensor(i).name;
      out.push_back(reinterpret_cast<void*>(name == "x" ? x_ : name == "w" ? w_ : y_));
    }
    return out;
  }
  Status launch(rt::Executor& executor) {
    return executor.launch(tensors(executor), reinterpret_cast<void*>(workspace_), nullptr);
  }

  float time(const std::function<void()>& f) {
    driver_.cuMemsetD8Async(flush_, 1, 256u << 20, nullptr);
    driver_.cuEventRecord(begin_, nullptr);
    f();
    driver_.cuEventRecord(end_, nullptr);
    driver_.cuCtxSynchronize();
    float ms = 0;
    driver_.cuEventElapsedTime(&ms, begin_, end_);
    return ms * 1e3f;
  }
  static float median(std::vector<float> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  }
  std::string part(const Generated& g, size_t steps) {
    const auto executor = executor_of(g, steps);
    if (!executor.ok()) return "?";
    std::vector<float> t;
    for (int i = 0; i < repeats_; ++i) t.push_back(time([&] { (void)launch(**executor); }));
    char text[16];
    std::snprintf(text, sizeof text, "%.1f", median(t));
    return text;
  }

  std::string current_;  // name of the case at work
  const rt::Driver& driver_;
  const machine::Machine& machine_;
  std::string folder_;
  int repeats_;
  Cublas cublas_;
  Product shape_;
  cu::Event begin_{}, end_{};
  cu::DevicePtr flush_ = 0, x_ = 0, w_ = 0, y_ = 0, workspace_ = 0;
  std::vector<double> expected_, magnitude_;
};

int run(const std::vector<Product>& cases, const std::string& folder, const machine::Machine& machine, int repeats) {
  const auto driver = rt::cuda_driver();
  if (!driver.ok()) return std::printf("%s\n", driver.error().text().c_str()), 1;
  const auto context = rt::DeviceContext::open(**driver, 0);
  if (!context.ok() || !context->make_current().ok()) return std::printf("no device\n"), 1;
  Bench bench(**driver, machine, folder, repeats);
  if (!bench.start()) return 1;
  int failures = 0;
  for (const Product& c : cases) {
    const Status status = bench.run(c);
    failures += !status.ok();
    if (!status.ok()) std::printf("%s: %s\n", c.name.c_str(), status.error().text().c_str());
  }
  return failures;
}

}  // namespace
}  // namespace solstice

int main(int count, char** arguments) {
  const auto machine = solstice::machine::load_machine("machines/h200.toml");
  if (count < 4 || !machine.ok())
    return std::printf("usage, in the repository's root: %s emit|run CASES DIR [repeats]\n", arguments[0]), 2;
  const auto cases = solstice::read_products(arguments[2]);
  if (!cases.ok()) return std::printf("%s\n", cases.error().text().c_str()), 2;
  return std::string(arguments[1]) == "emit"
             ? solstice::emit(*cases, arguments[3], *machine)
             : solstice::run(*cases, arguments[3], *machine, count > 4 ? std::atoi(arguments[4]) : 7);
}
