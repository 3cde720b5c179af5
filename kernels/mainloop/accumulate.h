// The main loop of a consumer warpgroup whose products are added in place: a stage is multiplied while the products of
// the one before end, whose slots are then released.
#pragma once

#include "mainloop/stage_product.h"
#include "mainloop/stage_rings.h"
#include "mma/wgmma.h"

// part: main loop

namespace solstice::mainloop {

// `Start`: how sums begin, and whether the loop's text stands once (kOneText) or as often as the compiler likes.
struct FromZeros {  // they are zeros before
  static constexpr bool kFirstApart = false, kOneText = false;
  SOLSTICE_DEVICE static Adds fresh(bool) { return {}; }
};
struct FirstMarked {  // with the first stage: one text for all stages
  static constexpr bool kFirstApart = false, kOneText = true;
  SOLSTICE_DEVICE static bool fresh(bool first) { return first; }
};
// With the first stage, which has a text of its own: the compiler then sees that products start from zero, and lets
// them overlap, also where sums are added to behind the loop.
struct FirstApart {
  static constexpr bool kFirstApart = true, kOneText = true;
  SOLSTICE_DEVICE static Adds fresh(bool) { return {}; }
};

// Before the products of a stage, and while they run; the defaults.
struct AsItCame {
  SOLSTICE_DEVICE void operator()(u32, u32, int) const {}
};
struct NothingElse {
  SOLSTICE_DEVICE void operator()() const {}
};

// Starts the products of a stage, of 64 rows of A for warpgroup `group`. `left`: of k from it on.
template <class Product, class Rings, class Prepare, class Fresh>
SOLSTICE_DEVICE void multiply_stage(float (&sums)[Product::kRegisters], const Rings& rings, int left, int group,
                                    const Prepare& prepare, Fresh fresh) {
  rings.wait_full();
  const u32 a = rings.a() + group * 64 * mma::kRowBytes, b = rings.b();
  prepare(a, b, left);
  mma::fence();
  Product::run(sums, a, b, fresh);
  mma::commit();
}

// The sums of k = first .. last - 1, counted in any unit; a stage has kStep of them.
//
// - first < last. The compiler has to see it where sums begin here: else it finds a way by which they do not, and lets
//   no products overlap.
// - prepare(a, b, left) makes a stage, at these addresses, ready to be multiplied.
// - meanwhile() is called once a stage (not of one apart), while the tensor cores are at work.
template <class Product, class Start, int kStep, class Rings, class Prepare = AsItCame, class Meanwhile = NothingElse>
SOLSTICE_DEVICE void accumulate(float (&sums)[Product::kRegisters], Rings& rings, int first, int last, int group,
                                int lane, const Prepare& prepare = {}, const Meanwhile& meanwhile = {}) {
  typename Rings::Slots used;
  int k = first;
  if constexpr (Start::kFirstApart) {
    multiply_stage<Product>(sums, rings, last - k, group, prepare, Begins());
    used = rings.slots();
    k += kStep;
    rings.advance();
  }
  const auto next = [&] {
    multiply_stage<Product>(sums, rings, last - k, group, prepare, Start::fresh(k == first));
    mma::wait<1>();
    if (used.any()) rings.release(used, lane);
    used = rings.slots();
    meanwhile();  // not before the release: loads would start later
    k += kStep;
    rings.advance();
  };
  if constexpr (Start::kOneText) {
#pragma unroll 1
    while (k < last) next();
  } else {
    while (k < last) next();
  }
  mma::wait<0>();
  mma::pin(sums);
  rings.release(used, lane);
  ptx::sync_warp();  // else the lanes that release may go through all that follows apart from the others
}

}  // namespace solstice::mainloop
