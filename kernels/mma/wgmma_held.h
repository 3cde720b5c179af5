// wgmma with A in registers: a warpgroup multiplies 64 rows that its threads hold by a kN-column tile of B in shared
// memory. The accumulator's layout is that of wgmma.h.
//
// Fragment of one instruction (16 k), lane = 4 * g + t of a warp that owns 16 rows: a[0] holds row g, k 2t and 2t+1;
// a[1] row g+8, the same k; a[2] and a[3] the same rows at k + 8. The registers must not change before wait().
#pragma once

#include "mma/wgmma.h"

namespace solstice::mma {

#define SOLSTICE_ACC_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SOLSTICE_ACC_8(i) SOLSTICE_ACC_4(i), SOLSTICE_ACC_4(i + 4)
#define SOLSTICE_ACC_12(i) SOLSTICE_ACC_8(i), SOLSTICE_ACC_4(i + 8)
#define SOLSTICE_ACC_16(i) SOLSTICE_ACC_8(i), SOLSTICE_ACC_8(i + 8)
#define SOLSTICE_ACC_24(i) SOLSTICE_ACC_16(i), SOLSTICE_ACC_8(i + 16)
#define SOLSTICE_ACC_32(i) SOLSTICE_ACC_16(i), SOLSTICE_ACC_16(i + 16)
#define SOLSTICE_ACC_40(i) SOLSTICE_ACC_32(i), SOLSTICE_ACC_8(i + 32)
#define SOLSTICE_ACC_48(i) SOLSTICE_ACC_32(i), SOLSTICE_ACC_16(i + 32)
#define SOLSTICE_ACC_56(i) SOLSTICE_ACC_48(i), SOLSTICE_ACC_8(i + 48)
#define SOLSTICE_ACC_64(i) SOLSTICE_ACC_32(i), SOLSTICE_ACC_32(i + 32)
#define SOLSTICE_DECADE(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9"
#define SOLSTICE_NAMES_4 "%0,%1,%2,%3"
#define SOLSTICE_NAMES_8 SOLSTICE_NAMES_4 ",%4,%5,%6,%7"
#define SOLSTICE_NAMES_10 SOLSTICE_NAMES_8 ",%8,%9"
#define SOLSTICE_NAMES_12 SOLSTICE_NAMES_10 ",%10,%11"
#define SOLSTICE_NAMES_16 SOLSTICE_NAMES_12 ",%12,%13,%14,%15"
#define SOLSTICE_NAMES_20 SOLSTICE_NAMES_10 "," SOLSTICE_DECADE(1)
#define SOLSTICE_NAMES_24 SOLSTICE_NAMES_20 ",%20,%21,%22,%23"
#define SOLSTICE_NAMES_30 SOLSTICE_NAMES_20 "," SOLSTICE_DECADE(2)
#define SOLSTICE_NAMES_32 SOLSTICE_NAMES_30 ",%30,%31"
#define SOLSTICE_NAMES_40 SOLSTICE_NAMES_30 "," SOLSTICE_DECADE(3)
#define SOLSTICE_NAMES_48 SOLSTICE_NAMES_40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define SOLSTICE_NAMES_50 SOLSTICE_NAMES_40 "," SOLSTICE_DECADE(4)
#define SOLSTICE_NAMES_56 SOLSTICE_NAMES_50 ",%50,%51,%52,%53,%54,%55"
#define SOLSTICE_NAMES_60 SOLSTICE_NAMES_50 "," SOLSTICE_DECADE(5)
#define SOLSTICE_NAMES_64 SOLSTICE_NAMES_60 ",%60,%61,%62,%63"

template <typename T, int kN, int kTransB>
struct WgmmaHeld;

// A..D: operand numbers of the fragment; B: of the descriptor; S: "add to d"; TB: transposed B.
#define SOLSTICE_WGMMA_HELD_AS(TYPE, NAME, N, REGS, A0, A1, A2, A3, B, S, TB)                                 \
  template <int kTransB>                                                                                      \
  struct WgmmaHeld<TYPE, N, kTransB> {                                                                        \
    static SOLSTICE_DEVICE void run(float (&d)[REGS], const u32 (&a)[4], u64 b, int accumulate) {             \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N       \
                   "k16.f32." NAME "." NAME " {" SOLSTICE_NAMES_##REGS "}, {%" #A0 ",%" #A1 ",%" #A2 ",%" #A3 \
                                                                       "}, %" #B ", p, 1, 1, %" #TB ";\n}"    \
                   : SOLSTICE_ACC_##REGS(0)                                                                   \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(kTransB));      \
    }                                                                                                         \
  };
#define SOLSTICE_WGMMA_HELD(...) \
  SOLSTICE_WGMMA_HELD_AS(F16, "f16", __VA_ARGS__) SOLSTICE_WGMMA_HELD_AS(BF16, "bf16", __VA_ARGS__)

// TF32, 8 k: a[0] holds row g, k t; a[1] row g+8, the same; a[2] and a[3] the same rows at k t + 4.
#define SOLSTICE_WGMMA_HELD_TF32(N, REGS, A0, A1, A2, A3, B, S)                                                \
  template <>                                                                                                  \
  struct WgmmaHeld<TF32, N, 0> {                                                                               \
    static SOLSTICE_DEVICE void run(float (&d)[REGS], const u32 (&a)[4], u64 b, int accumulate) {              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N        \
                   "k8.f32.tf32.tf32 {" SOLSTICE_NAMES_##REGS "}, {%" #A0 ",%" #A1 ",%" #A2 ",%" #A3 "}, %" #B \
                                                              ", p, 1, 1;\n}"                                  \
                   : SOLSTICE_ACC_##REGS(0)                                                                    \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));                     \
    }                                                                                                          \
  };

SOLSTICE_WGMMA_HELD_TF32(8, 4, 4, 5, 6, 7, 8, 9)
SOLSTICE_WGMMA_HELD_TF32(16, 8, 8, 9, 10, 11, 12, 13)
SOLSTICE_WGMMA_HELD_TF32(24, 12, 12, 13, 14, 15, 16, 17)
SOLSTICE_WGMMA_HELD_TF32(32, 16, 16, 17, 18, 19, 20, 21)
SOLSTICE_WGMMA_HELD_TF32(48, 24, 24, 25, 26, 27, 28, 29)
SOLSTICE_WGMMA_HELD_TF32(64, 32, 32, 33, 34, 35, 36, 37)
SOLSTICE_WGMMA_HELD_TF32(80, 40, 40, 41, 42, 43, 44, 45)
SOLSTICE_WGMMA_HELD_TF32(96, 48, 48, 49, 50, 51, 52, 53)
SOLSTICE_WGMMA_HELD_TF32(112, 56, 56, 57, 58, 59, 60, 61)
SOLSTICE_WGMMA_HELD_TF32(128, 64, 64, 65, 66, 67, 68, 69)

SOLSTICE_WGMMA_HELD(8, 4, 4, 5, 6, 7, 8, 9, 10)
SOLSTICE_WGMMA_HELD(16, 8, 8, 9, 10, 11, 12, 13, 14)
SOLSTICE_WGMMA_HELD(24, 12, 12, 13, 14, 15, 16, 17, 18)
SOLSTICE_WGMMA_HELD(32, 16, 16, 17, 18, 19, 20, 21, 22)
SOLSTICE_WGMMA_HELD(48, 24, 24, 25, 26, 27, 28, 29, 30)
SOLSTICE_WGMMA_HELD(64, 32, 32, 33, 34, 35, 36, 37, 38)
SOLSTICE_WGMMA_HELD(80, 40, 40, 41, 42, 43, 44, 45, 46)
SOLSTICE_WGMMA_HELD(96, 48, 48, 49, 50, 51, 52, 53, 54)
SOLSTICE_WGMMA_HELD(112, 56, 56, 57, 58, 59, 60, 61, 62)
SOLSTICE_WGMMA_HELD(128, 64, 64, 65, 66, 67, 68, 69, 70)

#undef SOLSTICE_WGMMA_HELD_AS
#undef SOLSTICE_WGMMA_HELD
#undef SOLSTICE_WGMMA_HELD_TF32
#undef SOLSTICE_NAMES_4
#undef SOLSTICE_NAMES_8
#undef SOLSTICE_NAMES_10
#undef SOLSTICE_NAMES_12
#undef SOLSTICE_NAMES_16
#undef SOLSTICE_NAMES_20
#undef SOLSTICE_NAMES_24
#undef SOLSTICE_NAMES_30
#undef SOLSTICE_NAMES_32
#undef SOLSTICE_NAMES_40
#undef SOLSTICE_NAMES_48
#undef SOLSTICE_NAMES_50
#undef SOLSTICE_NAMES_56
#undef SOLSTICE_NAMES_60
#undef SOLSTICE_NAMES_64
#undef SOLSTICE_DECADE
#undef SOLSTICE_ACC_4
#undef SOLSTICE_ACC_8
#undef SOLSTICE_ACC_12
#undef SOLSTICE_ACC_16
#undef SOLSTICE_ACC_24
#undef SOLSTICE_ACC_32
#undef SOLSTICE_ACC_40
#undef SOLSTICE_ACC_48
#undef SOLSTICE_ACC_56
#undef SOLSTICE_ACC_64

}  // namespace solstice::mma
