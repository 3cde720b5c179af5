"""Lets a module that says `cuda` be built and traced on the host.

Tracing always happens on the CPU: it needs no CUDA context, so the worker can still fork, and the
functional graph is the same. Only the Python API is mapped; values that live on a GPU already are
left alone.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch
from torch.overrides import TorchFunctionMode


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


class CudaToCpu(TorchFunctionMode):
    """Within it, `device="cuda"`, `.to("cuda")` and `.cuda()` mean the CPU, or another device."""

    def __init__(self, meaning: str = "cpu") -> None:
        super().__init__()
        self._meaning = torch.device(meaning)

    def _mapped(self, value: Any) -> Any:
        return self._meaning if _is_cuda(value) else value

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.Tensor.to or "device" in kwargs:
            args = tuple(self._mapped(a) for a in args)
            kwargs = {k: self._mapped(v) for k, v in kwargs.items()}
        return func(*args, **kwargs)


@contextlib.contextmanager
def gpu_hidden() -> Iterator[None]:
    """Within it PyTorch says that there is no GPU.

    The exporter saves the GPU's random state wherever one is available; that would initialise CUDA
    in a process that has to fork for it later, or fail in one that was forked.
    """
    original = torch.cuda.is_available
    torch.cuda.is_available = lambda: False
    try:
        yield
    finally:
        torch.cuda.is_available = original
