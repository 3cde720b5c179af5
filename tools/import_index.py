"""Cases of tools/check_import.py that read, write, rank and draw: see import_cases.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn


def whole(*values: Any) -> torch.Tensor:
    return torch.tensor(values)


def index_cases() -> dict[str, tuple[Any, tuple]]:
    i, j = whole(2, 0, -1, 2), whole(1, 4, -5, 0)
    grid = torch.tensor([[0, 3], [2, 1], [1, 1]])
    return {
        "index_of_one_axis": (lambda x, i: x[i], (R(3, 5), i)),
        "index_of_a_later_axis": (lambda x, i: x[:, i], (R(2, 3, 5), i)),
        "index_of_two_axes": (lambda x, i, j: x[i, j], (R(3, 5, 2), i, j)),
        "index_of_axes_apart": (lambda x, i, j: x[i, :, j], (R(3, 2, 5), i, j)),
        "index_by_a_matrix": (lambda x, g: x[g], (R(4, 3), grid)),
        "index_that_broadcasts": (lambda x, i, j: x[i[:, None], j], (R(3, 5), i, j)),
        "index_by_a_range": (lambda x: x[:, torch.arange(1, 4)], (R(2, 5),)),
        "index_into_a_view": (lambda x, i: x.view(2, 3, 4).transpose(0, 1)[i], (R(6, 4), i)),
        "repeat_interleave": (lambda x: x.repeat_interleave(3, dim=1), (R(2, 4, 3),)),
        "repeat_interleave_flat": (lambda x: x.repeat_interleave(2), (R(2, 3),)),
        "write_one_axis": (lambda x, i, v: x.index_put((i[:2],), v), (R(3, 5), i, R(2, 5))),
        "write_two_axes": (lambda x, i, j, v: x.index_put((i[:3], j[:3]), v), (R(3, 5), i, j, R(3))),
        "write_axes_apart": (lambda x, i, j, v: apart(x, i[:3], j[:3], v), (R(3, 2, 5), i, j, R(3, 2))),
        "write_twice": (lambda x, i, v: x.index_put((i,), v), (R(3, 2), i, R(4, 2))),
        "write_one_number": (lambda x, i: x.index_put((i,), torch.tensor(0.5, dtype=x.dtype)), (R(3, 2), i)),
        "write_a_row": (lambda x, i, v: x.index_put((i,), v), (R(3, 2), i, R(2))),
        "write_by_a_matrix": (lambda x, g, v: x.index_put((g,), v), (R(4, 3), grid[:2], R(2, 2, 3))),
        "write_and_add": (lambda x, i, v: x.index_put((i,), v, accumulate=True), (R(3, 2), i, R(4, 2))),
        "assign_in_place": (lambda x, i: x.clone().index_put_((i,), x[:1] * 2), (R(3, 2), i)),
        "select_scatter": (lambda x, v: x.select_scatter(v, 1, -2), (R(3, 4, 2), R(3, 2))),
        "assign_a_column": (lambda x, v: assigned(x, v), (R(3, 4), R(3))),
        "slice_scatter": (lambda x, v: x.slice_scatter(v, 1, 1, 3), (R(3, 4, 2), R(3, 2, 2))),
        "slice_scatter_from_the_end": (lambda x, v: x.slice_scatter(v, 0, -2), (R(5, 2), R(2, 2))),
        "slice_scatter_with_steps": (lambda x, v: x.slice_scatter(v, 1, 1, 7, 3), (R(2, 8), R(2, 2))),
        "scatter": (lambda x, i, v: x.scatter(0, i, v), (R(4, 3), grid.new_tensor([[0, 3, 2], [2, 1, 0]]), R(2, 3))),
        "scatter_a_corner": (lambda x, i, v: x.scatter(1, i, v), (R(4, 5), grid, R(4, 3))),
        "scatter_twice": (lambda x, i, v: x.scatter(1, i, v), (R(2, 5), whole([3, 3, 1], [0, 4, 0]), R(2, 3))),
        "scatter_a_number": (lambda x, i: x.scatter(1, i, 0.25), (R(3, 4), grid)),
        "one_hot": (lambda i: torch.zeros(4, 6, dtype=torch.float64).scatter(1, i[:, None], 1.0), (whole(5, 0, 2, 2),)),
        "scatter_add": (lambda x, i, v: x.scatter_add(1, i, v), (R(3, 4), grid, R(3, 2))),
        "scatter_reduce_prod": (lambda x, i, v: x.scatter_reduce(1, i, v, "prod"), (R(3, 4), grid, R(3, 2))),
        "scatter_reduce_amax": (
            lambda x, i, v: x.scatter_reduce(1, i, v, "amax", include_self=False),
            (R(3, 4), grid, R(3, 2)),
        ),
        "scatter_reduce_amin": (lambda x, i, v: x.scatter_reduce(1, i, v, "amin"), (R(3, 4), grid, R(3, 2))),
        "index_add": (lambda x, i, v: x.index_add(1, i, v, alpha=0.5), (R(2, 3), whole(2, 0, 2), R(2, 3))),
        "index_copy": (lambda x, i, v: x.index_copy(0, i, v), (R(4, 3), whole(2, 0), R(2, 3))),
        "index_fill": (lambda x, i: x.index_fill(1, i, -1.5), (R(2, 4), whole(3, -4))),
        "sort": (lambda x: x.sort(dim=1), (R(3, 6),)),
        "sort_downwards": (lambda x: x.sort(dim=0, descending=True), (R(5, 2, 3),)),
        "stable_sort_of_equal_ones": (lambda x: x.round().sort(dim=-1, stable=True), (R(2, 9),)),
        "argsort": (lambda x: x.argsort(dim=1), (R(3, 6),)),
        "topk": (lambda x: x.topk(3, dim=1), (R(2, 6, 2),)),
        "topk_of_the_smallest": (lambda x: x.topk(1, largest=False), (R(2, 6),)),
        "kthvalue": (lambda x: x.kthvalue(2, dim=0), (R(5, 3),)),
        "kthvalue_kept": (lambda x: x.kthvalue(4, dim=1, keepdim=True), (R(2, 5),)),
        "sort_of_heads": (lambda x: x.view(2, 12).sort(dim=1).values, (R(2, 3, 4),)),
        "max_pool1d_indices": (nn.MaxPool1d(3, 2, 1, return_indices=True), (R(2, 3, 9),)),
        "max_pool2d_indices": (nn.MaxPool2d((3, 2), (2, 1), (1, 0), return_indices=True), (R(2, 3, 7, 6),)),
        "max_pool2d_indices_dilated": (nn.MaxPool2d(2, 2, dilation=2, return_indices=True), (R(3, 7, 8),)),
        "max_pool2d_indices_ceil": (nn.MaxPool2d(3, 2, ceil_mode=True, return_indices=True), (R(1, 2, 6, 8),)),
        "max_pool3d_indices": (nn.MaxPool3d(2, return_indices=True), (R(1, 2, 4, 6, 4),)),
        "max_pool2d_indices_of_equal_ones": (nn.MaxPool2d(2, return_indices=True), (R(2, 3, 6, 6).round(),)),
        "adaptive_max_pool2d_indices": (nn.AdaptiveMaxPool2d((3, 2), return_indices=True), (R(2, 3, 7, 6),)),
        "adaptive_max_pool1d_indices": (nn.AdaptiveMaxPool1d(1, return_indices=True), (R(2, 3, 7),)),
        "max_unpool2d": (Unpool(), (R(2, 3, 6, 4),)),
        "sinh": (torch.sinh, (R(3, 4) * 0.01,)),
        "cosh": (torch.cosh, (R(3, 4),)),
        "tan": (torch.tan, (R(3, 4),)),
        "sinh_of_large": (torch.sinh, (R(3, 4) * 300,)),
        "cosh_of_large": (torch.cosh, (R(3, 4) * 300,)),
        "asinh": (torch.asinh, (R(3, 4) * 3,)),
        "asinh_of_large": (torch.asinh, (R(3, 4) * 1e200,)),
        "acosh": (torch.acosh, (R(3, 4).abs() + 1,)),
        "acosh_of_large": (torch.acosh, (R(3, 4).abs() * 1e200 + 1,)),
        "atanh": (torch.atanh, (torch.rand(3, 4) * 1.8 - 0.9,)),
        "erfc": (torch.erfc, (R(3, 4),)),
        "isinf": (lambda x: (x / 0).isinf(), (R(3, 4).relu(),)),
        "dropout": (nn.Dropout(0.3), (R(3, 4),)),
        "dropout_of_everything": (nn.Dropout(1.0), (R(3, 4),)),
        "dropout_twice": (nn.Sequential(nn.Dropout(0.25), nn.Linear(4, 5), nn.Dropout(0.5)), (R(3, 4),)),
        "dropout2d": (nn.Dropout2d(0.5), (R(2, 3, 4, 2),)),
        "alpha_dropout": (nn.AlphaDropout(0.2), (R(3, 4),)),
        "noise": (lambda x: x + torch.randn_like(x) * torch.rand(4, dtype=x.dtype), (R(3, 4),)),
        "drawn_integers": (lambda x: x * torch.randint(2, 7, (3, 1)), (R(3, 4),)),
        "drawn_in_place": (
            lambda x: x + torch.empty_like(x).uniform_(-1, 2) * torch.empty_like(x).exponential_(0.5),
            (R(3, 4),),
        ),
        "drawn_zeros_and_ones": (lambda x: x * torch.empty_like(x).bernoulli_(0.4), (R(3, 4),)),
        "upsample_nearest": (nn.Upsample(scale_factor=2, mode="nearest"), (R(2, 3, 4, 3),)),
        "upsample_bilinear": (nn.Upsample(scale_factor=2, mode="bilinear"), (R(2, 3, 4, 3),)),
        "multilabel_margin_of_one": (lambda x, t: F.multilabel_margin_loss(x, t), (R(5), whole(3, 0, -1, 1, 4))),
        "multilabel_margin_of_one_none": (
            lambda x, t: F.multilabel_margin_loss(x, t, reduction="none"),
            (R(5), whole(3, 0, -1, 1, 4)),
        ),
    }


def assigned(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, 2] = v
    y[0] = 0
    return y


def apart(x: torch.Tensor, i: torch.Tensor, j: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i, :, j] = v
    return y


class Unpool(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.unpool(*self.pool(x))
