"""Running a float32 module over float64: the oracle's arithmetic."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

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
_CASTS = (torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16)


def _widen(value: Any) -> Any:
    return _WIDE.get(value, value) if isinstance(value, torch.dtype) else value


class _NoNarrowing(TorchFunctionMode):
    """A module that says `.float()` or `dtype=torch.float32` would round the oracle; here they mean float64."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _CASTS:
            return args[0].double()
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
