"""Cases of tools/check_import.py for operators that few modules call: see import_cases.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn
Cases = dict[str, tuple[Any, tuple]]


def picked(*rows: Any) -> torch.Tensor:
    return torch.tensor(rows)


def function_cases() -> Cases:
    x, y = R(3, 5), R(3, 5)
    special = torch.tensor([[0.0, 1.0, -1.0, float("inf"), float("nan")]])
    return {
        "atan": (torch.atan, (x * 3,)),
        "atan_of_integers": (torch.atan, (torch.arange(-3, 4),)),
        "asin": (torch.asin, (torch.rand(3, 5) * 2 - 1,)),
        "acos": (torch.acos, (torch.rand(3, 5) * 2 - 1,)),
        "asin_at_the_ends": (lambda x: (x.asin(), x.acos(), x.atan()), (special,)),
        "atan2": (torch.atan2, (x, y)),
        "atan2_broadcast": (lambda x, y: torch.atan2(x, y[:, :1]).amin(-1), (x, y)),
        "atan2_special": (lambda x, y: torch.atan2(x + 0.0, y.T), (special, special)),
        "hypot": (torch.hypot, (x, y)),
        "hypot_of_large": (torch.hypot, (x * 1e200, y * 1e200)),
        "hypot_special": (lambda x: torch.hypot(x, x.T)[:4, :4], (special,)),
        "erfinv": (torch.erfinv, (torch.rand(4, 9) * 2 - 1,)),
        "erfinv_at_the_ends": (torch.erfinv, (torch.tensor([1.0, -1.0, 0.0, 2.0, 1 - 1e-12, -0.5, 1e-9]),)),
        "lgamma": (torch.lgamma, (x * 4 + 0.1,)),
        "lgamma_special": (lambda x: torch.lgamma(x), (torch.tensor([0.0, 1.0, 2.0, -1.0, 100.0, float("inf")]),)),
        "mvlgamma": (lambda x: torch.mvlgamma(x, 3), (x.abs() + 2,)),
        "fmax": (lambda x, y: torch.fmax(x, y), (special, special.T)),
        "fmin": (lambda x, y: torch.fmin(x, y), (special, special.T)),
        "angle_of_vectors": (lambda x, y: torch.rad2deg(torch.acos(F.cosine_similarity(x, y, -1))), (x, y)),
    }


def nearest_cases() -> Cases:
    def scaled(*factors: float, mode: str = "nearest") -> Any:
        return lambda x: F.interpolate(x, scale_factor=factors if len(factors) > 1 else factors[0], mode=mode)

    return {
        "nearest_kept_height": (scaled(1.3, 1.5), (R(2, 3, 3, 4),)),
        "nearest_kept_width": (scaled(1.5, 1.1), (R(2, 3, 4, 7),)),
        "nearest_kept_both": (scaled(1.2, 1.1), (R(1, 2, 4, 7),)),
        "nearest_smaller_factor": (scaled(0.5, 1.1), (R(1, 2, 4, 7),)),
        "nearest_doubled_by_a_fraction": (scaled(2.3, 2.1), (R(1, 2, 3, 7),)),
        "nearest_kept_row": (scaled(1.3), (R(2, 3, 3),)),
        "nearest_doubled_row": (scaled(2.3), (R(2, 3, 3),)),
        "nearest_kept_depth": (scaled(1.3, 1.0, 1.5), (R(1, 2, 3, 2, 4),)),
        "nearest_exact_kept": (scaled(1.3, 1.5, mode="nearest-exact"), (R(2, 3, 3, 4),)),
        "nearest_kept_by_size": (lambda x: F.interpolate(x, size=(3, 6), mode="nearest"), (R(2, 3, 3, 4),)),
    }


def spread_cases() -> Cases:
    x = R(4, 6)
    flat = torch.ones(3, 4)
    return {
        "var_with_nothing_left": (lambda x: (x.var(1, correction=6), x.var(1, correction=9)), (x,)),
        "std_with_nothing_left": (lambda x: torch.std(x, -1, correction=7, keepdim=True), (x,)),
        "var_of_equal_ones": (lambda x: (x.var(1, correction=4), x.std(0, correction=5)), (flat,)),
        "var_of_one": (lambda x: x.var(1), (R(3, 1),)),
        "var_of_all": (lambda x: x.var((0, 1), correction=24), (x,)),
        "var_mean_with_nothing_left": (lambda x: torch.var_mean(x, 0, correction=4), (x,)),
        "std_mean_with_nothing_left": (lambda x: torch.std_mean(x, (0, 1), correction=30, keepdim=True), (x,)),
        "var_with_a_fraction": (lambda x: x.var(1, correction=2.5), (x,)),
        "cov": (torch.cov, (R(5, 9),)),
        "cov_of_one_row": (torch.cov, (R(9),)),
        "cov_biased": (lambda x: x.cov(correction=0), (R(3, 4),)),
        "cov_with_nothing_left": (lambda x: torch.cov(x, correction=4), (R(3, 4),)),
        "cov_of_counts": (lambda x, f: torch.cov(x, fweights=f), (R(3, 4), picked(1, 2, 3, 1))),
        "cov_weighed": (lambda x, f, a: torch.cov(x, fweights=f, aweights=a), (R(3, 4), picked(1, 2, 3, 1), R(4) ** 2)),
        "corrcoef": (torch.corrcoef, (R(5, 9),)),
        "corrcoef_of_one_row": (lambda x: x.corrcoef(), (R(9),)),
    }


def count_cases() -> Cases:
    x = R(6, 33)
    x[:, 0] = 1.0
    ids = picked([3, 0, 0, 2], [0, 1, 0, 0])
    return {
        "gather_count": (lambda x: x.gather(1, (x > 0).sum(1, keepdim=True) - 1), (x,)),
        "gather_count_of_rows": (lambda x: x.gather(0, ((x > 0).sum(0, keepdim=True) - 1).clamp(min=0)), (x,)),
        "take_along_count": (lambda x: x.take_along_dim((x[:, :5] > 0).sum(-1, keepdim=True), -1), (x,)),
        "index_by_count": (lambda x: x[torch.arange(6), (x > 0).sum(1) - 1], (x,)),
        "select_by_count": (lambda x: x.index_select(1, (x > 0).sum(1) - 1), (x,)),
        "positions_of_tokens": (lambda i, w: F.embedding((i != 0).cumsum(1) * (i != 0) + 1, w), (ids, R(6, 3))),
        "positions_before": (lambda i, w: F.embedding((i != 0).cumsum(1) - 1, w), (ids + picked([1], [1]), R(4, 3))),
        "gather_product": (lambda m, x: x.gather(1, m.long().prod(1, keepdim=True)), (x > -9, x)),
        "class_of_a_count": (lambda x: F.cross_entropy(x, (x > 0).sum(1) - 1), (x,)),
    }


def write_cases() -> Cases:
    x, i = R(9, 5), torch.randint(0, 5, (9, 5))
    base, whole = R(6, 5), torch.randint(-20, 20, (9, 5))
    scattered = torch.Tensor.scatter_reduce
    return {
        "scatter_mean": (lambda b, i, x: scattered(b, 0, i, x, "mean"), (base, i, x)),
        "scatter_mean_alone": (lambda b, i, x: scattered(b, 0, i, x, "mean", include_self=False), (base, i, x)),
        "scatter_mean_of_integers": (lambda b, i, x: scattered(b, 0, i, x, "mean"), (whole[:6].clone(), i, whole)),
        "scatter_mean_along_rows": (lambda b, i, x: scattered(b, -1, i, x, "mean"), (R(9, 7), i, x)),
        "scatter_amax": (lambda b, i, x: scattered(b, 0, i, x, "amax"), (base, i, x)),
        "scatter_amin_alone": (lambda b, i, x: scattered(b, 0, i, x, "amin", include_self=False), (base, i, x)),
        "scatter_sum_alone": (lambda b, i, x: scattered(b, 0, i, x, "sum", include_self=False), (base, i, x)),
        "scatter_multiply": (lambda b, i, x: b.scatter(0, i, x, reduce="multiply"), (base, i, x)),
        "scatter_plus": (lambda b, i, x: b.scatter(-2, i, x, reduce="add"), (base, i, x)),
        "scatter_numbers_multiplied": (lambda b, i: b.scatter(0, i, 1.5, reduce="multiply"), (base, i)),
        "scatter_numbers_added": (lambda b, i: b.scatter(0, i, 1.5, reduce="add"), (base, i)),
        "index_reduce_mean": (lambda b, i, x: b.index_reduce(0, i, x, "mean"), (base, picked(0, 2, 2), R(3, 5))),
        "index_reduce_amax": (
            lambda b, i, x: b.index_reduce(-1, i, x, "amax", include_self=False),
            (base, picked(0, 2, 2), R(6, 3)),
        ),
        "index_reduce_prod": (lambda b, i, x: b.index_reduce(0, i, x, "prod"), (base, picked(5, 2, 5), R(3, 5))),
    }


class Bag(nn.Module):
    def __init__(self, mode: str, **given: Any) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(20, 8, mode=mode, **given)

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        return self.bag(*args)


def bag_cases() -> Cases:
    i, start = torch.randint(0, 20, (16,)), picked(0, 3, 3, 9)
    return {
        "bag_mean": (Bag("mean"), (i, start)),
        "bag_sum": (Bag("sum"), (i, start)),
        "bag_max": (Bag("max"), (i, start)),
        "bag_weighed": (Bag("sum"), (i, start, R(16))),
        "bag_of_rows": (Bag("mean"), (i.view(4, 4),)),
        "bag_with_last": (Bag("mean", include_last_offset=True), (i, picked(0, 3, 3, 16))),
        "bag_with_padding": (Bag("mean", padding_idx=3), (i.clamp(2, 4), start)),
        "bag_of_f32": (nn.EmbeddingBag.from_pretrained(torch.arange(40.0).view(20, 2).float(), mode="sum"), (i, start)),
        "bag_of_int32": (Bag("max"), (i.int(), start.int())),
    }


def masked_cases() -> Cases:
    text, image = R(2, 10, 4), R(6, 4)
    ids = torch.randint(0, 6, (2, 10))
    ids[:, 2:5] = 7
    return {
        "masked_scatter_tokens": (
            lambda t, v, i: t.masked_scatter((i == 7)[..., None].expand_as(t), v),
            (text, image, ids),
        ),
        "masked_scatter_rows": (lambda x, v: x.masked_scatter(x > 0.3, v), (R(4, 5), R(20))),
        "masked_scatter_broadcast": (lambda x, m, v: x.masked_scatter(m, v), (R(3, 4), R(4) > 0, R(3, 4))),
        "masked_scatter_nothing": (lambda x, v: x.masked_scatter(x > 99, v), (R(4, 5), R(2))),
        "masked_scatter_of_a_view": (lambda x, v: x.T.masked_scatter(x.T > 0, v), (R(4, 5), R(5, 4))),
        "masked_scatter_integers": (
            lambda x, v: x.masked_scatter(x > 0, v),
            (torch.randint(-5, 5, (3, 4)), torch.arange(12)),
        ),
    }


def product_cases() -> Cases:
    s, a, b = R(6, 5), R(3, 6, 4), R(3, 4, 5)
    return {
        "addbmm": (lambda s, a, b: torch.addbmm(s, a, b), (s, a, b)),
        "addbmm_scaled": (lambda s, a, b: torch.addbmm(s, a, b, alpha=0.5, beta=2.0), (s, a, b)),
        "addbmm_of_a_row": (lambda s, a, b: torch.addbmm(s, a, b, beta=0.5), (R(5), a, b)),
        "addbmm_alone": (lambda s, a, b: torch.addbmm(s, a, b, beta=0), (s, a, b)),
        "pdist": (lambda x: F.pdist(x, 2.0), (R(7, 4),)),
        "pdist_of_two": (lambda x: F.pdist(x), (R(2, 4),)),
        "pdist_of_ones": (lambda x: F.pdist(x, 1.0), (R(5, 3),)),
        "pdist_of_thirds": (lambda x: F.pdist(x, 3.0), (R(5, 3),)),
        "pdist_farthest": (lambda x: F.pdist(x, float("inf")), (R(5, 3),)),
        "pdist_differences": (lambda x: F.pdist(x.round(), 0.0), (R(5, 3),)),
    }


class Turned(nn.Module):
    """Rotary positions by complex products."""

    def __init__(self) -> None:
        super().__init__()
        f = 1.0 / 10000 ** (torch.arange(0, 8, 2).to(torch.get_default_dtype()) / 8)
        angles = torch.outer(torch.arange(16).to(f.dtype), f)
        self.register_buffer("turn", torch.polar(torch.ones_like(angles), angles))

    def forward(self, q: torch.Tensor) -> torch.Tensor:
        z = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2))
        return torch.view_as_real(z * self.turn[None, : q.shape[1], None]).flatten(3)


def parts(z: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(z)


def complex_cases() -> Cases:
    x, y, pairs, others = R(3, 4), R(3, 4), R(3, 4, 2), R(3, 4, 2)
    of = torch.view_as_complex
    return {
        "complex_rotary": (Turned(), (R(2, 9, 3, 8),)),
        "complex_product": (lambda a, b: parts(of(a) * of(b)), (pairs, others)),
        "complex_quotient": (lambda a, b: parts(of(a) / of(b)), (pairs, others)),
        "complex_sum": (lambda a, x: parts(of(a) + x - of(a).conj()), (pairs, x)),
        "complex_made": (lambda x, y: parts(torch.complex(x, y).T * 2), (x, y)),
        "complex_polar": (lambda x, y: parts(torch.polar(x.abs(), y)), (x, y)),
        "complex_parts": (lambda a: of(a).real * 2 + of(a).imag, (pairs,)),
        "complex_size": (lambda a: (of(a).abs(), of(a).angle()), (pairs,)),
        "complex_views": (lambda a: parts(-of(a)[:, 1:].transpose(0, 1).unsqueeze(0).reshape(3, 3)), (pairs,)),
        "complex_number": (lambda x: parts(x * 1j + (2 - 1j)), (x,)),
        "complex_exponential": (lambda x: parts(torch.exp(1j * x)), (x,)),
        "complex_widened": (lambda x, a: parts(x.to(torch.complex128) * of(a)), (x, pairs)),
    }


def rare_cases() -> Cases:
    return {
        **function_cases(),
        **nearest_cases(),
        **spread_cases(),
        **count_cases(),
        **write_cases(),
        **bag_cases(),
        **masked_cases(),
        **product_cases(),
        **complex_cases(),
    }
