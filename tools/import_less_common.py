"""Cases of tools/check_import.py for operators that are met less often: see import_cases.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

R = torch.randn


def index_kinds() -> dict[str, tuple[Any, tuple]]:
    rows, few = R(5) > 0, torch.tensor([[True, False, True], [False, False, True]])
    return {
        "mask_gets_a_number": (lambda x: masked(x, x > 0.5, 0), (R(3, 4),)),
        "mask_of_rows_gets_a_row": (lambda x, v: masked(x, x[:, 0] > 0, v), (R(5, 4), R(4))),
        "mask_of_two_axes": (lambda x, v: masked(x, few, v), (R(2, 3, 4), R(1, 4))),
        "mask_of_a_later_axis": (lambda x, v: later_masked(x, rows, v), (R(2, 5, 3), R(2, 1, 3))),
        "mask_adds": (lambda x, v: x.index_put((few,), v, accumulate=True), (R(2, 3, 4), R(4))),
        "mask_of_bytes": (lambda x, m, v: x.index_put((m,), v), (R(5, 4), rows.to(torch.uint8), R(4))),
        "mask_of_heads": (lambda x: masked(x.view(2, 3, 4), few, -1.0), (R(2, 12),)),
        "one_hot_classes": (lambda i: F.one_hot(i, 5), (torch.tensor([[0, 4], [3, 3], [1, 0]]),)),
        "one_hot_times": (lambda i, w: F.one_hot(i, 5).to(w.dtype) @ w, (torch.tensor([2, 0, 4]), R(5, 3))),
        "fill_diagonal": (lambda x: x.clone().fill_diagonal_(2.5), (R(4, 5),)),
        "fill_diagonal_high": (lambda x: x.clone().fill_diagonal_(2.5), (R(5, 3),)),
        "fill_diagonal_of_a_cube": (lambda x: x.clone().fill_diagonal_(-1), (R(3, 3, 3),)),
        "diagonal_written": (lambda x, v: torch.diagonal_scatter(x, v, -1, 2, 0), (R(4, 3, 5), R(3, 4))),
        "diagonal_above_written": (lambda x, v: torch.diagonal_scatter(x, v, 2), (R(4, 5), R(3))),
        "as_strided": (lambda x: x.as_strided((2, 3), (5, 1), 1) * 2, (R(3, 5),)),
        "as_strided_windows": (lambda x: x.as_strided((4, 3), (1, 1)), (R(6),)),
        "as_strided_written": (lambda x, v: x.as_strided_scatter(v, (2, 3), (5, 1), 1), (R(3, 5), R(2, 3))),
    }


def window_kinds() -> dict[str, tuple[Any, tuple]]:
    return {
        "unfold_an_axis": (lambda x: x.unfold(1, 3, 2), (R(3, 8),)),
        "unfold_of_one": (lambda x: x.unfold(1, 1, 2).exp(), (R(3, 8),)),
        "unfold_once": (lambda x: x.unfold(0, 8, 1) * 2, (R(8, 3),)),
        "unfold_twice": (lambda x: x.T.unfold(0, 3, 2).unfold(1, 2, 1).sum((-1, -2)), (R(4, 8),)),
        "unfold_of_heads": (lambda x: x.view(2, 12).unfold(1, 5, 3).exp(), (R(2, 3, 4),)),
    }


def scan_kinds() -> dict[str, tuple[Any, tuple]]:
    ties = R(3, 9).round()
    ties[0, 2] = ties[0, 5] = float("nan")
    infinite = torch.tensor(
        [[1.0, -float("inf"), 2.0, float("inf"), 1.0], [-float("inf"), -float("inf"), 2.0, 0.0, 1.0]]
    )
    return {
        "cummax": (lambda x: tuple(torch.cummax(x, 1)), (R(3, 6),)),
        "cummax_of_equal_ones": (lambda x: tuple(torch.cummax(x, 1)), (ties,)),
        "cummin_of_equal_ones": (lambda x: tuple(torch.cummin(x, 1)), (ties,)),
        "cummin_values": (lambda x: torch.cummin(x, 0).values, (R(5, 3),)),
        "cummax_of_one": (lambda x: tuple(torch.cummax(x, 1)), (R(3, 1),)),
        "cummax_of_heads": (lambda x: tuple(torch.cummax(x.view(2, 12), 1)), (R(2, 3, 4),)),
        "cummax_of_integers": (lambda x: tuple(torch.cummax(x, 0)), (torch.tensor([3, 1, 3, 5, 5, 2]),)),
        "logcumsumexp": (lambda x: torch.logcumsumexp(x, 1), (R(3, 6),)),
        "logcumsumexp_inf": (lambda x: torch.logcumsumexp(x, 1), (infinite,)),
    }


def scalar_kinds() -> dict[str, tuple[Any, tuple]]:
    a, b = R(3, 4) > 0, R(3, 4) > 0
    i, j = torch.randint(-9, 9, (3, 4)), torch.randint(-2, 3, (3, 4))
    return {
        "var_mean": (lambda x: torch.var_mean(x, 1), (R(3, 5),)),
        "var_mean_of_all": (lambda x: torch.var_mean(x), (R(3, 5),)),
        "std_mean": (lambda x: torch.std_mean(x, (0, 2), keepdim=True, correction=0), (R(3, 5, 2),)),
        "std_mean_correction": (lambda x: torch.std_mean(x, 1, correction=2), (R(3, 5),)),
        "xor": (lambda x, y: x ^ y, (a, b)),
        "logical_xor": (torch.logical_xor, (i, j)),
        "logical_and_of_reals": (lambda x: torch.logical_and(x.round(), x > 0), (R(3, 4),)),
        "logical_or_of_integers": (torch.logical_or, (i, j)),
        "logical_not_of_integers": (torch.logical_not, (j,)),
        "lowest_bits": (lambda x: x & 7, (i,)),
        "bitwise_not": (lambda x: ~x, (i,)),
        "bitwise_not_of_bytes": (lambda x: ~x, (torch.tensor([0, 7, 255], dtype=torch.uint8),)),
        "shifted_left": (lambda x: x << 3, (i,)),
        "shifted_right": (lambda x: x >> 2, (i,)),
        "copysign": (torch.copysign, (R(3, 4), R(3, 4))),
        "copysign_of_a_number": (lambda x: torch.copysign(x, -0.0), (R(3, 4),)),
        "copysign_of_integers": (torch.copysign, (i, j)),
        "signbit": (torch.signbit, (R(3, 4),)),
        "round_decimals": (lambda x: torch.round(x, decimals=2), (R(3, 4),)),
        "round_tens": (lambda x: torch.round(x * 1000, decimals=-2), (R(3, 4),)),
        "assertion": (asserted, (R(3, 4),)),
    }


def asserted(x: torch.Tensor) -> torch.Tensor:
    assert (x > -100).all(), "too low"
    return x * 2


def masked(x: torch.Tensor, mask: torch.Tensor, values: Any) -> torch.Tensor:
    y = x.clone()
    y[mask] = values
    return y


def later_masked(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, mask] = values
    return y


def less_common_cases() -> dict[str, tuple[Any, tuple]]:
    return index_kinds() | window_kinds() | scan_kinds() | scalar_kinds()
