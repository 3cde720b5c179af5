"""The calls of PyTorch's functions that one call of a module makes, as its Python code makes them.

The tracer's run of `forward` and an eager one must make the same ones: code that asks for the class of a tensor, or
keeps state where no picture shows it, makes others. Before functionalisation, hence free of what the exporter does to
them.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator, NamedTuple, Optional

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ..errors import input_error, is_library_file
from .observed import Truths

_DATA = torch.Tensor.data
_DIFFERENTIATING = (torch.autograd.grad, torch.autograd.backward, torch.Tensor.backward)
_OTHER = "a tensor"
_BETWEEN = (_OTHER, "result ")
_WRITING = ("__setitem__",)  # without a result
# Of a tensor that has the form already they give back that tensor, where the tracer makes another.
_CONVERTING = (
    "to", "contiguous", "type", "type_as", "cpu", "cuda", "float", "double", "half", "bfloat16", "long", "int", "bool",
)  # fmt: skip
_PLAIN = (bool, int, float, complex, str, type(None), torch.dtype, slice, type(...))


class Call(NamedTuple):
    name: str
    arguments: tuple[str, ...]
    file: str
    line: Optional[int]
    is_users: bool  # made by the user's code itself, and not by PyTorch's on its behalf

    def told(self) -> tuple[str, ...]:
        """Tensors in between by their form alone: their numbers count PyTorch's own calls, too."""
        return self.name, *(a.partition(" : ")[2] if a.startswith(_BETWEEN) else a for a in self.arguments)

    def of_module(self) -> tuple[str, ...]:
        """The parameters and buffers in it."""
        return tuple(a for a in self.arguments if a.startswith("`"))


class Calls(TorchFunctionMode):
    """To be entered when the forward of `module` begins. `truths`: how it reads them; else as they are."""

    def __init__(self, module: torch.nn.Module, arguments: Any, truths: Optional[Truths]) -> None:
        super().__init__()
        self._truths = truths
        self.made: list[Call] = []
        self.is_mixed = False  # some lie within an autocast
        self.differentiates = False  # by autograd
        self._labels: dict[int, str] = {}
        self._past: dict[int, torch.Tensor] = {}  # other views of a tensor, writes to which are not seen
        self._kept: list[torch.Tensor] = []  # so that an id stays one tensor's
        for number, leaf in enumerate(pytree.tree_leaves(arguments)):
            self._label(leaf, f"input {number}")
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            self._label(tensor, f"`{name}`")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        frame = sys._getframe(1)
        name = getattr(func, "__name__", str(func))
        if (
            func == _DATA.__set__
            or name.partition(".")[0] == "set_"
            or _writes(name)
            and args
            and id(args[0]) in self._past
        ):
            raise _replaced(frame)
        self.differentiates |= func in _DIFFERENTIATING
        given = [self._told(v) for v in pytree.tree_leaves((args, kwargs))]
        is_data = func == _DATA.__get__
        # The tracer takes `x.data` for a tensor that it does not know, and writes to no place that a tensor says.
        if is_data:
            result = args[0].detach()
        else:
            result = (_write if name == "__setitem__" and _is_symbolic(args[1]) else func)(*args, **kwargs)
        if is_data:
            self._past[id(result)] = result
        if self._truths:
            result = self._truths.told(name, result)
        self.is_mixed |= torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
        if (
            name in _CONVERTING
            and id(args[0]) not in self._labels
            and _is_like(result, args[0])
            and not kwargs.get("copy")
        ):
            return args[0] if result.device == args[0].device else result
        made = [v for v in pytree.tree_leaves(result) if isinstance(v, torch.Tensor)]
        if made or name in _WRITING:
            file, line = users_line(frame)
            self.made.append(Call(name, tuple(given), file, line, frame.f_code.co_filename == file))
            for number, tensor in enumerate(made):
                self._label(tensor, f"result {len(self.made)}.{number}")
        return result

    def _label(self, value: Any, label: str) -> None:
        if isinstance(value, torch.Tensor):
            self._labels[id(value)] = label
            self._kept.append(value)

    def _told(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            form = f"{str(value.dtype)[6:]}{list(value.shape)}"
            return f"{self._labels.get(id(value), _OTHER)} : {form}"
        return repr(value) if isinstance(value, _PLAIN) else type(value).__name__


def _is_symbolic(index: Any) -> bool:
    return any(isinstance(v, torch.SymInt) for v in pytree.tree_leaves(index))


def _write(tensor: torch.Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`, where the index has a number that is read from a tensor."""
    written = tensor[index]
    if not isinstance(value, torch.Tensor):
        written.fill_(value)
        return
    while value.dim() > written.dim() and value.shape[0] == 1:
        value = value[0]
    written.copy_(value)


def _writes(name: str) -> bool:
    return name in _WRITING or name.endswith("_") and not name.endswith("__")


def _is_like(made: Any, given: Any) -> bool:
    if not isinstance(made, torch.Tensor) or not isinstance(given, torch.Tensor):
        return False
    return (
        all(getattr(made, n) == getattr(given, n) for n in ("dtype", "shape", "layout"))
        and made.stride() == given.stride()
    )


def users_line(frame: Any) -> tuple[str, Optional[int]]:
    """Of the innermost frame of the user's code."""
    while frame is not None and is_library_file(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", None)


def _replaced(frame: Any) -> Exception:
    file, line = users_line(frame)
    return input_error(
        "trace.replaced_storage",
        "`forward` writes a tensor behind the tracer's back (`.data`, `set_`)",
        hint="write into the tensor: `self.b.copy_(x)` under `torch.no_grad()`",
        **({"file": file, "line": line} if line else {}),
    )


@contextlib.contextmanager
def recorded(module: torch.nn.Module, truths: Optional[Truths] = None) -> Iterator[list[Calls]]:
    """The calls of each call of the module within it."""
    found: list[Calls] = []
    active: list[Calls] = []

    def start(_: Any, args: Any, kwargs: Any) -> None:
        active.append(Calls(module, (args, kwargs), truths))
        active[-1].__enter__()

    def end(*_: Any) -> None:
        if active:
            found.append(active.pop())
            found[-1].__exit__(None, None, None)

    handles = (
        module.register_forward_pre_hook(start, prepend=True, with_kwargs=True),
        module.register_forward_hook(end, always_call=True),
    )
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()
        while active:  # of a call that was refused, whose hook at the end does not run
            active.pop().__exit__(None, None, None)
