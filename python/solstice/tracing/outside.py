"""Ways out of PyTorch that a trace cannot follow, refused where the user's code takes them: the address of a tensor
(`data_ptr`, DLPack), behind which a trace has no memory, and text of its values, which a trace does not have."""

from __future__ import annotations

import builtins
import contextlib
import sys
from typing import Any, Iterator

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.overrides import TorchFunctionMode

from ..errors import input_error, is_library_file
from . import counts
from .causes import STAYS

_WITH_VALUES = (torch.Tensor, FakeTensor, FunctionalTensor, torch.SymInt, torch.SymFloat, torch.SymBool)
_ASKED = ("__str__", "__repr__", "__format__")
_NOT_THE_USERS = ("torch", "sympy", __name__.partition(".")[0])
_ADDRESS = "takes the address of a tensor"
_HAND_OVER = "hands a tensor to another library"
_TEXT = "makes text of values of a tensor"
_WAYS_OUT = {
    _ADDRESS: "do this part with PyTorch's operators, or in a custom operator (`torch.library.custom_op`)",
    _HAND_OVER: "do this part with PyTorch's operators, or in a custom operator (`torch.library.custom_op`)",
    _TEXT: "leave the text out, and compute with tensors",
}


def _refusal(what: str, frame: Any) -> Exception:
    while frame is not None and is_library_file(frame.f_code.co_filename):
        frame = frame.f_back
    place = {"file": frame.f_code.co_filename, "line": frame.f_lineno} if frame is not None else {}
    hint = f"{_WAYS_OUT[what]}; otherwise {STAYS}"
    return input_error("trace.not_exportable", f"the module cannot be traced: `forward` {what}", hint=hint, **place)


def _is_the_users(frame: Any) -> bool:
    """The user's code, or Python's library on its behalf; not PyTorch or this package for themselves."""
    while frame is not None and is_library_file(frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
            return False
        frame = frame.f_back
    return frame is not None


class _Addresses(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame = sys._getframe(1)
        if func == torch.Tensor.__dlpack__:
            raise _refusal(_HAND_OVER, frame)
        if func == torch.Tensor.data_ptr and _is_the_users(_before_modes(frame)):
            raise _refusal(_ADDRESS, frame)
        return func(*args, **(kwargs or {}))


def _before_modes(frame: Any) -> Any:
    while frame.f_code.co_name == "__torch_function__":
        frame = frame.f_back
    return frame


def _text(original: Any) -> Any:
    def text(self: Any, *args: Any, **kwargs: Any) -> str:
        frame = sys._getframe(1)
        has_values = isinstance(self, torch.Tensor) or counts.depends_on_values(self)
        if has_values and _is_the_users(_before_modes(frame)):
            raise _refusal(_TEXT, frame)
        return original(self, *args, **kwargs)

    return text


def _handed_over(*_: Any, **__: Any) -> Any:
    raise _refusal(_HAND_OVER, sys._getframe(1))


_print = builtins.print


def _print_for_people(*args: Any, **kwargs: Any) -> None:
    """No value of `forward` comes of it: text that it makes is this package's."""
    _print(*args, **kwargs)


@contextlib.contextmanager
def refused() -> Iterator[None]:
    from torch._dynamo import trace_rules

    trace_rules.get_torch_obj_rule_map()  # made once, of PyTorch's functions as they are
    replaced = [
        *((owner, "to_dlpack", _handed_over) for owner in (torch, torch.utils.dlpack)),
        (torch._C, "_from_dlpack", _handed_over),  # of what a function above made that was imported by its name
        (builtins, "print", _print_for_people),
        *((c, name, _text(vars(c)[name])) for c in _WITH_VALUES for name in _ASKED if name in vars(c)),
    ]
    saved = [(owner, name, vars(owner)[name]) for owner, name, _ in replaced]
    try:
        for owner, name, instead in replaced:
            setattr(owner, name, instead)
        with _Addresses():
            yield
    finally:
        for owner, name, was in saved:
            setattr(owner, name, was)
