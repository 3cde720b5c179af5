"""Cases of tools/check_import.py for norms, reductions and pooling: see import_cases.py."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn


def with_infinities(x: torch.Tensor) -> torch.Tensor:
    """A row with +inf, one with -inf, one of -inf alone."""
    x[0, 1], x[1, 2] = float("inf"), -float("inf")
    x[2] = -float("inf")
    return x


def norm_cases() -> dict[str, tuple]:
    return {
        "batch_norm": (nn.BatchNorm2d(4), [R(3, 4, 5, 6)]),
        "batch_norm_1d": (nn.BatchNorm1d(4, momentum=0.3, affine=False), [R(5, 4)]),
        "batch_norm_frozen": (nn.BatchNorm2d(4).eval(), [R(3, 4, 5, 6)]),
        "batch_norm_no_stats": (nn.BatchNorm2d(4, track_running_stats=False), [R(3, 4, 5, 6)]),
        "instance_norm": (nn.InstanceNorm2d(4, affine=True), [R(3, 4, 5, 6)]),
        "instance_norm_stats": (nn.InstanceNorm2d(4, track_running_stats=True), [R(3, 4, 5, 6)]),
        "group_norm": (nn.GroupNorm(2, 6), [R(3, 6, 4, 5)]),
        "group_norm_2d": (nn.GroupNorm(3, 6, affine=False), [R(4, 6)]),
        "group_norm_each": (nn.GroupNorm(6, 6), [R(3, 6, 4)]),
        "layer_norm": (nn.LayerNorm(6), [R(3, 5, 6)]),
        "layer_norm_2d": (nn.LayerNorm((4, 5)), [R(3, 4, 5)]),
        "rms_norm": (nn.RMSNorm(6), [R(3, 6)]),
        "softmax": (lambda x: x.softmax(1), [R(3, 5, 4)]),
        "log_softmax": (lambda x: x.log_softmax(-1), [R(3, 5)]),
        "log_softmax_inf": (lambda x: x.log_softmax(-1), [with_infinities(R(4, 5))]),
        "logsumexp_inf": (lambda x: x.logsumexp(-1), [with_infinities(R(4, 5))]),
        "softmax_inf": (lambda x: x.softmax(-1), [with_infinities(R(4, 5))]),
        "softmax_of_one": (lambda x: (x.softmax(1), x.log_softmax(1)), [R(3, 1)]),
        "softmin": (lambda x: F.softmin(x, 1), [R(3, 5)]),
        "normalize": (lambda x: F.normalize(x, dim=1), [R(3, 5)]),
    }


def reduce_cases() -> dict[str, tuple]:
    one = {
        name: (getattr(torch, name), [R(4, 5)])
        for name in ("sum", "mean", "prod", "max", "min", "argmax", "argmin", "var", "std")
    }
    return one | {
        "sum_dims": (lambda x: x.sum((1, 3), keepdim=True), [R(2, 3, 4, 5)]),
        "mean_dim": (lambda x: x.mean(1), [R(2, 3, 4)]),
        "max_dim": (lambda x: tuple(x.max(1)), [R(2, 3, 4)]),
        "min_dim": (lambda x: tuple(x.min(-1, keepdim=True)), [R(2, 3, 4)]),
        "max_values": (lambda x: x.max(1)[0], [R(2, 3, 4)]),
        "argmin_dim": (lambda x: x.argmin(1), [R(2, 3, 4)]),
        "argmax_tie": (lambda x: x.round().argmax(1), [R(2, 9, 4)]),
        "logsumexp": (lambda x: x.logsumexp((1, 2), keepdim=True), [R(2, 3, 4)]),
        "amax": (lambda x: x.amax((0, 2)), [R(2, 3, 4)]),
        "var_dim": (lambda x: x.var(1, correction=2), [R(2, 5, 4)]),
        "std_dim": (lambda x: x.std(1, unbiased=False), [R(2, 5, 4)]),
        "norm": (lambda x: x.norm(dim=1), [R(2, 5, 4)]),
        "norm_1": (lambda x: x.norm(p=1, dim=1), [R(2, 5, 4)]),
        "frobenius": (lambda x: x / torch.norm(x, p="fro"), [R(2, 5)]),
        "any": (lambda x: (x > 1).any(1), [R(4, 5)]),
        "sum_of_one": (lambda x: x.sum(1, keepdim=True).max(1, keepdim=True)[0].mean(1), [R(4, 5)]),
    }


def window_cases() -> dict[str, tuple]:
    x = [R(2, 3, 7, 9)]
    return {
        "max_pool1d": (nn.MaxPool1d(3, 2), [R(2, 3, 8)]),
        "max_pool2d": (nn.MaxPool2d(3, 2, 1), x),
        "max_pool2d_ceil": (nn.MaxPool2d(3, 2, ceil_mode=True), [R(2, 3, 8, 9)]),
        "max_pool3d_dilated": (nn.MaxPool3d(2, 2, 1, dilation=2), [-R(1, 2, 6, 7, 8).abs()]),
        "avg_pool1d": (nn.AvgPool1d(2), [R(2, 3, 9)]),
        "avg_pool2d": (nn.AvgPool2d(2), x),
        "avg_pool2d_padded": (nn.AvgPool2d(3, 2, 1), x),
        "avg_pool2d_ceil": (nn.AvgPool2d(3, 2, 1, ceil_mode=True), [R(2, 3, 8, 9)]),
        "avg_pool2d_inner": (nn.AvgPool2d(3, 2, 1, count_include_pad=False), x),
        "avg_pool2d_divisor": (nn.AvgPool2d(3, 2, 0, ceil_mode=True, divisor_override=5), [R(2, 3, 8, 9)]),
        "avg_pool3d": (nn.AvgPool3d(2), [R(1, 2, 4, 5, 6)]),
        "adaptive_avg_pool1d": (nn.AdaptiveAvgPool1d(3), [R(2, 3, 9)]),
        "adaptive_avg_pool2d": (nn.AdaptiveAvgPool2d((3, 4)), x),
        "adaptive_avg_pool2d_all": (nn.AdaptiveAvgPool2d(1), x),
        "adaptive_max_pool2d": (nn.AdaptiveMaxPool2d((3, 4)), x),
    }
