"""What can change inside of values while they stay the same objects."""

from __future__ import annotations

import copyreg
import enum
import sys
import types
import weakref
from collections import defaultdict, deque
from operator import is_
from typing import Any, Callable, Iterable, Optional

import torch

from . import names
from .arrays import is_array, is_told_by_content
from .contents import MOST_PARTS, Paths, dict_of, if_importable, parts_of, slot_of

# As PyTorch's own guards use it. From Python 3.13 on, attributes may be written past the dict that holds them.
_GUARDS = getattr(torch._C._dynamo, "guards", None) if sys.version_info < (3, 13) else None
DICT_VERSION: Optional[Callable[[dict], int]] = getattr(_GUARDS, "dict_version", None)


class Watch:
    """By identity of what they hold, hence never loosely equal; tensors by version and address, arrays by content."""

    def __init__(self, values: Iterable[Any], paths: Paths) -> None:
        self.lists: list[tuple[list, list]] = []
        self.dicts: list[tuple[dict, dict]] = []
        self.tensors: list[tuple[torch.Tensor, int, int]] = []  # with its version and address
        self.places: list[tuple[Any, str, Any]] = []  # an object, an attribute of it, and what that holds
        self.others: list[tuple[Any, Any]] = []  # what is compared by a call of inside_of()
        self.modules: list[torch.nn.Module] = []  # that are not in the tree
        self.has_inference = False  # some tensor counts no versions
        self._seen: dict[int, Any] = {}
        for value in values:
            self._parts_seen = 0
            try:
                self._add(value, paths)
            except RecursionError:  # told by its identity alone, as in contents.text_of()
                continue

    def _add(self, value: Any, paths: Paths) -> None:
        is_new = id(value) not in self._seen
        self._seen[id(value)] = value  # also keeps it, so that its id stays its own
        if id(value) in paths or not is_new:
            return
        if isinstance(value, torch.Tensor):
            self._add_tensor(value)
            return
        if is_array(value):
            if type(value).__name__ == "ndarray":  # its scalars stay what they are
                self.others.append((value, inside_of(value)))
            return
        if names.of_logger(value) or if_importable(value):
            return
        parts = parts_of(value)
        self._parts_seen += 1
        if parts is None or self._parts_seen > MOST_PARTS:
            return
        self._add_own(value)
        for _, item in parts.items:
            self._add(item, paths)

    def _add_own(self, value: Any) -> None:
        if isinstance(value, torch.nn.Module):
            self.modules.append(value)
        if isinstance(value, types.FunctionType):
            self.places += [
                (value, name, getattr(value, name)) for name in ("__code__", "__defaults__", "__kwdefaults__")
            ]
            cells = [(cell, names.contents_of(cell)) for cell in value.__closure__ or ()]
            self.places += [(cell, "cell_contents", held) for cell, held in cells if held is not names.NOTHING]
        elif isinstance(value, list):
            self.lists.append((value, list(value)))
        elif isinstance(value, dict):
            self.dicts.append((value, dict(value)))
        own = dict_of(value)
        if isinstance(own, dict) and not isinstance(value, (types.FunctionType, enum.Enum)):
            self.dicts.append((own, dict(own)))
        inside = inside_of(value)
        if inside:
            self.others.append((value, inside))

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
            and all(_held(owner, name) is was for owner, name, was in self.places)
            and all(inside_of(value) == was for value, was in self.others)
        )


def version_of(held: dict) -> Optional[int]:
    """A number that every change of the dict changes; None where there is none to trust: an OrderedDict keeps it when
    move_to_end() reorders it."""
    return None if DICT_VERSION is None or type(held) is not dict else DICT_VERSION(held)


def same_list(now: list, was: list) -> bool:
    return len(now) == len(was) and all(map(is_, now, was))


def same_dict(now: dict, was: dict) -> bool:
    """Programs go through a dict in its order."""
    return same_list([*now], [*was]) and all(map(is_, now.values(), was.values()))


def inside_of(value: Any) -> tuple:
    """What else an object holds; empty where that cannot change."""
    if isinstance(value, (set, deque)):
        inside: tuple = (frozenset if isinstance(value, set) else tuple)(map(id, value)), len(value)
    elif is_array(value):
        inside = value.dtype, value.shape, value.tobytes()
    elif isinstance(value, bytearray):
        inside = (bytes(value),)
    elif isinstance(value, defaultdict):
        inside = (id(value.default_factory),)
    else:
        inside = (id(value()),) if type(value) is weakref.ref else ()
    return inside + tuple(id(slot_of(value, name)) for name in copyreg._slotnames(type(value)))


def _held(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except (AttributeError, ValueError):
        return names.NOTHING
