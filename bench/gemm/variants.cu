#include <cstring>

#include "bench/gemm/variants.h"
#include "gemm/decide.h"
#include "gemm/simt.h"
#include "gemm/split.h"
#include "gemm/tensor.h"

namespace {

using namespace solstice;

template <bool kGelu, bool kByTma>
struct Epilogue {
  static constexpr int kOutputs = 1;
  static constexpr bool kTma = kByTma;
  float* y;
  const float* bias;
  i64 batch_stride, row_stride;
  struct In {
    float bias;
  };
  SOLSTICE_DEVICE In load(int, int, int n) const {
    if constexpr (kGelu)
      return {bias[n]};
    else
      return {0.f};
  }
  SOLSTICE_DEVICE void compute(float acc, const In& in, int, int, int, float (&out)[1]) const {
    if constexpr (kGelu) {
      const float z = acc + in.bias;
      out[0] = 0.5f * z * (1.f + erff(z * 0.70710678f));
    } else {
      out[0] = acc;
    }
  }
  template <int kOutput>
  SOLSTICE_DEVICE float element() const {
    return 0.f;
  }
  template <int kOutput>
  SOLSTICE_DEVICE void store(int batch, int m, int n, float v) const {
    y[batch * batch_stride + m * row_stride + n] = v;
  }
};

template <class Math, Major kA, Major kB, int kVectorA, int kVectorB>
__global__ void __launch_bounds__(gemm::kSplitThreads, smaller(gemm::split_blocks(kA), gemm::split_blocks(kB)))
    split_kernel(gemm::Operand<float> a, gemm::Operand<float> b, int blocks_a) {
  ptx::let_next_kernel_start();
  const int block = static_cast<int>(blockIdx.x);
  if (block < blocks_a)
    gemm::split_operand<Math, mainloop::kScaleBytesA, kA, kVectorA>(a, block, blocks_a);
  else
    gemm::split_operand<Math, mainloop::kScaleBytesB, kB, kVectorB>(b, block - blocks_a,
                                                                    static_cast<int>(gridDim.x) - blocks_a);
}

template <class Config, class E>
__global__ void __launch_bounds__(Config::kThreads, 1)
    tensor_kernel(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                  const __grid_constant__ TensorMap y, gemm::Problem p, gemm::Guard guard, E epilogue) {
  ptx::wait_for_previous_kernel();
  if constexpr (Config::Math::kScaled) {
    if (!gemm::split_suffices(guard)) return;
  }
  gemm::run_tensor<Config>(a, b, y, p, epilogue);
}

template <Major kA, Major kB, int kVectorA, int kVectorB, class E>
__global__ void __launch_bounds__(gemm::kSimtThreads, 2)
    simt_kernel(gemm::StridedOperand<float> a, gemm::StridedOperand<float> b, gemm::SimtProblem p, gemm::Guard guard,
                E epilogue) {
  ptx::wait_for_previous_kernel();
  if (guard.a && gemm::split_suffices(guard)) return;
  gemm::run_simt<kA, kB, kVectorA, kVectorB>(a, b, p, epilogue);
}

struct Planes {
  Array<u8> planes;
  Array<u8> scales;
  Array<gemm::GuardWord> guard;
  gemm::Operand<float> operand;
  int blocks;
};

template <class Math>
Planes make_planes(const float* data, Major major, int ld, i64 batch_stride, int batches, int extent, int k) {
  Planes p;
  gemm::Operand<float>& x = p.operand;
  const bool by_k = major == Major::kK;
  x.data = data, x.batch_stride = batch_stride, x.stride = ld, x.batches = batches;
  x.lines = by_k ? extent : k, x.length = by_k ? k : extent;
  x.plane_stride = round_up(x.length, 64);
  x.scale_stride = round_up(extent, 256);
  p.planes = Array<u8>(static_cast<size_t>(batches) * Math::kPlanes * x.lines * x.plane_stride * Math::Type::kBytes);
  p.scales = Array<u8>(4 * static_cast<size_t>(batches) * ceil_div(k, 64) * x.scale_stride);
  const int chunks = ceil_div(k, 64);
  const int items = batches * chunks * ceil_div(extent, by_k ? 64 : 128);
  p.blocks = std::min(items, 132 * gemm::split_blocks(major));
  p.guard = Array<gemm::GuardWord>(p.blocks);
  x.planes = p.planes.data, x.scales = p.scales.data, x.guard = p.guard.data;
  return p;
}

template <typename... Params, typename... Args>
void launch(void (*kernel)(Params...), int grid, int block, int cluster, int shared, bool pdl, cudaStream_t stream,
            Args... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared, config.stream = stream;
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes, config.numAttrs = pdl ? 2 : 1;
  if (shared > 48 * 1024) CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaLaunchKernelEx(&config, kernel, Params(args)...));
}

