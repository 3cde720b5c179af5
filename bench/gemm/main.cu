// bench_gemm check | same | time [idle_ms]: correctness against float64 on many shapes and value families; equal bits
// of 50 launches, and of forms with the same tile; times against cuBLAS fp32, interleaved ABBA with a cold L2. Build:
//   nvcc -std=c++17 -O2 --expt-relaxed-constexpr -gencode=arch=compute_90a,code=sm_90a -I. -Ikernels
//   bench/gemm/*.cu -o bench_gemm
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "bench/gemm/variants.h"

namespace {

struct Shape {
  int m, n, k;
};

char major_letter(Major m) { return m == Major::kK ? 'K' : 'M'; }

std::string text_of(const Case& c) {
  char t[128];
  std::snprintf(t, sizeof t, "%dx%dx%d b%d %c%c %s%s%s", c.m, c.n, c.k, c.batches, major_letter(c.a), major_letter(c.b),
                kValueNames[static_cast<int>(c.values)], c.gelu ? " gelu" : "", c.pad ? " pad" : "");
  return t;
}

void print_errors(const char* name, const Errors& e, const char* verdict) {
  std::printf("   %-20s norm %.2e element %.2e wrong class %d%s\n", name, e.norm, e.element, e.wrong_class, verdict);
}

// Accepts errors up to what cuBLAS makes, with 10 % in the norm and twice in an element, or 2 ulp.
bool accepted(const Errors& ours, const Errors& theirs) {
  return ours.wrong_class <= theirs.wrong_class && ours.norm <= std::max(1.1 * theirs.norm, 2.4e-7) &&
         ours.element <= std::max(2 * theirs.element, 4.8e-7);
}

int check_case(const Case& c, const Cublas& cublas) {
  Data d(c, 7);
  d.run_oracle();
  Errors theirs;
  if (!c.gelu) {
    d.run_cublas(cublas);
    CHECK(cudaDeviceSynchronize());
    theirs = d.errors();
  } else {
    theirs.norm = 4e-7, theirs.element = 1e-6;
  }
  std::printf("%s: cublas norm %.2e element %.2e class %d\n", text_of(c).c_str(), theirs.norm, theirs.element,
              theirs.wrong_class);
  int failures = 0;
  auto one = [&](const char* name, Runner* runner, const Timing& what) {
    CHECK(cudaMemset(d.y.data, 0xff, d.y.count * 4));
    runner->launch(what, nullptr);
    CHECK(cudaDeviceSynchronize());
    const Errors e = d.errors();
    const bool ok = accepted(e, theirs);
    print_errors(name, e, ok ? "" : "  FAILED");
    failures += !ok;
    delete runner;
  };
  for (const Variant& v : variants()) {
    std::unique_ptr<Runner> main_only(v.make(d));
    if (!main_only) continue;  // no kernel for these major orders
    CHECK(cudaMemset(d.y.data, 0, d.y.count * 4));
    Timing without;
    without.fallback = false;
    main_only->launch(without, nullptr);
    CHECK(cudaDeviceSynchronize());
    const size_t middle = d.y.count / 2;
    float probe = 0;
    CHECK(cudaMemcpy(&probe, d.y.data + middle, 4, cudaMemcpyDeviceToHost));
    if (probe == 0) std::printf("   (guard tripped)\n");
    one(v.name, v.make(d), Timing{});
  }
  one("simt", make_simt(d), Timing{});
  return failures;
}

int check(const Cublas& cublas, bool quick) {
  constexpr Major K = Major::kK, M = Major::kMN;
  using V = Values;
  std::vector<Case> cases = {
      {256, 512, 256, 1, K, K, V::kNormal},   {256, 512, 256, 1, K, M, V::kNormal},
      {256, 512, 256, 1, M, K, V::kNormal},   {256, 512, 256, 1, M, M, V::kNormal},
      {512, 768, 4096, 1, K, M, V::kUniform}, {512, 768, 4096, 1, K, K, V::kNormal},
  };
  if (!quick) {
    for (const V v :
         {V::kRelu, V::kLognormal, V::kOutlier12, V::kOutlier20, V::kSpecial, V::kZeros, V::kSubnormal, V::kHuge}) {
      cases.push_back({300, 512, 1024, 1, K, K, v});
      cases.push_back({300, 512, 1024, 1, K, M, v});
    }
    for (const auto [m, n, k] : {Shape{1, 1, 1},
                                 {1, 1000, 333},
                                 {77, 131, 1001},
                                 {129, 257, 65},
                                 {1023, 769, 515},
                                 {16, 4096, 2048},
                                 {4096, 16, 2048}})
      for (const Major a : {K, M})
        for (const Major b : {K, M}) cases.push_back({m, n, k, 1, a, b, V::kNormal});
    cases.push_back({200, 328, 264, 5, K, M, V::kNormal});
    cases.push_back({100, 260, 132, 3, M, K, V::kNormal, false, 3});
    cases.push_back({1000, 1200, 520, 1, K, K, V::kNormal, true});
    cases.push_back({333, 777, 520, 1, K, M, V::kNormal, true, 1});
    cases.push_back({2048, 2048, 32768, 1, K, K, V::kUniform});
  }
  int failures = 0;
  for (const Case& c : cases) failures += check_case(c, cublas);
  std::printf("%zu cases, %d failures\n", cases.size(), failures);
  return failures;
}

// Launches that differ in a bit from the first, of every form; and which forms of a math agree with its first one.
int same(bool quick) {
  constexpr Major K = Major::kK, M = Major::kMN;
  std::vector<Case> cases = {
      {4096, 4096, 4096, 1, K, K, Values::kNormal},     {1024, 8192, 8192, 1, K, M, Values::kNormal},
      {1111, 1777, 1333, 1, K, K, Values::kNormal},     {300, 5000, 3001, 1, M, M, Values::kNormal},
      {129, 385, 4099, 1, M, K, Values::kNormal},       {200, 328, 264, 5, K, M, Values::kNormal},
      {1000, 1200, 520, 1, K, K, Values::kNormal, true}};
  if (quick) cases.resize(3);
  int failures = 0;
  for (const Case& c : cases) {
    Data d(c, 11);
    std::vector<float> of_first;
    for (const Variant& v : variants()) {
      std::unique_ptr<Runner> runner(v.make(d));
      if (!runner) continue;
      std::vector<float> first;
      int different = 0;
      for (int i = 0; i < 50; ++i) {
        CHECK(cudaMemset(d.y.data, 0xff, d.y.count * 4));
        runner->launch({}, nullptr);
        CHECK(cudaDeviceSynchronize());
        const std::vector<float> y = d.y.host();
        if (first.empty())
          first = y;
        else
          different += std::memcmp(first.data(), y.data(), y.size() * 4) != 0;
        if (d.y.count > (8u << 20) && i == 19) break;
      }
      if (of_first.empty()) of_first = first;
      const bool agrees = std::memcmp(first.data(), of_first.data(), first.size() * 4) == 0;
      std::printf("%-36s %-22s %d launches differ, %s\n", text_of(c).c_str(), v.name, different,
                  agrees ? "as the first form" : "not as the first form");
      failures += different > 0;
    }
  }
  return failures;
}

struct Timer {
  Array<char> flush{256u << 20};
  cudaEvent_t begin, end;
  int idle_ms;

