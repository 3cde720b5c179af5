"""What the attributes of a module hold: plain values, small tensors, and lists, tuples, dicts and unregistered modules of
these. As text, which two instances are compared by, and by identity and version, which each call looks at.

Small tensors count by content, since the kernels may hold them as literals. Parameters and buffers count by their path:
the kernels read those. Large tensors never become literals.
"""

from __future__ import annotations

import hashlib
import types
from collections import OrderedDict
from operator import is_
from typing import Any, Iterable, Optional

import torch

MOST_BYTES = 1 << 15  # of a tensor that is told by content; what a graph holds in line is smaller
_SHOWN = 8  # elements that the text writes out
_SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype)
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, type)
_CONTAINERS = (tuple, list, dict, OrderedDict)
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_HIDDEN = set(vars(torch.nn.Module())) - {"training", "_parameters", "_buffers", "_modules"}
_USERS = ("solstice_user_", "solstice_original_")

Paths = dict[int, str]  # of the parameters, buffers and modules of a tree, by id


def paths_of(module: torch.nn.Module) -> Paths:
    """The first path of each."""
    named = [
        *module.named_modules(remove_duplicate=False),
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]
    return {id(thing): path for path, thing in reversed(named)}


def name_of(thing: Any) -> str:
    """With the module that defines it; the user's own file is loaded under different names in different processes."""
    module = str(thing.__module__)
    return f"{'' if module.startswith(_USERS) else module + '.'}{thing.__qualname__}"


def text_of(value: Any, paths: Paths, within: tuple = ()) -> Optional[str]:
    """None where two values could not be told apart; in a container beside others such a value counts by its type."""
    if isinstance(value, _SCALARS):
        return repr(value)
    if isinstance(value, _CALLABLES):
        return name_of(value)
    if id(value) in paths:
        return f"`{paths[id(value)]}`"
    if isinstance(value, torch.Tensor):
        return _text_of_tensor(value)
    items = _items(value)
    if items is None or id(value) in within:  # a list may hold itself
        return None
    keys = [f"{k!r}: " for k in items] if isinstance(items, dict) else [""] * len(items)
    texts = [text_of(v, paths, (*within, id(value))) for v in _held(items)]
    if texts and not any(texts):
        return None
    texts = [text or name_of(type(v)) for text, v in zip(texts, _held(items))]
    name = type(value).__name__ if type(value) in _CONTAINERS else name_of(type(value))
    return f"{name}({', '.join(map(str.__add__, keys, texts))})"


def _items(value: Any) -> Any:
    """What a container holds, as a list, a tuple or a dict; None where it is none."""
    if type(value) in _CONTAINERS:
        return value
    if isinstance(value, torch.nn.Module):
        return {n: v for n, v in vars(value).items() if n not in _HIDDEN}
    return None


def _held(items: Any) -> Iterable[Any]:
    return items.values() if isinstance(items, dict) else items


def _text_of_tensor(tensor: torch.Tensor) -> str:
    form = f"{str(tensor.dtype)[6:]}{list(tensor.shape)}"
    return f"tensor({form}, {_content(tensor)})" if is_told_by_content(tensor) else f"tensor({form})"


def is_told_by_content(tensor: torch.Tensor) -> bool:
    if type(tensor) not in _TENSORS or tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized:
        return False
    return tensor.numel() * tensor.element_size() <= MOST_BYTES


def _content(tensor: torch.Tensor) -> str:
    if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
        return "not to be read while a graph is captured"
    host = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if host.numel() <= _SHOWN:
        return repr(host.tolist())
    return hashlib.sha256(bytes(host.reshape(-1).view(torch.uint8).tolist())).hexdigest()[:16]


class Watch:
    """What can change inside of values while they stay the same objects."""

    def __init__(self, values: Iterable[Any], paths: Paths) -> None:
        self.lists: list[tuple[list, list]] = []
        self.dicts: list[tuple[dict, dict]] = []
        self.tensors: list[tuple[torch.Tensor, int, int]] = []  # with its version and address
        self.has_inference = False  # some tensor counts no versions
        for value in values:
            self._add(value, paths, ())

    def _add(self, value: Any, paths: Paths, within: tuple) -> None:
        if id(value) in paths or id(value) in within:
            return
        if isinstance(value, torch.Tensor):
            self._add_tensor(value)
            return
        items = _items(value)
        if items is None:
            return
        if isinstance(value, list):
            self.lists.append((value, list(value)))
        elif not isinstance(value, tuple):
            own = value if isinstance(value, dict) else vars(value)
            self.dicts.append((own, dict(own)))
        for item in _held(items):
            self._add(item, paths, (*within, id(value)))

    def _add_tensor(self, tensor: torch.Tensor) -> None:
        if not is_told_by_content(tensor):
            return
        if tensor.is_inference():
            self.has_inference = True
        else:
            self.tensors.append((tensor, tensor._version, tensor.data_ptr()))

    def holds(self) -> bool:
        return (
            all(t._version == version and t.data_ptr() == pointer for t, version, pointer in self.tensors)
            and all(same_list(now, was) for now, was in self.lists)
            and all(same_dict(now, was) for now, was in self.dicts)
        )


def same_list(now: list, was: list) -> bool:
    return len(now) == len(was) and all(map(is_, now, was))


def same_dict(now: dict, was: dict) -> bool:
    return now.keys() == was.keys() and all(now[k] is v for k, v in was.items())
