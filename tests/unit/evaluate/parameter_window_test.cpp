// Kernels with descriptors that do something else with the address of their parameters, and honest ones, as NVRTC
// compiles them, where the machine has it.
#include "evaluate/given/parameter_window.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/file.h"
#include "toolchain/compiler.h"

namespace solstice::evaluate {
namespace {

using toolchain::CodeSection;

constexpr const char* kBefore = R"(
typedef unsigned long long u64;
typedef unsigned int u32;
struct alignas(64) Map { u64 words[16]; };
struct alignas(64) Maps { Map map[4]; };
__device__ __forceinline__ u32 shared(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void load(u32 to, u64 map, int i, int j, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               ::"r"(to), "l"(map), "r"(i), "r"(j), "r"(barrier) : "memory");
}
__device__ __forceinline__ void store(u64 map, int i, int j, u32 from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
               ::"l"(map), "r"(i), "r"(j), "r"(from) : "memory");
}
__device__ __noinline__ void away(const Map* map, u32* y) { y[threadIdx.x] = (u32)map->words[threadIdx.x & 3]; }
extern "C" __global__ void __cluster_dims__(2, 1, 1)
k(const __grid_constant__ Map map, const __grid_constant__ Map other, const __grid_constant__ Maps maps, u32* y, u32* x,
  int n) {
  extern __shared__ __align__(1024) u32 s[];
  const u64 a = (u64)&map, b = (u64)&other;
  const u32 to = shared(s), barrier = to + 8192, t = threadIdx.x;
  load(to, a, n, 0, barrier);
)";

struct Case {
  const char* name;
  const char* body;
  const char* said;  // of a refusal
};

// What stores, or could learn the address to store later.
constexpr Case kAttacks[] = {
    {"store", "*(volatile u32*)(a + 1024) = n;", "stores through"},
    {"store of a block", "*(volatile u32*)(a + 1024 + 4 * blockIdx.x) = n;", "stores through"},
    {"store of a thread", "*(volatile u32*)(a + 1024 + 4 * t) = n;", "stores through"},
    {"load", "y[t] = *(volatile u32*)(a + 4096);", "reads memory through"},
    {"select", "u64 p = n > 5 ? a + 512 : (u64)y; *(volatile u32*)p = 1;", "stores through"},
    {"select of a thread", "u64 p = x[t] > 5 ? a + 512 : (u64)y; *(volatile u32*)p = 1;", "stores through"},
    {"loop", "u64 p = a; for (int i = 0; i < n; ++i) { *(volatile u32*)p = i; p += 256; }", "stores through"},
    {"late loop", "u64 p = (u64)y; for (int i = 0; i < n; ++i) { *(volatile u32*)p = i; p = x[i] ? a + i : p + 8; }",
     "stores through"},
    {"local memory", "volatile u64 l[8]; l[n & 7] = a; *(volatile u32*)l[x[0] & 7] = 1;", "`STL`"},
    {"shared memory", "volatile u64* l = (volatile u64*)s; l[t] = a; __syncthreads(); *(volatile u32*)l[t ^ 1] = 1;",
     "`STS`"},
    {"global memory", "*(volatile u64*)y = a;", "stores through"},
    {"shuffle", "y[t] = __shfl_xor_sync(~0u, (u32)a + t, 1);", "hands it to other threads"},
    {"atomic", "atomicAdd((u32*)(a + 1024), 1u);", "stores through"},
    {"atomic with a result", "y[t] = atomicExch((u32*)(a + 1024), 1u);", "stores through"},
    {"compare and swap", "y[t] = atomicCAS((u32*)(a + 1024), 1u, 2u);", "stores through"},
    {"value of an atomic", "atomicMax((u64*)y, a);", "stores through"},
    {"st.async",
     "asm volatile(\"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];\" ::\"r\"(to), "
     "\"r\"((u32)a), \"r\"(barrier) : \"memory\");",
     "`STAS`"},
    {"another block's shared memory",
     "u32 there; asm volatile(\"mapa.shared::cluster.u32 %0, %1, 1;\" : \"=r\"(there) : \"r\"(to)); asm "
     "volatile(\"st.shared::cluster.u32 [%0], %1;\" ::\"r\"(there), \"r\"((u32)a) : \"memory\");",
     "it"},
    {"bulk copy to it",
     "asm volatile(\"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;\" ::\"l\"(a + 1024), \"r\"(to) : "
     "\"memory\");",
     "`UBLKCP`"},
    {"bulk reduction to it",
     "asm volatile(\"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;\" ::\"l\"(a + 1024), "
     "\"r\"(to) : \"memory\");",
     "`UBLKRED`"},
    {"bulk copy from it",
     "asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];\" "
     "::\"r\"(to), \"l\"(a + 1024), \"r\"(barrier) : \"memory\");",
     "`UBLKCP`"},
    {"cp.async from it",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\" ::\"r\"(to), \"l\"(a + 1024) : \"memory\");",
     "`LDGSTS`"},
    {"xor", "u64 p = (a ^ 0x5555) + x[0]; *(volatile u32*)(p ^ 0x5555) = 1;", "computes with"},
    {"product", "u64 p = a * x[0]; *(volatile u32*)p = 1;", "computes with"},
    {"product by one", "u64 p; asm volatile(\"mul.lo.u64 %0, %1, 1;\" : \"=l\"(p) : \"l\"(a)); *(volatile u32*)p = 1;",
     "stores through"},
    {"permutation",
     "u32 lo = __byte_perm((u32)a, x[0], 0x3210), hi = __byte_perm((u32)(a >> 32), x[0], x[1]); *(volatile "
     "u32*)((u64)hi "
     "<< 32 | lo) = 1;",
     "computes with"},
    {"predicated move",
     "u64 p = (u64)y; asm volatile(\"{ .reg .pred q; setp.gt.s32 q, %2, 7; @q mov.b64 %0, %1; }\" : \"+l\"(p) : "
     "\"l\"(a), \"r\"(n)); *(volatile u32*)p = 1;",
     "stores through"},
    {"predicated move of a thread",
     "u64 p = (u64)y; asm volatile(\"{ .reg .pred q; setp.gt.s32 q, %2, 7; @q mov.b64 %0, %1; }\" : \"+l\"(p) : "
     "\"l\"(a), \"r\"(x[t])); *(volatile u32*)p = 1;",
     "stores through"},
    {"assembly",
     "asm volatile(\"{ .reg .u64 p; mov.u64 p, k_param_0; cvta.param.u64 p, p; st.volatile.u32 [p+2048], 7; }\" ::: "
     "\"memory\");",
     "stores through"},
    {"bit by bit", "u64 v = 0; for (int i = 0; i < 64; ++i) if (a >> i & 1) v |= 1ull << i; *(volatile u32*)v = 1;",
     "computes with"},
    {"comparison", "y[t] = (u32)(a > (u64)x);", "computes with"},
    {"branch", "if ((u32)a > n) y[t] = 1;", "computes with"},
    {"vote", "y[t] = __ballot_sync(~0u, (a >> (t & 31)) & 1);", "computes with"},
    {"float", "y[t] = (u32)(__uint_as_float((u32)a) * 3.f);", "computes with"},
    {"carry",
     "u32 c; asm volatile(\"{ .reg .u32 r; add.cc.u32 r, %1, %2; addc.u32 %0, 0, 0; }\" : \"=r\"(c) : \"r\"((u32)a), "
     "\"r\"(n)); y[t] = c;",
     "computes with"},
    {"twice the address", "load(to, a + a - b, n, 0, barrier);", "computes with"},
    {"descriptor by a bit of it", "load(to, b + ((a >> 9 & 1) << 7), n, 0, barrier);", "computes with"},
    {"coordinate of it", "load(to, b, (int)a, 0, barrier);", "`UTMALDG`"},
    {"barrier of it", "load(to, b, n, 0, (u32)a);", "`UTMALDG`"},
    {"half of its low half", "load(to, (a & 0xffffffff00000000ull) + ((a & 0xffff) + x[1]), n, 0, barrier);",
     "computes"},
    {"call", "away(n ? &map : &other, y);", "it"},
    {"table of jumps",
     "u64 p = a; switch (x[t]) { case 0: p += 3; break; case 1: p = b; break; case 2: p = x[1]; break; case 3: y[1] = "
     "3; "
     "break; case 4: p = x[9]; break; case 5: y[7] = 3; p += 9; break; case 6: y[3] = n; } *(volatile u32*)p = 1;",
     "it"},
    {"tensormap.replace",
     "asm volatile(\"tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;\" ::\"l\"(a), \"l\"((u64)y) : "
     "\"memory\");",
     "it"},
    {"discard", "asm volatile(\"discard.global.L2 [%0], 128;\" ::\"l\"(a + 1024) : \"memory\");", "it"},
};

constexpr Case kHonest[] = {
    {"loads and stores", "load(to, b, n, 1, barrier); __syncthreads(); store(b, 0, n, to);", ""},
    {"of one thread", "if (t == 0) { load(to, b, n, x[0], barrier); store(b, x[1], n, to + x[2]); } y[t] = s[t];", ""},
    {"of a thread of each warp", "if (x[t] == 3) { store(b, x[t + 1], n, to + t); load(to, b, n, x[0], barrier); }",
     ""},
    {"prefetch of a descriptor",
     "if (t == 0) { asm volatile(\"prefetch.tensormap [%0];\" ::\"l\"(a) : \"memory\"); asm "
     "volatile(\"prefetch.tensormap [%0];\" ::\"l\"(b) : \"memory\"); }",
     ""},
    {"prefetch of a tensor",
     "asm volatile(\"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];\" ::\"l\"(b), \"r\"(n), \"r\"(1) "
     ": "
     "\"memory\");",
     ""},
    {"fence of a descriptor",
     "asm volatile(\"fence.proxy.tensormap::generic.acquire.gpu [%0], 128;\" ::\"l\"(b) : \"memory\");", ""},
    {"reduction",
     "asm volatile(\"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];\" "
     "::\"l\"(b), "
     "\"r\"(n), \"r\"(n), \"r\"(to) : \"memory\");",
     ""},
    {"words by name", "y[0] = (u32)map.words[3]; y[1] = (u32)(other.words[0] >> 32);", ""},
    {"one of two", "load(to, n > 3 ? a : b, n, 0, barrier); y[t] = s[t];", ""},
    {"one of two, by thread", "if (x[t] < 9) load(to, x[t] ? a : b, n, 0, barrier); y[t] = s[t];", ""},
    {"one of an array", "load(to, (u64)&maps.map[n], n, 0, barrier);", ""},
    {"a loop over an array",
     "for (int i = 0; i < n; ++i) { load(to, (u64)&maps.map[i & 3], i, x[i], barrier); y[t + i] = s[t]; }", ""},
    {"a pipeline",
     "for (int i = 0; i < n; ++i) { if (t < 32) { load(to + 128 * (i & 3), b, i, n, barrier + 8 * (i & 3)); } "
     "__syncthreads(); y[i * 64 + t] = s[t] + x[t] / (n + i); if (t == 64) store(a, i, x[i], to); }",
     ""},
    {"a trap", "if (n > 1000) __trap(); load(to, b, n, x[0], barrier); y[t] = s[t] + (u32)clock64();", ""},
    {"one of memory", "load(to, n > 3 ? a : (u64)x, n, 0, barrier);", ""},
};

class ParameterWindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    toolchain::CompilerOptions options;
    options.workers = 2;
    options.kernels = folder_.path() / "kernels";
    options.cache = folder_.path() / "cache";
    Result<std::unique_ptr<toolchain::Compiler>> made = toolchain::Compiler::create(options);
    if (!made.ok()) GTEST_SKIP() << made.error().text();
    compiler_ = std::move(*made);
  }

  std::string flaw_of(const Case& of) {
    const std::string code = std::string(kBefore) + of.body + "\n}\n";
    Result<toolchain::Compiled> done = compiler_->compile({.name = "unit", .code = code, .file = "k.cu"});
    EXPECT_TRUE(done.ok() && done->ok()) << of.name << "\n" << (done.ok() ? done->log : done.error().text());
    if (!done.ok() || !done->ok()) return "";
    const Result<std::vector<CodeSection>> sections = toolchain::code_of(done->cubin);
    const Result<toolchain::CubinFacts> facts = toolchain::read_cubin(done->cubin);
    EXPECT_TRUE(sections.ok() && facts.ok()) << of.name;
    cubin_ = done->cubin;
    return sections.ok() ? parameter_window_flaw(*sections, facts->kernels) : "";
  }

  TempFolder folder_ = TempFolder::create("window").value();
  std::unique_ptr<toolchain::Compiler> compiler_;
  std::string cubin_;
};

