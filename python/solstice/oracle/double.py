"""Running a float32 module over float64: the oracle's arithmetic."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

import torch
from torch.overrides import TorchFunctionMode

from ..errors import environment_error
from ..tensors import map_tensors
from . import running

_WIDE = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}
_GROUPED = getattr(torch, "_grouped_mm", None)
_CASTS = (torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16)


def _widen(value: Any) -> Any:
    return _WIDE.get(value, value) if isinstance(value, torch.dtype) else value


def _grouped_mm(
    a: torch.Tensor, b: torch.Tensor, offs: Optional[torch.Tensor] = None, bias: Any = None, out_dtype: Any = None
) -> torch.Tensor:
    """torch.nn.functional.grouped_mm, which refuses float64. It leaves open what the rows behind the last group are;
    here they count as rows of that group."""
    if bias is not None:
        raise NotImplementedError("a bias of grouped_mm")
    if offs is None:
        return a @ b
    ends = offs.tolist()
    groups = list(enumerate(zip([0, *ends], ends)))
    if b.dim() == 2 and a.dim() == 2:
        return torch.stack([a[:, begin:end] @ b[begin:end] for _, (begin, end) in groups])
    if b.dim() == 2:
        return torch.cat([a[g] @ b[:, begin:end] for g, (begin, end) in groups], dim=1)
    groups[-1] = (groups[-1][0], (groups[-1][1][0], a.shape[0]))
    return torch.cat([a[begin:end] @ b[g] for g, (begin, end) in groups])


class _NoNarrowing(TorchFunctionMode):
    """A module that says `.float()` or `dtype=torch.float32` would round the oracle; here they mean float64."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _CASTS:
            return args[0].double()
        if func is _GROUPED:
            return _grouped_mm(*args, **(kwargs or {}))
        kwargs = {k: _widen(v) for k, v in (kwargs or {}).items()}
        return func(*(_widen(a) for a in args), **kwargs)


@contextlib.contextmanager
def float64_arithmetic() -> Iterator[None]:
    saved = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _NoNarrowing():
            yield
    finally:
        torch.set_default_dtype(saved)


def widened(tree: Any) -> Any:
    """The same arguments with every float as float64."""
    return map_tensors(lambda t: t.to(_WIDE[t.dtype]) if t.dtype in _WIDE else t, tree)


def run_double(double: torch.nn.Module, args: tuple, kwargs: dict, seed: int) -> running.Values:
    with float64_arithmetic():
        values = running.run(double, *widened((args, kwargs)), seed)
    for name, value in values.items():
        if value.dtype in (torch.float32, torch.float16, torch.bfloat16):
            raise environment_error(
                "oracle.not_double",
                f"`{name}` is computed in {value.dtype} whatever the inputs",
                hint="the module narrows its values in a way the oracle cannot see",
            )
    return values
