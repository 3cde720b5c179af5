// Loads and stores with a cache policy or a state space that C++ cannot name.
#pragma once

#include "ptx/types.h"

namespace solstice::ptx {

// Without a cache policy: of lines that are read in halves, the second half is then still there.
SOLSTICE_DEVICE void load_global(float (&v)[4], const float* p) {
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "l"(p));
}
SOLSTICE_DEVICE void load_global(float (&v)[2], const float* p) {
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(v[0]), "=f"(v[1]) : "l"(p));
}

// Not from L1, which knows nothing of what other blocks write.
SOLSTICE_DEVICE void load_global_l2(float (&v)[4], const float* p) {
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "l"(p)
               : "memory");
}

SOLSTICE_DEVICE void store_global(void* p, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
SOLSTICE_DEVICE void store_global(void* p, u32 a, u32 b) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(p), "r"(a), "r"(b) : "memory");
}

SOLSTICE_DEVICE void store_global(void* p, u32 a) {
  asm volatile("st.global.b32 [%0], %1;" ::"l"(p), "r"(a) : "memory");
}

// A word that tells other blocks that what was written before is there.
SOLSTICE_DEVICE void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
SOLSTICE_DEVICE int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

SOLSTICE_DEVICE void store_shared(u32 address, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(a), "f"(b) : "memory");
}
SOLSTICE_DEVICE void store_shared(u32 address, u32 a) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(a) : "memory");
}
SOLSTICE_DEVICE void store_shared_u16(u32 address, u16 a) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(a) : "memory");
}
SOLSTICE_DEVICE void store_shared_zero(u32 address) {  // 16 bytes
  asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(0) : "memory");
}
// Four matrices of 8 x 8 values of 16 bits, a word of a thread each, as wgmma's sums lie: lane l says where row l % 8
// of matrix l / 8 goes, 16 bytes.
SOLSTICE_DEVICE void store_matrices(u32 address, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}
SOLSTICE_DEVICE u32 load_shared_u32(u32 address) {
  u32 v;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
  return v;
}
SOLSTICE_DEVICE Pair load_shared_pair(u32 address) {
  Pair v;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address) : "memory");
  return v;
}
// 16 bytes from shared to global memory, both aligned.
SOLSTICE_DEVICE void copy_piece(void* to, u32 from) {
  asm volatile(
      "{\n.reg .b32 a, b, c, d;\nld.shared.v4.b32 {a, b, c, d}, [%1];\nst.global.v4.b32 [%0], {a, b, c, d};\n}" ::"l"(
          to),
      "r"(from)
      : "memory");
}
// The word at the same shared address of another block of the cluster.
SOLSTICE_DEVICE u32 load_remote_u32(u32 address, u32 block) {
  u32 v;
  asm volatile("{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %1, %2;\nld.shared::cluster.b32 %0, [remote];\n}"
               : "=r"(v)
               : "r"(address), "r"(block)
               : "memory");
  return v;
}
SOLSTICE_DEVICE u32 load_shared_u8(u32 address) {
  u32 v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
  return v;
}
SOLSTICE_DEVICE u16 load_shared_u16(u32 address) {
  u16 v;
  asm volatile("ld.shared.b16 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
  return v;
}

}  // namespace solstice::ptx
