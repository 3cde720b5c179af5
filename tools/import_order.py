"""Cases of tools/check_import.py for order statistics, searches, triangular systems, resizing: see import_cases.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

R = torch.randn
Cases = dict[str, tuple[Any, tuple]]


def with_nans(x: torch.Tensor) -> torch.Tensor:
    x[0, 1] = x[0, 3] = x[2, 0] = float("nan")
    x[3] = float("nan")
    return x


def median_cases() -> Cases:
    x, broken, whole = R(5, 8), with_nans(R(4, 7)), torch.randperm(30).view(5, 6)
    return {
        "median": (lambda x: tuple(x.median(1)), (x,)),
        "median_of_odd_rows": (lambda x: x.median(0, keepdim=True), (x,)),
        "median_of_all": (lambda x: x.median() * 2, (x,)),
        "median_of_integers": (lambda x: (*x.median(-1), x.median()), (whole,)),
        "median_with_nans": (lambda x: (*x.median(1), x.median()), (broken,)),
        "median_of_one": (lambda x: (*x.median(1), x[0, 0].median()), (R(3, 1),)),
        "median_of_heads": (lambda x: x.view(5, 2, 4).median(1).values, (x,)),
        "nanmedian": (lambda x: (x.nanmedian(1).values, x.nanmedian(0, keepdim=True).values), (broken,)),
        "nanmedian_of_all": (lambda x: x.nanmedian(), (broken,)),
        "nanmedian_place": (lambda x: x[:3].nanmedian(1).indices, (broken,)),
        "deviation_from_the_median": (lambda x: (x - x.median(1, keepdim=True).values).abs().median(1).values, (x,)),
    }


def quantile_cases() -> Cases:
    x, broken, q = R(5, 8), with_nans(R(4, 7)), torch.tensor([0.0, 0.25, 0.9, 1.0])
    ways = ("linear", "lower", "higher", "nearest", "midpoint")
    by_way = {
        f"quantile_{way}": (
            lambda x, q, way=way: (
                x.quantile(0.37, dim=1, interpolation=way),
                x.quantile(q, dim=0, keepdim=True, interpolation=way),
            ),
            (x, q),
        )
        for way in ways
    }
    infinite = R(3, 5)
    infinite[0, 1], infinite[1, 2] = float("inf"), -float("inf")
    return {
        **by_way,
        "quantile_of_all": (lambda x: (x.quantile(0.5), x.quantile(0.1, keepdim=True)), (x,)),
        "quantile_with_nans": (lambda x, q: (x.quantile(0.3, 1), x.quantile(q, 0)), (broken, q)),
        "quantile_of_f32": (lambda x: x.quantile(0.1, 1), (torch.arange(33.0).float().view(3, 11),)),
        "quantile_infinite": (lambda x: (x.quantile(0.4, 1), x.quantile(0.9, 1)), (infinite,)),
        "quantile_listed": (lambda x: x.quantile(torch.tensor([0.25, 0.5, 0.75]), dim=-1), (x,)),
        "quantile_of_one": (lambda x: x.quantile(0.7, 1), (R(3, 1),)),
        "nanquantile": (lambda x, q: (x.nanquantile(0.3, 1), x.nanquantile(q, 0)), (broken, q)),
        "robust_scale": (lambda x: (x - x.quantile(0.5)) / (x.quantile(0.75) - x.quantile(0.25)), (x,)),
        "mode": (lambda x: torch.mode(x, 1).values, (torch.randint(0, 4, (5, 9)),)),
        "mode_places": (lambda x: torch.mode(x, 0), (torch.randint(0, 3, (7, 5)),)),
        "mode_of_reals": (lambda x: torch.mode(x.round(), -1, keepdim=True).values, (x,)),
    }


def search_cases() -> Cases:
    edges, x, rows = R(9).sort().values, R(3, 4), R(3, 6).sort().values
    ties = torch.tensor([0.0, 1.0, 1.0, 2.0, 5.0])
    order = torch.randperm(9)
    return {
        "searchsorted": (lambda e, x: (torch.searchsorted(e, x), torch.searchsorted(e, x, right=True)), (edges, x)),
        "searchsorted_rows": (lambda e, x: torch.searchsorted(e, x), (rows, x)),
        "searchsorted_ties": (
            lambda e, x: (torch.searchsorted(e, x), torch.searchsorted(e, x, side="right")),
            (ties, torch.tensor([1.0, 0.0, 5.0, 6.0, -1.0])),
        ),
        "searchsorted_number": (lambda e: torch.searchsorted(e, 0.3, out_int32=True), (edges,)),
        "searchsorted_with_order": (
            lambda e, x, o: torch.searchsorted(e, x, sorter=o),
            (edges[order], x, order.argsort()),
        ),
        "searchsorted_integers": (lambda e, i: torch.searchsorted(e, i), (torch.arange(0, 20, 3), torch.arange(15))),
        "bucketize_number": (lambda e: torch.bucketize(0.1, e, right=True), (edges,)),
        "interpolated_table": (interpolated, (edges, R(9), x * 0.5)),
        "isin": (torch.isin, (torch.arange(12).view(3, 4), torch.tensor([[3, 7], [11, 40]]))),
        "isin_number": (lambda i: torch.isin(i, 4, invert=True), (torch.arange(6),)),
        "isin_reals": (lambda x: torch.isin(x.round(), torch.tensor([0.0, 1.0])), (x,)),
        "histc": (lambda x: torch.histc(x, bins=5, min=-1, max=2), (R(40),)),
        "histc_of_all": (lambda x: torch.histc(x, bins=7), (R(6, 9),)),
        "histc_of_equal_ones": (lambda x: x.histc(4), (torch.ones(5),)),
        "histc_ends": (lambda x: torch.histc(x, 4, 0, 1), (torch.tensor([0.0, 0.25, 0.5, 1.0, 1.1, -0.1, 0.75]),)),
        "histc_of_f32": (lambda x: torch.histc(x, 10, 0, 1), (torch.arange(0, 1.05, 0.1).float(),)),
        "bincount": (lambda i: torch.bincount(i, minlength=5) + torch.arange(5), (torch.tensor([0, 3, 3, 1, 4, 0]),)),
        "bincount_weighed": (
            lambda i, w: torch.bincount(i, w, minlength=4) / torch.ones(4),
            (torch.tensor([0, 3, 3, 1]), R(4)),
        ),
        "topk_unsorted": (lambda x: x.topk(3, sorted=False).values.sum(-1), (x,)),
    }


def interpolated(edges: torch.Tensor, values: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    i = (torch.searchsorted(edges, x) - 1).clamp(0, len(edges) - 2)
    t = (x - edges[i]) / (edges[i + 1] - edges[i])
    return torch.lerp(values[i], values[i + 1], t)


def solve_cases() -> Cases:
    a, b = R(5, 5) + 5 * torch.eye(5), R(5, 3)
    solve = torch.linalg.solve_triangular
    return {
        "solve_lower": (lambda a, b: solve(a, b, upper=False), (a, b)),
        "solve_upper": (lambda a, b: solve(a, b, upper=True), (a, b)),
        "solve_from_the_right": (lambda a, b: solve(a, b.T, upper=False, left=False), (a, b)),
        "solve_upper_from_the_right": (lambda a, b: solve(a, b.T, upper=True, left=False), (a, b)),
        "solve_with_ones": (lambda a, b: solve(a, b, upper=False, unitriangular=True), (a, b)),
        "solve_transposed": (lambda a, b: solve(a.mT, b, upper=True) + 1, (a, b)),
        "solve_many": (lambda a, b: solve(a, b, upper=False), (R(2, 1, 4, 4) + 4 * torch.eye(4), R(3, 4, 2))),
        "solve_shared": (lambda a, b: solve(a, b, upper=True), (a, R(2, 5, 3))),
        "solve_one": (lambda a, b: solve(a, b, upper=False), (a[:1, :1], b[:1])),
        "triangular_solve": (lambda a, b: torch.triangular_solve(b, a)[0], (a, b)),
        "triangular_solve_transposed": (lambda a, b: torch.triangular_solve(b, a, transpose=True)[0], (a, b)),
        "mahalanobis": (lambda a, x: solve(a, x.T, upper=False).square().sum(0), (a, R(7, 5))),
    }


def resize_cases() -> Cases:
    def smooth(mode: str, **given: Any) -> Any:
        return lambda x: F.interpolate(x, mode=mode, antialias=True, **given)

    x = R(2, 3, 9, 7)
    return {
        "smooth_half": (smooth("bilinear", scale_factor=0.5), (x,)),
        "smooth_size": (smooth("bilinear", size=(4, 5)), (x,)),
        "smooth_larger": (smooth("bilinear", size=(13, 20)), (x,)),
        "smooth_corners": (smooth("bilinear", size=(4, 3), align_corners=True), (x,)),
        "smooth_cubic": (smooth("bicubic", size=(4, 5)), (x,)),
        "smooth_cubic_factor": (smooth("bicubic", scale_factor=(0.4, 1.7)), (x,)),
        "smooth_cubic_corners": (smooth("bicubic", size=(5, 9), align_corners=True), (x,)),
        "smooth_kept_row": (smooth("bilinear", size=(9, 3)), (x,)),
        "smooth_to_one": (smooth("bilinear", size=(1, 1)), (x,)),
        "smooth_of_one": (smooth("bicubic", size=(3, 2)), (R(1, 2, 1, 7),)),
        "smooth_recomputed": (smooth("bilinear", scale_factor=0.6, recompute_scale_factor=True), (x,)),
    }


def order_cases() -> Cases:
    return median_cases() | quantile_cases() | search_cases() | solve_cases() | resize_cases()
