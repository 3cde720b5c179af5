// Pass 7, `algebra`: real arithmetic as sums of products over hashed atoms.
//
//   sums distribute, over terms and over reductions (up to 64 terms); like terms and like powers merge (polynomial.h)
//   sum[b](a * e) = a * sum[b](e), where a is free of b;   sum[a](sum[b](e)) = sum[a,b](e)
//   sum[a,b](f(a) * g(b)) = sum[a](f) * sum[b](g)
//   a / b = a * b**-1;   sqrt(a) = a**(1/2);   exp(a + b) = exp(a) * exp(b);   log(exp(a) * b) = a + log(b)
//   max[b](a + k*e) = a + k * max[b](e), where a and k > 0 are free of b;   k < 0 makes it a minimum
//   max[b](max(e, f)) = max(max[b](e), max[b](f));   max[b](min(e, f)) = min(max[b](e), f), where f is free of b
//   max[b](exp(e)) = exp(max[b](e)), and of other maps that fall nowhere;   max[b](e**-1) = min[b](e)**-1 with e > 0
//   max(k*e, c) = k * max(e, c/k), c a number;   max(min(e, h), c) = min(max(e, c), h) with c < h, or c
//   select(c, a, b) = [c]*a + [not c]*b;   select(a > b, a, b) = max(a, b)
//
// Proof. Identities of the real numbers; sums are finite. A quotient cancels only where the divisor is provably
// positive (sign.h): powers, sums and maxima of positive terms. A guard [c] marks a factor that is evaluated only where
// c holds; guarded terms merge only under one guard, so that what is not evaluated never meets what is. A -inf stays in
// its select (a mask) and goes where a maximum or an exponential takes it in. Casts are atoms. Recurrences that
// accumulate take the `where` form (prefix.cpp).
#include "ir/normal/expression.h"
#include "ir/normal/passes.h"

namespace solstice::ir::normal {

void algebra(Form& form) {
  Expressions normal(form.pool, form.enabled);
  for (Definition& d : form.definitions) d.value = normal(d.value);
  for (Root& r : form.roots) r.value = normal(r.value);
}

}  // namespace solstice::ir::normal