template <Major kA, Major kB, int kVector, class E>
void launch_simt(const Data& d, const gemm::Guard& guard, const E& epilogue, bool pdl, cudaStream_t stream) {
  const bool a_k = kA == Major::kK, b_k = kB == Major::kK;
  const gemm::StridedOperand<float> a{d.a.data, d.batch_a(), a_k ? d.lda : 1, a_k ? 1 : d.lda};
  const gemm::StridedOperand<float> b{d.b.data, d.batch_b(), b_k ? d.ldb : 1, b_k ? 1 : d.ldb};
  const gemm::SimtProblem p{d.c.m, d.c.n, d.c.k, d.c.batches, 8};
  const int tiles = ceil_div(d.c.m, 128) * ceil_div(d.c.n, 128) * d.c.batches;
  launch(simt_kernel<kA, kB, kVector, kVector, E>, std::min(tiles, 264), gemm::kSimtThreads, 1, gemm::kSimtSharedBytes,
         pdl, stream, a, b, p, guard, epilogue);
}

template <class Config, int kVector, class E>
class TensorRunner : public Runner {
 public:
  using Math = typename Config::Math;
  explicit TensorRunner(Data& data) : d(data) {
    a = make_planes<Math>(d.a.data, Config::kMajorA, d.lda, d.batch_a(), d.c.batches, d.c.m, d.c.k);
    b = make_planes<Math>(d.b.data, Config::kMajorB, d.ldb, d.batch_b(), d.c.batches, d.c.n, d.c.k);
    map_a = operand_map(a, Config::kMajorA, Config::kTileM, 1);
    map_b = operand_map(b, Config::kMajorB, Config::kN, Config::kCluster);
    map_y = map_a;
    const cuuint64_t n = d.c.n, m = d.c.m;
    if (E::kTma)
      map_y = make_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, d.y.data, {n, m, static_cast<cuuint64_t>(d.c.batches)},
                       {n * 4, n * m * 4}, {32, 16, 1}, CU_TENSOR_MAP_SWIZZLE_128B);
  }
  CUtensorMap operand_map(const Planes& x, Major major, int rows, int parts) const {
    const auto& o = x.operand;
    const cuuint64_t line = static_cast<cuuint64_t>(o.plane_stride) * Math::Type::kBytes;
    const cuuint32_t inner = Config::kStageK;
    const cuuint32_t outer = (major == Major::kK ? rows : 64) / parts;
    const auto type = Math::Type::kBytes == 4                ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                      : kSame<typename Math::Type, mma::F16> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                             : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return make_map(type, o.planes,
                    {static_cast<cuuint64_t>(Math::Type::kBytes == 4 ? round_up(o.length, 8) : o.length),
                     static_cast<cuuint64_t>(o.lines), static_cast<cuuint64_t>(o.batches) * Math::kPlanes},
                    {line, line * o.lines}, {inner, outer, 1}, CU_TENSOR_MAP_SWIZZLE_128B);
  }
  void launch(const Timing& what, cudaStream_t stream) override {
    const int blocks_a = what.split_a ? a.blocks : 0, blocks_b = what.split_b ? b.blocks : 0;
    if (blocks_a + blocks_b > 0)
      ::launch(split_kernel<Math, Config::kMajorA, Config::kMajorB, kVector, kVector>, blocks_a + blocks_b,
               gemm::kSplitThreads, 1, 0, false, stream, a.operand, b.operand, blocks_a);
    const E epilogue{d.y.data, d.bias.data, 1ll * d.c.m * d.c.n, d.c.n};
    const gemm::Guard guard{a.guard.data, b.guard.data, a.blocks, b.blocks};
    if (what.main) {
      const int tiles =
          ceil_div(d.c.m, Config::kTileM * Config::kCluster) * ceil_div(d.c.n, Config::kTileN) * d.c.batches;
      const gemm::Problem p{d.c.m,
                            d.c.n,
                            d.c.k,
                            d.c.batches,
                            8,
                            a.scales.data,
                            b.scales.data,
                            a.operand.scale_stride,
                            b.operand.scale_stride};
      TensorMap ma, mb, my;
      std::memcpy(&ma, &map_a, sizeof ma), std::memcpy(&mb, &map_b, sizeof mb), std::memcpy(&my, &map_y, sizeof my);
      ::launch(tensor_kernel<Config, E>, std::min(tiles, 132 / Config::kCluster) * Config::kCluster, Config::kThreads,
               Config::kCluster, Config::kSharedBytes, true, stream, ma, mb, my, p, guard, epilogue);
    }
    if (what.fallback && Math::kScaled)
      launch_simt<Config::kMajorA, Config::kMajorB, kVector>(d, guard, epilogue, true, stream);
  }

 private:
  Data& d;
  Planes a, b;
  CUtensorMap map_a, map_b, map_y;
};

