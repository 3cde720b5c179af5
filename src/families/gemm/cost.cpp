#include "families/gemm/cost.h"

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/gemm/stream.h"

namespace solstice::families::gemm {
namespace {

using machine::Pipe;

Pipe pipe_of(Math math) {
  switch (math) {
    case Math::kTF32:
    case Math::kTF32x3:
      return Pipe::kTensorTF32;
    case Math::kBF16:
    case Math::kBF16x3:
    case Math::kBF16x6:
      return Pipe::kTensorBF16;
    case Math::kSimt:
      return Pipe::kSimtF32;
    default:
      return Pipe::kTensorF16;
  }
}

// Share of the pipe's ceiling that a tile reaches in its main loop, and what a launch costs beyond it
// (starting, the first loads, the last tile's epilogue): fitted to the measurements of docs/gemm.md at 16384
// x 4096 x 4096 and 1024^3.
double efficiency_of(const Settings& s) {
  if (s.math == Math::kSimt) return 0.67;
  if (s.tile_m == 128) return s.tile_n == 256 ? 0.98 : s.tile_n == 128 ? 0.885 : 0.685;
  return s.tile_n == 256 ? 0.745 : s.tile_n == 128 ? 0.68 : 0.58;
}
constexpr double kProductOverhead = 5e-6, kClusterOverhead = 1e-6;

double operand_bytes(const OperandAccess& operand, int64_t lines, const Contraction& c) {
  const double batches = operand.batch == 0 ? 1.0 : static_cast<double>(c.batches);
  return batches * static_cast<double>(lines) * static_cast<double>(c.k) * size_of(operand.dtype);
}

struct Moved {
  double split = 0, product = 0;
};

// What the split pass moves, and what the product reads of one operand.
Moved traffic_of(const Context& context, const OperandAccess& operand, int64_t lines, const Contraction& c, const Settings& s) {
  const double bytes = operand_bytes(operand, lines, c);
  if (!needs_planes(s, operand, major_of(operand, lines, c.k))) return {0, bytes};
  const double planes = bytes / size_of(operand.dtype) * numerics::info(s.math).planes * element_bytes(s.math);
  return {is_packed(context.program, s, operand) ? 0 : bytes + planes, planes};
}

bool legal(const Problem& problem, const Settings& s) {
  if (s.math == Math::kSimt) return true;
  const Contraction& c = problem.product;
  const Major a = major_of(c.a, c.m, c.k), b = major_of(c.b, c.n, c.k);
  if (a == Major::kNone || b == Major::kNone) return false;
  if (element_bytes(s.math) == 4 && (a != Major::kK || b != Major::kK)) return false;
  return true;
}

}  // namespace

bool is_built(Math math) { return math != Math::kFP8 && math != Math::kF64; }

Cost estimate(const Context& context, const Problem& problem, const Settings& s) {
  if (s.math == Math::kSimt && s.stream == Streamed::kNone && s.tile_m == kSmallTile) return estimate_small(context, problem, s);
  if (s.stream != Streamed::kNone) return s.math == Math::kSimt ? estimate_gemv(context, problem, s) : estimate_stream(context, problem, s);
  const Contraction& c = problem.product;
  const machine::Machine& m = context.machine;
  const double sms = m.sm_count;
  const auto ceiling = m.ceiling(pipe_of(s.math));
  const double rate = ceiling.ok() ? ceiling->per_second : 1e9;
  const double products = numerics::info(s.math).products;
  const int tile_m = s.math == Math::kSimt ? 128 : s.tile_m, tile_n = s.math == Math::kSimt ? 128 : s.tile_n;
  const double tiles =
      static_cast<double>(ceil_div(c.m, tile_m * s.cluster) * s.cluster * ceil_div(c.n, tile_n * s.cluster_n) * s.cluster_n * c.batches);
  const double at_once = s.math == Math::kSimt ? 2 * sms : sms;
  // Two simt blocks share an SM, so a round of them takes twice as long as one alone would.
  const double tile_work = 2.0 * tile_m * tile_n * static_cast<double>(c.k) * products * (s.math == Math::kSimt && tiles > sms ? 2 : 1);
  // An epilogue by the copy engine drains at about 6 bytes a clock and SM; line by line at a third of that.
  const double epilogue = (stores_by_copy_engine(context.program, problem) ? 2.5e-6 : 7.5e-6) * tile_m * tile_n / (128.0 * 256.0);
  const double rounds = std::ceil(tiles / at_once);
  // Where blocks walk several tiles, loads that two of them share save power and L2; where they do not, a cluster only
  // starts later.
  const double alone = s.math != Math::kSimt && rounds > 1 && s.cluster * s.cluster_n == 1 ? 1.02 : 1;
  const double compute = rounds * (tile_work / (rate / sms * efficiency_of(s)) * alone + epilogue);
  const Moved a = traffic_of(context, c.a, c.m, c, s), b = traffic_of(context, c.b, c.n, c, s);
  double out_bytes = 0;
  for (const codegen::EpilogueStore& store : problem.epilogue.stores) {
    out_bytes += static_cast<double>(c.batches * c.m * c.n) * size_of(*context.program.tensor(store.tensor).dtype);
  }
  const double copy = m.copy_ceiling().per_second;
  const double memory = (a.product + b.product + out_bytes) / copy;
  const double split = (a.split + b.split) / (copy * 0.80);
  const double launch =
      m.launch_time().value * (1 + (split > 0) + s.scaled) + kProductOverhead + (s.cluster * s.cluster_n > 1 ? kClusterOverhead : 0);
  Cost out;
  out.time = Seconds(launch + split + std::max(compute, memory));
  out.bound = launch > split + std::max(compute, memory) ? "latency"
              : memory > compute                         ? "memory"
              : s.math == Math::kSimt                    ? "simt"
                                                         : "tensor";
  out.traffic = Bytes(a.split + b.split + a.product + b.product + out_bytes);
  out.work = Flops(2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k) * static_cast<double>(c.batches) *
                   products);
  out.terms = {{"launch", Seconds(launch)}, {"split", Seconds(split)}, {"compute", Seconds(compute)}, {"memory", Seconds(memory)}};
  return out;
}

std::vector<Settings> ranked_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths) {
  std::vector<std::pair<double, Settings>> found;
  const auto add = [&](Settings s) {
    if (legal(problem, s)) found.emplace_back(estimate(context, problem, s).time.value, s);
  };
  for (const Math math : maths) {
    if (!is_built(math)) continue;
    Settings s;
    s.math = math;
    s.prepack = context.frozen;
    s.scaled = is_scaled(math, problem);
    for (const Settings& streamed : stream_settings(context, problem, math)) add(streamed);
    if (math == Math::kSimt) {
      s.tile_k = 8;
      add(s);
      s.tile_m = s.tile_n = kSmallTile;
      add(s);
      continue;
    }
    s.tile_k = 128 / element_bytes(math);
    for (const Tile tile : tiles()) {
      for (const int cluster : {2, 1}) {  // along N it was nowhere faster
        s.tile_m = tile.m, s.tile_n = tile.n, s.cluster = cluster;
        if (layout_of(s, static_cast<int64_t>(context.machine.shared_per_block.value)).bytes() <= context.machine.shared_per_block.value)
          add(s);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<Settings> out;
  for (auto& [time, s] : found) out.push_back(s);
  return out;
}

Settings best_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths) {
  const auto ranked = ranked_settings(context, problem, maths);
  if (!ranked.empty()) return ranked.front();
  Settings simt;
  if (!maths.empty()) simt.math = maths.front();  // illegal here; check_settings says why
  return simt;
}

}  // namespace solstice::families::gemm
