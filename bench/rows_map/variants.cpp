// Writes the CUDA sources and the manifest that measure.cu runs: families map and rows at their default knobs.
//
//   variants DIRECTORY        writes DIRECTORY/vN.cu and DIRECTORY/manifest
// Then, for every vN.cu: nvcc -std=c++17 -arch=sm_90a -cubin -I kernels -o DIRECTORY/vN.cubin DIRECTORY/vN.cu;
// nvcc -std=c++17 -O2 -arch=sm_90a -o measure bench/rows_map/measure.cu; ./measure DIRECTORY/manifest DIRECTORY
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/file.h"
#include "families/family.h"
#include "host_kernels/build.h"

namespace {

using namespace solstice;
using namespace solstice::ir;
using solstice::testing::num;
using solstice::testing::op;
using solstice::testing::ProgramBuilder;

struct Case {
  std::string kind;
  int64_t rows, columns;
  Knobs knobs;
};

void softmax(ProgramBuilder& b, int x, int y, int64_t rows, int64_t columns, bool along_columns) {
  const int e = b.local("e", {rows, columns});
  const auto element = [&](const ExprRef& m, const ExprRef& n, const ExprRef& j) {
    return along_columns ? std::vector<ExprRef>{j, n} : std::vector<ExprRef>{m, j};
  };
  const int64_t length = along_columns ? rows : columns;
  auto m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", length);
  b.define(e, {m, n},
           op(Op::kExp, {b.read(x, {m, n}) - make_reduce(Reducer::kMax, {j->id}, b.read(x, element(m, n, j)))}));
  m = b.index("m", rows), n = b.index("n", columns), j = b.bound("j", length);
  b.define(y, {m, n}, b.read(e, {m, n}) / make_reduce(Reducer::kSum, {j->id}, b.read(e, element(m, n, j))));
}

void layer_norm(ProgramBuilder& b, int x, int y, int64_t rows, int64_t columns) {
  const int g = b.input("g", {columns}), s = b.input("s", {columns});
  const auto m = b.index("m", rows), n = b.index("n", columns), i = b.bound("i", columns), j = b.bound("j", columns);
  const auto mean = make_reduce(Reducer::kMean, {i->id}, b.read(x, {m, i}));
  const auto var = make_reduce(Reducer::kVar, {j->id}, b.read(x, {m, j}));
  b.define(y, {m, n}, (b.read(x, {m, n}) - mean) * op(Op::kRsqrt, {var + num(1e-5)}) * b.read(g, {n}) + b.read(s, {n}));
}

ExprRef function(const std::string& kind, const ExprRef& x) {
  if (kind == "gelu") return num(0.5) * x * (num(1.0) + op(Op::kErf, {x * num(0.7071067811865476)}));
  if (kind == "tanh") return op(Op::kTanh, {x});
  if (kind == "erf") return op(Op::kErf, {x});
  if (kind == "sigmoid") return num(1.0) / (num(1.0) + op(Op::kExp, {op(Op::kNeg, {x})}));
  return x + num(1.0);
}

Program program_of(const Case& c) {
  ProgramBuilder b(c.kind);
  const int x = b.input("x", {c.rows, c.columns}), y = b.output("y", {c.rows, c.columns});
  const bool rows = c.kind == "softmax" || c.kind == "colmax" || c.kind == "layernorm";
  b.kernel("k", rows ? "rows" : "map");
  if (c.kind == "layernorm") {
    layer_norm(b, x, y, c.rows, c.columns);
  } else if (rows) {
    softmax(b, x, y, c.rows, c.columns, c.kind == "colmax");
  } else {
    const auto m = b.index("m", c.rows), n = b.index("n", c.columns);
    b.define(y, {m, n}, function(c.kind, b.read(x, {m, n})));
  }
  b.program.kernels[0].knobs = c.knobs;
  return b.program;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* kind : {"gelu", "tanh", "sigmoid", "erf", "add"}) out.push_back({kind, int64_t{1} << 20, 1024, {}});
  constexpr int64_t kElements = int64_t{1} << 29;
  for (const int64_t columns :
       {10, 100, 128, 256, 512, 1023, 1024, 1030, 2048, 4096, 4097, 8192, 16384, 32768, 65536, 131072}) {
    out.push_back({"softmax", kElements / columns, columns, {}});
  }
  for (const int64_t columns : {1024, 4096, 8192, 16384, 32768})
    out.push_back({"layernorm", kElements / columns, columns, {}});
  for (const int64_t rows : {64, 256, 1024}) out.push_back({"colmax", rows, kElements / rows, {}});
  return out;
}

Status write(const std::string& folder, const machine::Machine& machine) {
  std::string manifest;
  int number = 0;
  for (const Case& c : cases()) {
    const Program program = program_of(c);
    const families::Family* family = families::find_family(program.kernels[0].family);
    SOLSTICE_TRY(const families::Emission emission, family->generate({program, machine}, program.kernels[0]));
    const Step& step = emission.steps[0];
    const std::string name = fmt::format("v{}", number++);
    SOLSTICE_CHECK(write_file(folder + "/" + name + ".cu", emission.sources[0].code));
    manifest += fmt::format("{}-{} {}.cubin {} {} {} {} {} {} {} {}\n", c.kind, c.columns, name, step.entry, c.kind,
                            c.rows, c.columns, step.grid[0], step.block[0], step.cluster[0], step.shared_bytes);
  }
  return write_file(folder + "/manifest", manifest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: variants DIRECTORY"), 2;
  const auto machine = solstice::machine::load_machine("h200");
  if (!machine.ok()) return std::puts(machine.error().text().c_str()), 3;
  const auto status = write(argv[1], *machine);
  if (!status.ok()) return std::puts(status.error().text().c_str()), 3;
  return 0;
}