template <class Math, int kN, int kHalves, int kGroups, int kA, int kB, int kCluster, Major kMajorA, Major kMajorB>
Runner* make_typed(Data& d) {
  using Config = gemm::TensorConfig<Math, kMajorA, kMajorB, gemm::TensorTile<kN, kHalves, kGroups>,
                                    gemm::TensorSlots<kA, kB>, gemm::AlongM<kCluster>>;
  const bool aligned = d.c.pad == 0 && d.lda % 4 == 0 && d.ldb % 4 == 0;
  const bool tma = d.c.n % 4 == 0;
  if (d.c.gelu) {
    if (aligned && tma) return new TensorRunner<Config, 4, Epilogue<true, true>>(d);
    return new TensorRunner<Config, 1, Epilogue<true, false>>(d);
  }
  if (aligned && tma) return new TensorRunner<Config, 4, Epilogue<false, true>>(d);
  return new TensorRunner<Config, 1, Epilogue<false, false>>(d);
}

template <class Math, int kN, int kHalves, int kGroups, int kA, int kB, int kCluster>
Runner* make(Data& d) {
  constexpr Major K = Major::kK, MN = Major::kMN;
#define BY_MAJORS(A, B) \
  if (d.c.a == A && d.c.b == B) return make_typed<Math, kN, kHalves, kGroups, kA, kB, kCluster, A, B>(d);
  BY_MAJORS(K, K)
  if constexpr (Math::Type::kBytes == 2) {
    BY_MAJORS(K, MN)
    BY_MAJORS(MN, K)
    BY_MAJORS(MN, MN)
  }
#undef BY_MAJORS
  return nullptr;
}

template <Major kA, Major kB, class E>
class SimtRunner : public Runner {
 public:
  explicit SimtRunner(Data& data) : d(data) {}
  void launch(const Timing&, cudaStream_t stream) override {
    const E epilogue{d.y.data, d.bias.data, 1ll * d.c.m * d.c.n, d.c.n};
    const bool aligned = d.c.pad == 0 && d.lda % 4 == 0 && d.ldb % 4 == 0;
    if (aligned)
      launch_simt<kA, kB, 4>(d, {}, epilogue, false, stream);
    else
      launch_simt<kA, kB, 1>(d, {}, epilogue, false, stream);
  }

 private:
  Data& d;
};

template <class E>
Runner* make_simt_typed(Data& d) {
  constexpr Major K = Major::kK, MN = Major::kMN;
  if (d.c.a == K && d.c.b == K) return new SimtRunner<K, K, E>(d);
  if (d.c.a == K) return new SimtRunner<K, MN, E>(d);
  if (d.c.b == K) return new SimtRunner<MN, K, E>(d);
  return new SimtRunner<MN, MN, E>(d);
}

}  // namespace

Runner* make_simt(Data& d) {
  return d.c.gelu ? make_simt_typed<Epilogue<true, false>>(d) : make_simt_typed<Epilogue<false, false>>(d);
}

const std::vector<Variant>& variants() {
  using namespace solstice::gemm;
  static const std::vector<Variant> table = {
      {"fp16x3 128x256 c2", 128, 256, make<Fp16x3, 128, 2, 2, 2, 4, 2>},
#ifndef BENCH_QUICK
      {"fp16x3 128x128 c2", 128, 128, make<Fp16x3, 128, 1, 2, 3, 3, 2>},
      {"fp16x3 128x128 c1", 128, 128, make<Fp16x3, 128, 1, 2, 3, 3, 1>},
      {"fp16x3 128x64 c1", 128, 64, make<Fp16x3, 64, 1, 2, 4, 4, 1>},
      {"fp16x3 64x256 c1", 64, 256, make<Fp16x3, 128, 2, 1, 2, 4, 1>},
      {"fp16x3 64x128 c1", 64, 128, make<Fp16x3, 128, 1, 1, 4, 4, 1>},
      {"fp16x3 64x64 c1", 64, 64, make<Fp16x3, 64, 1, 1, 6, 6, 1>},
      {"bf16x6 128x128 c2", 128, 128, make<Bf16x6, 128, 1, 2, 2, 2, 2>},
      {"tf32x3 128x128 c2", 128, 128, make<Tf32x3, 128, 1, 2, 3, 3, 2>},
#endif
  };
  return table;
}
