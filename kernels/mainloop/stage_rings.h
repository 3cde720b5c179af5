// The stages of a main loop's operands. Their concept, for accumulate.h:
//
//   struct Slots { bool any() const; };              // of one stage; by default: none
//   void wait_full() const;                          // until the next stage is there
//   u32 a() const, b() const;                        // its shared addresses
//   Slots slots() const;                             // where it lies
//   void release(const Slots&, int lane) const;      // by a warp that has read them
//   void advance();
#pragma once

#include "pipeline/ring.h"

namespace solstice::mainloop {

// A and B in a ring each, whose slots kShareA and kShareB blocks of the cluster fill; `rank` is this block's.
template <class RingA, class RingB, int kShareA, int kShareB, pipeline::Readers kReaders>
struct TwoRings {
  RingA ring_a;
  RingB ring_b;
  int rank;

  struct Slots {
    int a = -1, b = -1;
    SOLSTICE_DEVICE bool any() const { return a >= 0; }
  };

  SOLSTICE_DEVICE u32 a() const { return ring_a.address(); }
  SOLSTICE_DEVICE u32 b() const { return ring_b.address(); }
  SOLSTICE_DEVICE Slots slots() const { return {ring_a.slot, ring_b.slot}; }
  SOLSTICE_DEVICE void wait_full() const {
    ring_a.wait_full();
    ring_b.wait_full();
  }
  SOLSTICE_DEVICE void release_a(int slot, int lane) const {
    ring_a.template release<kShareA, kReaders>(slot, lane, rank);
  }
  SOLSTICE_DEVICE void release_b(int slot, int lane) const {
    ring_b.template release<kShareB, kReaders>(slot, lane, rank);
  }
  SOLSTICE_DEVICE void release(const Slots& of, int lane) const {
    release_a(of.a, lane);
    release_b(of.b, lane);
  }
  SOLSTICE_DEVICE void advance() {
    ring_a.advance();
    ring_b.advance();
  }
};

// Both in the slots of one ring, B kOffsetB bytes behind A; kShare blocks of the cluster fill a slot.
template <class Ring, int kOffsetB, int kShare>
struct JointRing {
  Ring ring;

  struct Slots {
    int both = -1;
    SOLSTICE_DEVICE bool any() const { return both >= 0; }
  };

  SOLSTICE_DEVICE u32 a() const { return ring.address(); }
  SOLSTICE_DEVICE u32 b() const { return ring.address() + kOffsetB; }
  SOLSTICE_DEVICE Slots slots() const { return {ring.slot}; }
  SOLSTICE_DEVICE void wait_full() const { ring.wait_full(); }
  SOLSTICE_DEVICE void release(const Slots& of, int lane) const {
    ring.template release<kShare, pipeline::Readers::kWarps>(of.both, lane, 0);
  }
  SOLSTICE_DEVICE void advance() { ring.advance(); }
};

}  // namespace solstice::mainloop
