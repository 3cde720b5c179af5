"""Value families: inputs that find what ordinary random data hides.

Each family fills floating-point tensors of the example inputs anew; integers and booleans keep the
values that `get_inputs()` made, since they may be indices or class labels. Everything follows from
the seed. Extremes are scaled to the dtype, so that a family is never all infinity.
"""

from __future__ import annotations

import math
from typing import Callable

import torch

Tensor = torch.Tensor
Fill = Callable[[Tensor, torch.Generator], Tensor]

BALANCED = "balanced_outliers"
# numerics.md's critical range: a scale per row cannot hold both sides of such a channel.
BALANCED_EXPONENT = 20
BALANCED_SHARE = 32  # one channel in so many
_SPECIALS_SHARE = 4096


def _range_exponent(dtype: torch.dtype) -> int:
    """Half of the dtype's binary range above 1, at most 20."""
    return min(20, int(math.log2(torch.finfo(dtype).max)) // 3)


def _normal(t: Tensor, g: torch.Generator) -> Tensor:
    # Drawn in f32: half precision generators differ between devices.
    return torch.randn(t.shape, generator=g, device=t.device, dtype=_draw_dtype(t)).to(t.dtype)


def _uniform01(t: Tensor, g: torch.Generator) -> Tensor:
    return torch.rand(t.shape, generator=g, device=t.device, dtype=_draw_dtype(t)).to(t.dtype)


def _draw_dtype(t: Tensor) -> torch.dtype:
    return torch.float64 if t.dtype is torch.float64 else torch.float32


def _uniform(t: Tensor, g: torch.Generator) -> Tensor:
    return _uniform01(t, g).mul_(2).sub_(1)


def _one_outlier(t: Tensor, g: torch.Generator) -> Tensor:
    values = _normal(t, g)
    if values.numel():
        position = int(torch.randint(values.numel(), (1,), generator=g, device=t.device))
        values.view(-1)[position] = 2.0 ** _range_exponent(t.dtype)
    return values


def _mixed_scales(t: Tensor, g: torch.Generator) -> Tensor:
    limit = _range_exponent(t.dtype)
    exponents = torch.randint(-limit, limit + 1, t.shape, generator=g, device=t.device)
    return torch.ldexp(_normal(t, g).float(), exponents).to(t.dtype)


def _heavy_ends(t: Tensor, g: torch.Generator) -> Tensor:
    values = _normal(t, g)
    for axis in range(max(0, t.dim() - 2), t.dim()):
        values.narrow(axis, max(0, t.shape[axis] - 1), min(1, t.shape[axis])).mul_(
            2.0 ** (_range_exponent(t.dtype) // 2)
        )
    return values


def _zero_channels(t: Tensor, g: torch.Generator) -> Tensor:
    values = _mixed_scales(t, g)
    if t.dim():
        values[..., torch.rand(t.shape[-1], generator=g, device=t.device) < 0.5] = 0
    return values


def _signs(t: Tensor, g: torch.Generator) -> Tensor:
    return torch.randint(0, 2, t.shape, generator=g, device=t.device, dtype=torch.int8).mul_(2).sub_(1).to(t.dtype)


def _zeros(t: Tensor, g: torch.Generator) -> Tensor:
    return torch.zeros_like(t).copysign_(_signs(t, g))


def _subnormals(t: Tensor, g: torch.Generator) -> Tensor:
    tiny = torch.finfo(t.dtype).smallest_normal
    return (_uniform01(t, g).to(torch.float64) * tiny).to(t.dtype).copysign_(_signs(t, g))


def _extreme_logits(t: Tensor, g: torch.Generator) -> Tensor:
    """Far beyond where exp overflows, and spread enough that one element of a row wins."""
    return _normal(t, g).mul_(100)


def _ties(t: Tensor, g: torch.Generator) -> Tensor:
    return torch.randint(-1, 3, t.shape, generator=g, device=t.device).to(t.dtype)


def _nan_inf(t: Tensor, g: torch.Generator) -> Tensor:
    values = _normal(t, g)
    flat = values.view(-1)
    for special in (math.nan, math.inf, -math.inf):
        count = max(1, flat.numel() // _SPECIALS_SHARE) if flat.numel() else 0
        # Few rows only: the rest must still agree in the ordinary way.
        flat[torch.randint(max(1, flat.numel()), (min(count, 8),), generator=g, device=t.device)] = special
    return values


FILLS: dict[str, Fill] = {
    "normal": _normal,
    "uniform": _uniform,
    "positive": _uniform01,
    "one_outlier": _one_outlier,
    BALANCED: _normal,  # scaled below, once all tensors exist
    "heavy_ends": _heavy_ends,
    "mixed_scales": _mixed_scales,
    "zero_channels": _zero_channels,
    "zeros": _zeros,
    "subnormals": _subnormals,
    "extreme_logits": _extreme_logits,
    "ties": _ties,
    "nan_inf": _nan_inf,
}
NAMES = ("default", *FILLS)
SCALED = "scaled"  # one tensor alone (scaling.py)


def fill(tensor: Tensor, family: str, generator: torch.Generator) -> Tensor:
    """New values with `tensor`'s shape, strides, dtype and device; other than floats stay as they are."""
    if family == "default" or not tensor.is_floating_point():
        return tensor
    out = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    if overlaps(tensor):  # an expanded input: one value, many places
        return tensor
    return out.copy_(FILLS[family](tensor, generator))


def overlaps(tensor: Tensor) -> bool:
    return any(n > 1 and s == 0 for n, s in zip(tensor.shape, tensor.stride()))


def balance(inputs: list[Tensor], parameters: list[Tensor]) -> bool:
    """Scales every 32nd channel of the first input up and the matching channel of its partners down.

    A partner is a parameter whose last axis, or an input whose axis before the last, has the first
    input's last extent: products along it are unchanged. False when there is none.
    """
    floats = [t for t in inputs if t.is_floating_point() and t.dim() >= 2 and not overlaps(t)]
    if not floats:
        return False
    first, width = floats[0], floats[0].shape[-1]
    partners = [(t, t.dim() - 2) for t in floats[1:] if t.shape[-2] == width]
    partners += [(p, p.dim() - 1) for p in parameters if p.dim() >= 2 and p.shape[-1] == width]
    if not partners:
        return False
    scale = 2.0 ** min(BALANCED_EXPONENT, _range_exponent(first.dtype))
    first[..., ::BALANCED_SHARE] *= scale
    for tensor, axis in partners:
        tensor.narrow(axis, 0, width).transpose(axis, -1)[..., ::BALANCED_SHARE] /= scale
    return True


def generator_on(device: torch.device, seed: int) -> torch.Generator:
    return torch.Generator(device=device).manual_seed(seed)


def perturb_weights(module: torch.nn.Module, seed: int) -> None:
    """Moves every float parameter away from its initial value, ones and zeros included, in place.

    Running statistics of normalisations move too; their variance stays positive. Other buffers: perturbing.py.
    """
    with torch.no_grad():
        for index, parameter in enumerate(module.parameters()):
            if parameter.is_floating_point():
                generator = generator_on(parameter.device, seed + index)
                spread = parameter.detach().float().square().mean().sqrt().item() if parameter.numel() else 0.0
                parameter.mul_(1 + 0.5 * _uniform(parameter, generator))
                parameter.add_(_normal(parameter, generator), alpha=0.1 * (spread or 1.0))
        for child in module.modules():
            if isinstance(child, torch.nn.modules.batchnorm._NormBase) and child.running_mean is not None:
                generator = generator_on(child.running_mean.device, seed)
                child.running_mean.add_(_normal(child.running_mean, generator), alpha=0.1)
                child.running_var.mul_(1 + 0.5 * _uniform01(child.running_var, generator))
