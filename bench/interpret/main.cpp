// How fast the interpreter is: operations of the equations (a multiply and an add are two, an `exp` is one) per second,
// the best of several runs: of one thread's CPU time, and of the clock with two threads.
//
//   ninja -C build bench_interpret && build/bench/bench_interpret [repetitions [part of a name]]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/interpret.h"

namespace {

using namespace solstice;

struct Subject {
  std::string name;
  std::string text;
  double operations;
};

const std::vector<Subject> kSubjects = {
    {"matrix product",
     "input a : f32[256, 512] input b : f32[384, 512] output y : f32[256, 384] y[m,n] = sum[k](a[m,k] * b[n,k])",
     2.0 * 256 * 384 * 512},
    {"convolution",
     "input x : f32[2, 32, 56, 56] param w : f32[32, 32, 3, 3] output y : f32[2, 32, 56, 56] "
     "y[n,k,p,q] = sum[c,r,s](x[n,c,p+r-1,q+s-1 else 0] * w[k,c,r,s])",
     2.0 * 2 * 32 * 56 * 56 * 32 * 9},
    {"transposed convolution",
     "input x : f32[2, 32, 28, 28] param w : f32[32, 32, 4, 4] output y : f32[2, 32, 56, 56] "
     "y[n,k,u,v] = sum[c,i,j,r,s where u == 2*i+r-1 and v == 2*j+s-1](x[n,c,i,j] * w[c,k,r,s])",
     2.0 * 2 * 32 * 56 * 56 * 32 * 4},
    {"softmax",
     "input x : f32[1024, 2048] output y : f32[1024, 2048] e[m,n] = exp(x[m,n] - max[j](x[m,j])) y[m,n] = e[m,n] / "
     "sum[j](e[m,j])",
     5.0 * 1024 * 2048},
    {"variance", "input x : f32[1024, 2048] output y : f32[1024] y[m] = var[j](x[m,j])", 5.0 * 1024 * 2048},
    {"elementwise chain",
     "input a : f32[1024, 2048] input b : f32[2048] output y : f32[1024, 2048] "
     "t[m,n] = a[m,n] * 2 + b[n] y[m,n] = max(t[m,n] * t[m,n] - a[m,n], 0) * (t[m,n] + 1)",
     7.0 * 1024 * 2048},
    {"gelu",
     "input a : f32[1024, 2048] output y : f32[1024, 2048] y[m,n] = a[m,n] * 0.5 * (1 + erf(a[m,n] * "
     "0.7071067811865476))",
     5.0 * 1024 * 2048},
    {"prefix sum as a relation",
     "input x : f32[256, 4096] output y : f32[256, 4096] y[b,t] = sum[s where s <= t](x[b,s])", 1.0 * 256 * 4096},
    {"running sum", "input x : f32[256, 4096] output y : f32[256, 4096] y[b,t] = x[b,t] + y[b,t-1 else 0]",
     1.0 * 256 * 4096},
    {"recurrent network",
     "input x : f32[64, 16, 256] param w : f32[256, 256] output h : f32[64, 16, 256] "
     "h[t,b,j] = tanh(x[t,b,j] + sum[k](h[t-1,b,k else 0] * w[j,k]))",
     2.0 * 64 * 16 * 256 * 257},
};

double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double best_rate(const ir::Program& program, const ir::TensorValues& inputs, double operations, int threads,
                 int repetitions) {
  ir::InterpretOptions options;
  options.threads = threads;
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    const auto now = [&] { return threads == 1 ? cpu_seconds() : monotonic_now().value; };
    const double begin = now();
    const auto out = ir::interpret(program, inputs, options);
    const double taken = now() - begin;
    if (!out.ok()) fmt::print(stderr, "{}\n", out.error().text()), std::exit(1);
    best = std::max(best, operations / taken);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 7;
  const std::string wanted = argc > 2 ? argv[2] : "";
  fmt::print("{:24} {:>12} {:>12} {:>12}\n", "operations a second", "operations", "1 thread", "2 threads");
  for (const Subject& s : kSubjects) {
    if (s.name.find(wanted) == std::string::npos) continue;
    Diagnostics diagnostics;
    const auto program = ir::load_program("program p\n" + s.text, s.name, diagnostics);
    if (!program.ok()) return fmt::print(stderr, "{}\n", program.error().text()), 1;
    const ir::TensorValues inputs = ir::random_inputs(*program, 0, 1);
    fmt::print("{:24} {:12.3g} {:12.3g} {:12.3g}\n", s.name, s.operations,
               best_rate(*program, inputs, s.operations, 1, repetitions),
               best_rate(*program, inputs, s.operations, 2, repetitions));
  }
  return 0;
}
