"""Fits the polynomials of kernels/math/special.h and prints their coefficients and errors (needs NumPy and SciPy).

Weighted minimax by Lawson's iteration on Chebyshev nodes; coefficients are rounded to float32 from the lowest up, each
time refitting the rest. Errors are in float32 arithmetic with fused multiply-add.
"""

import argparse

import numpy as np
from scipy.special import erf, erfc

F32 = np.float32


def fused(a, b, c):
    return F32(np.float64(a) * np.float64(b) + np.float64(c))


def chebyshev(low, high, count=600):
    k = np.arange(count)
    return (low + high) / 2 + (high - low) / 2 * np.cos((2 * k + 1) * np.pi / (2 * count))


def fit(x, y, weight, degree):
    coefficients, rest = [], y.copy()
    for k in range(degree + 1):
        powers = np.vander(x, degree + 1, increasing=True)[:, k:]
        lawson = np.ones_like(x)
        for _ in range(150):
            scale = np.sqrt(lawson) * weight
            c, *_ = np.linalg.lstsq(powers * scale[:, None], rest * scale, rcond=None)
            lawson = lawson * np.abs((powers @ c - rest) * weight) + 1e-300
            lawson /= lawson.sum()
        coefficients.append(float(F32(c[0])))
        rest = rest - coefficients[-1] * x**k
    return coefficients


def horner(coefficients, x):
    out = np.full_like(x, F32(coefficients[-1]))
    for c in coefficients[-2::-1]:
        out = fused(out, x, F32(c))
    return out


def report(name, coefficients, got, want):
    ulp = np.spacing(np.abs(F32(want))).astype(np.float64)
    print(f"{name}: {np.nanmax(np.abs(got - want) / ulp):.2f} ulp", [c.hex() for c in coefficients])


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    x = chebyshev(1e-4, 0.95)
    c = fit(x * x, erf(x) / x - 1, x / erf(x), 6)
    s = np.linspace(-0.95, 0.95, 400001).astype(F32)
    report("erf near", c, fused(horner(c, F32(s * s)), s, s), erf(s.astype(np.float64)))

    x = chebyshev(0.93, 4.0)
    c = fit(x, np.log2(erfc(x)), erfc(x), 6)
    s = np.linspace(0.95, 4, 400001).astype(F32)
    report("erf far", c, F32(F32(1) - F32(np.exp2(horner(c, s).astype(np.float64)))), erf(s.astype(np.float64)))

    x = chebyshev(1e-3, 0.6)
    t = x * x
    c = fit(t, (np.tanh(x) / x - 1) / t, t * x / np.tanh(x), 4)
    s = np.linspace(-0.6, 0.6, 400001).astype(F32)
    u = F32(s * s)
    report("tanh near", c, fused(F32(horner(c, u) * u), s, s), np.tanh(s.astype(np.float64)))


if __name__ == "__main__":
    main()
