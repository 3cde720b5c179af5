// wgmma: one warpgroup multiplies a 64-row tile of A by a kN-column tile of B, both in shared memory, into
// registers.
//
// Register i of a thread holds row 16*warp + lane/4 + 8*(i/2 % 2) and column 8*(i/4) + 2*(lane % 4) + i % 2.
// The instructions are asynchronous: fence before the first, commit, wait, and only then touch the registers
// (`pin` keeps the compiler from moving their uses above the wait).
#pragma once

#include "ptx/types.h"

namespace solstice::mma {

struct F16 {
  static constexpr int kBytes = 2;
};
struct BF16 {
  static constexpr int kBytes = 2;
};
struct TF32 {
  static constexpr int kBytes = 4;
};
struct E4M3 {};
struct E5M2 {};
// Operands of a byte, which may differ in their formats.
template <class A, class B>
struct FP8 {
  static constexpr int kBytes = 1;
};

SOLSTICE_DEVICE void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
SOLSTICE_DEVICE void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
SOLSTICE_DEVICE void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
template <int kCount>
SOLSTICE_DEVICE void pin(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Operand lists: SOLSTICE_OUT_n binds n registers, SOLSTICE_REG_n names them in the instruction.
#define SOLSTICE_OUT_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SOLSTICE_OUT_16(i) SOLSTICE_OUT_4(i), SOLSTICE_OUT_4(i + 4), SOLSTICE_OUT_4(i + 8), SOLSTICE_OUT_4(i + 12)
#define SOLSTICE_OUT_32(i) SOLSTICE_OUT_16(i), SOLSTICE_OUT_16(i + 16)
#define SOLSTICE_OUT_64(i) SOLSTICE_OUT_32(i), SOLSTICE_OUT_32(i + 32)
#define SOLSTICE_OUT_128(i) SOLSTICE_OUT_64(i), SOLSTICE_OUT_64(i + 64)
#define SOLSTICE_TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SOLSTICE_REG_32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," SOLSTICE_TEN(1) SOLSTICE_TEN(2) "%30,%31"
#define SOLSTICE_REG_64                                                                            \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," SOLSTICE_TEN(1) SOLSTICE_TEN(2) SOLSTICE_TEN(3) SOLSTICE_TEN(4) \
      SOLSTICE_TEN(5) "%60,%61,%62,%63"
#define SOLSTICE_REG_128                                                                                           \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," SOLSTICE_TEN(1) SOLSTICE_TEN(2) SOLSTICE_TEN(3) SOLSTICE_TEN(4) SOLSTICE_TEN(5) \
      SOLSTICE_TEN(6) SOLSTICE_TEN(7) SOLSTICE_TEN(8) SOLSTICE_TEN(9) SOLSTICE_TEN(10)                             \
          SOLSTICE_TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127"

template <typename T, int kN, int kTransA, int kTransB>
struct Wgmma;

// A, B, S and the transpose flags are operand numbers after the registers: descriptors of A and B, "add to
// d".
#define SOLSTICE_WGMMA_16(TYPE, SUFFIX, N, REGS, A, B, S, TA, TB)                                                    \
  template <int kTransA, int kTransB>                                                                                \
  struct Wgmma<TYPE, N, kTransA, kTransB> {                                                                          \
    static SOLSTICE_DEVICE void run(float (&d)[REGS], u64 a, u64 b, int accumulate) {                                \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N              \
                   "k16.f32." SUFFIX " {" SOLSTICE_REG_##REGS "}, %" #A ", %" #B ", p, 1, 1, %" #TA ", %" #TB ";\n}" \
                   : SOLSTICE_OUT_##REGS(0)                                                                          \
                   : "l"(a), "l"(b), "r"(accumulate), "n"(kTransA), "n"(kTransB));                                   \
    }                                                                                                                \
  };
#define SOLSTICE_WGMMA_32(N, REGS, A, B, S)                                                             \
  template <>                                                                                           \
  struct Wgmma<TF32, N, 0, 0> {                                                                         \
    static SOLSTICE_DEVICE void run(float (&d)[REGS], u64 a, u64 b, int accumulate) {                   \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N \
                   "k8.f32.tf32.tf32 {" SOLSTICE_REG_##REGS "}, %" #A ", %" #B ", p, 1, 1;\n}"          \
                   : SOLSTICE_OUT_##REGS(0)                                                             \
                   : "l"(a), "l"(b), "r"(accumulate));                                                  \
    }                                                                                                   \
  };
// A template, so that it costs nothing where it is not used.
#define SOLSTICE_WGMMA_8(TYPE_A, TYPE_B, SUFFIX, N, REGS, A, B, S)                                      \
  template <int kTransA, int kTransB>                                                                   \
  struct Wgmma<FP8<TYPE_A, TYPE_B>, N, kTransA, kTransB> {                                              \
    static_assert(!kTransA && !kTransB, "operands of a byte are K-major");                              \
    static SOLSTICE_DEVICE void run(float (&d)[REGS], u64 a, u64 b, int accumulate) {                   \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N \
                   "k32.f32." SUFFIX " {" SOLSTICE_REG_##REGS "}, %" #A ", %" #B ", p, 1, 1;\n}"        \
                   : SOLSTICE_OUT_##REGS(0)                                                             \
                   : "l"(a), "l"(b), "r"(accumulate));                                                  \
    }                                                                                                   \
  };
#define SOLSTICE_WGMMA(N, REGS, A, B, S, TA, TB)                 \
  SOLSTICE_WGMMA_16(F16, "f16.f16", N, REGS, A, B, S, TA, TB)    \
  SOLSTICE_WGMMA_16(BF16, "bf16.bf16", N, REGS, A, B, S, TA, TB) \
  SOLSTICE_WGMMA_32(N, REGS, A, B, S)                            \
  SOLSTICE_WGMMA_8(E4M3, E4M3, "e4m3.e4m3", N, REGS, A, B, S)    \
  SOLSTICE_WGMMA_8(E4M3, E5M2, "e4m3.e5m2", N, REGS, A, B, S)    \
  SOLSTICE_WGMMA_8(E5M2, E4M3, "e5m2.e4m3", N, REGS, A, B, S)    \
  SOLSTICE_WGMMA_8(E5M2, E5M2, "e5m2.e5m2", N, REGS, A, B, S)

SOLSTICE_WGMMA(64, 32, 32, 33, 34, 35, 36)
SOLSTICE_WGMMA(128, 64, 64, 65, 66, 67, 68)
SOLSTICE_WGMMA(256, 128, 128, 129, 130, 131, 132)

#undef SOLSTICE_WGMMA
#undef SOLSTICE_WGMMA_16
#undef SOLSTICE_WGMMA_32
#undef SOLSTICE_WGMMA_8
#undef SOLSTICE_REG_32
#undef SOLSTICE_REG_64
#undef SOLSTICE_REG_128
#undef SOLSTICE_TEN
#undef SOLSTICE_OUT_4
#undef SOLSTICE_OUT_16
#undef SOLSTICE_OUT_32
#undef SOLSTICE_OUT_64
#undef SOLSTICE_OUT_128

}  // namespace solstice::mma