  explicit Timer(int idle) : idle_ms(idle) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  template <class F>
  float once(F&& f) {
    if (idle_ms) usleep(idle_ms * 1000);
    CHECK(cudaMemsetAsync(flush.data, 1, flush.count));
    CHECK(cudaEventRecord(begin));
    f();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
  }
};

float median(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void time_case(const Case& c, const Cublas& cublas, Timer& timer, int repeats) {
  Data d(c, 3);
  for (const Variant& v : variants()) {
    std::unique_ptr<Runner> runner(v.make(d));
    if (!runner) continue;
    const Timing everything{}, frozen{true, false, true, true}, product{false, false, true, false},
        splits{true, true, false, false}, fallback{false, false, false, true};
    std::vector<float> ours, theirs, parts[4];
    runner->launch(everything, nullptr);
    d.run_cublas(cublas);
    for (int i = 0; i < repeats; ++i) {
      for (const int side : {0, 1, 1, 0}) {
        if (side == 0)
          ours.push_back(timer.once([&] { runner->launch(everything, nullptr); }));
        else
          theirs.push_back(timer.once([&] { d.run_cublas(cublas); }));
      }
      int j = 0;
      for (const Timing& what : {frozen, product, splits, fallback})
        parts[j++].push_back(timer.once([&] { runner->launch(what, nullptr); }));
    }
    const double flops = 2.0 * c.m * c.n * c.k * c.batches;
    const float t = median(ours), u = median(theirs);
    std::printf(
        "%-36s %-22s cublas %.4f ms | all %.4f ms %6.1f TF %.2fx | frozen B %.4f %.2fx | product %.4f %6.1f "
        "TF | splits %.4f | "
        "fallback idle %.4f\n",
        text_of(c).c_str(), v.name, u, t, flops / t * 1e-9, u / t, median(parts[0]), u / median(parts[0]),
        median(parts[1]), flops / median(parts[1]) * 1e-9, median(parts[2]), median(parts[3]));
  }
  std::unique_ptr<Runner> simt(make_simt(d));
  std::vector<float> t;
  for (int i = 0; i < 3; ++i) t.push_back(timer.once([&] { simt->launch({}, nullptr); }));
  std::printf("%-36s simt %.4f ms %.1f TF\n", text_of(c).c_str(), median(t),
              2e-9 * c.m * c.n * c.k * c.batches / median(t));
}

void time_all(const Cublas& cublas, int idle, int repeats, bool quick) {
  constexpr Major K = Major::kK, M = Major::kMN;
  Timer timer(idle);
  std::vector<Case> cases = {{4096, 4096, 4096, 1, K, K, Values::kNormal},
                             {4096, 4096, 4096, 1, K, M, Values::kNormal},
                             {1024, 8192, 8192, 1, K, K, Values::kNormal},
                             {1024, 8192, 8192, 1, K, M, Values::kNormal},
                             {1024, 8192, 8192, 1, K, K, Values::kNormal, true}};
  if (!quick) {
    for (const auto [m, n, k] : {Shape{1024, 1024, 1024},
                                 {2048, 2048, 2048},
                                 {3072, 3072, 3072},
                                 {1111, 1777, 1333},
                                 {64, 8192, 8192},
                                 {16, 4096, 4096},
                                 {4096, 1000, 2000},
                                 {128, 128, 16384},
                                 {512, 512, 512},
                                 {16384, 4096, 4096}})
      cases.push_back({m, n, k, 1, K, K, Values::kNormal});
  }
  for (const Case& c : cases) time_case(c, cublas, timer, repeats);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string command = count > 1 ? arguments[1] : "check";
  const bool quick = std::getenv("BENCH_QUICK") != nullptr;
  const Cublas cublas;
  if (command == "check") return check(cublas, quick);
  if (command == "same") return same(quick);
  if (command == "time")
    time_all(cublas, count > 2 ? std::atoi(arguments[2]) : 0, count > 3 ? std::atoi(arguments[3]) : 7, quick);
  return 0;
}
