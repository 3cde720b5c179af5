"""Runtime of the drop-in modules that Solstice writes. Copied beside model_new.py; needs PyTorch alone.

A drop-in keeps the original class with its constructor, parameters and hooks; only `forward` is
another. It launches recorded kernels while everything is as recorded, and calls the original
forward otherwise, warning once for each reason.
"""

from __future__ import annotations

from typing import Any, Callable

import torch

from .recording import DropinError, Recording, load_original, read
from .runtime import Runtime

__all__ = ["DropinError", "Recording", "attach", "load_original", "read", "replacement"]

_ATTRIBUTE = "_solstice_runtime"


def replacement(
    original: type, recording: Recording, make_runtime: Callable[[Recording], Any] = Runtime
) -> type:
    """A subclass of `original` with the recorded kernels as its forward."""
    original_forward = original.forward

    def runtime_of(module: torch.nn.Module) -> Any:
        # Made on the first call, so that the constructor stays the original's.
        return module.__dict__.setdefault(_ATTRIBUTE, make_runtime(recording))

    class ModelNew(original):  # type: ignore[misc, valid-type]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            runtime = self.__dict__.get(_ATTRIBUTE) or runtime_of(self)
            return runtime(self, original_forward, args, kwargs)

        def solstice_fallbacks(self) -> list[str]:
            """Why calls went to the original forward, each reason once."""
            return runtime_of(self).fallbacks()

    ModelNew.__doc__ = original.__doc__
    ModelNew.__qualname__ = "ModelNew"
    return ModelNew


def attach(module: torch.nn.Module, recording: Recording) -> torch.nn.Module:
    """A module of a replacing class that shares everything with `module`: parameters, buffers, hooks."""
    cls = replacement(type(module), recording)
    new = cls.__new__(cls)
    new.__dict__ = module.__dict__.copy()
    new.__dict__.pop(_ATTRIBUTE, None)
    return new
