"""Runtime of the drop-in modules that Solstice writes. Copied beside model_new.py; needs PyTorch alone.

A drop-in keeps the original class with its constructor, parameters and hooks; only `forward` is
another. It launches recorded kernels while everything is as recorded, and calls the original
forward otherwise, warning once for each reason.
"""

from __future__ import annotations

import copy
import functools
import operator
from typing import Any, Callable

import torch

from .fast import MISS
from .original import load_original
from .errors import DropinError
from .recording import Recording, read
from .runtime import Runtime

__all__ = ["DropinError", "Recording", "attach", "kept", "load_original", "makers", "read", "replacement"]

_ATTRIBUTE = "_solstice_runtime"


def replacement(
    original: type,
    recording: Recording,
    make_runtime: Callable[[torch.nn.Module, Recording], Any] = Runtime,
    module_name: str = __name__,
) -> type:
    """A subclass of `original` with the recorded kernels as its forward. `module_name` is where pickle finds it."""
    original_forward = original.forward
    is_compiling = torch.compiler.is_dynamo_compiling

    def runtime_of(module: torch.nn.Module) -> Any:
        # Made on the first call, so that the constructor stays the original's.
        runtime = module.__dict__.get(_ATTRIBUTE)
        if runtime is None or runtime.owner != id(module):
            runtime = module.__dict__[_ATTRIBUTE] = make_runtime(module, recording)
        return runtime

    class ModelNew(original):  # type: ignore[misc, valid-type]
        _solstice_original = original

        @functools.wraps(original_forward)  # tools that look at the signature see the original's
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            if is_compiling():  # torch.compile sees through to the original
                return original_forward(self, *args, **kwargs)
            runtime = self.__dict__.get(_ATTRIBUTE)
            if runtime is None or runtime.owner != id(self):
                runtime = runtime_of(self)
            result = runtime.fast(self, args, kwargs)
            return runtime.slow(self, original_forward, args, kwargs) if result is MISS else result

        def solstice_fallbacks(self) -> list[str]:
            """Why calls went to the original forward, each reason once."""
            return runtime_of(self).fallbacks()

        def solstice_workspaces(self) -> list[torch.Tensor]:
            """Memory of the kernels that keeps nothing from call to call: whoever times them may overwrite it."""
            return runtime_of(self).workspaces()

        def solstice_parts(self) -> list[dict[str, Any]]:
            """What of the module is whose, with times, where a part stays PyTorch's."""
            return list(recording.parts)

    ModelNew.__doc__ = original.__doc__
    ModelNew.__qualname__ = "ModelNew"
    ModelNew.__module__ = module_name
    return ModelNew


def kept(module: torch.nn.Module, result: Any) -> torch.nn.Module:
    """The module as it is, with a `solstice` that says why nothing replaces it. Both are one: a change of either is one
    of the other; a copy, or a pickle, is of the module's own class."""
    original = type(module)

    def reduce(self: Any, protocol: Any) -> Any:
        return operator.getitem, ([module], 0)

    members = {"__doc__": original.__doc__, "__module__": original.__module__, "solstice": result}
    cls = type(original)(original.__name__, (original,), {**members, "__reduce_ex__": reduce})
    cls.__qualname__ = original.__qualname__
    new = cls.__new__(cls)
    new.__dict__ = module.__dict__
    return new


def makers(original: Any, source: dict[str, Any], recording: Recording, module_name: str) -> tuple[Any, Any]:
    """What makes the original, and what makes its replacement: classes, or functions where the user's file has a
    function or an instance."""
    named = getattr(original, source["class"])
    if source.get("kind", "class") == "class":
        return named, replacement(named, recording, module_name=module_name)
    make = named if source["kind"] == "function" else lambda: copy.deepcopy(named)

    def make_new(*args: Any, **kwargs: Any) -> torch.nn.Module:
        return attach(make(*args, **kwargs), recording)

    return make, make_new


def attach(module: torch.nn.Module, recording: Recording, result: Any = None) -> torch.nn.Module:
    """A module of a replacing class that shares everything with `module`: parameters, buffers, hooks. `result` is what
    `solstice.optimize` found out."""
    cls = replacement(type(module), recording)
    cls.solstice = result
    new = cls.__new__(cls)
    new.__dict__ = module.__dict__.copy()
    new.__dict__.pop(_ATTRIBUTE, None)
    return new