TEST_F(ParameterWindowTest, AttacksAreRefused) {
  for (const Case& attack : kAttacks) {
    const std::string flaw = flaw_of(attack);
    EXPECT_NE(flaw.find(attack.said), std::string::npos) << attack.name << ": " << flaw;
    EXPECT_NE(flaw.find("of `"), std::string::npos) << attack.name << ": " << flaw;  // the instruction's kernel
    EXPECT_NE(flaw.find("only the copy engine may have this address; "), std::string::npos) << attack.name;
  }
}

TEST_F(ParameterWindowTest, HonestKernelsPass) {
  for (const Case& honest : kHonest) EXPECT_EQ(flaw_of(honest), "") << honest.name;
}

// It comes from a process that the source may have taken over.
TEST_F(ParameterWindowTest, AnyBytesAreFollowed) {
  flaw_of(kHonest[1]);
  const Result<std::vector<CodeSection>> sections = toolchain::code_of(cubin_);
  ASSERT_TRUE(sections.ok());
  for (const CodeSection& section : *sections) {
    for (size_t at = 0; at < section.code.size(); ++at) {
      std::string damaged(section.code);
      damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
      (void)parameter_window_flaw({{section.name, damaged}}, {});
    }
  }
  std::string noise(16 * 4096, '\0');
  uint64_t state = 1;
  for (char& each : noise)
    each = static_cast<char>((state = state * 6364136223846793005U + 1442695040888963407U) >> 56);
  const auto begin = std::chrono::steady_clock::now();
  (void)parameter_window_flaw({{"noise", noise}}, {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace solstice::evaluate
