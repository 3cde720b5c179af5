"""Finds Python state that `forward` changes.

`self.n += 1; return x + self.n` exports as `x + 1` for ever. The attributes of every submodule, the globals
of the user's own modules and the state of Python's and NumPy's random numbers are compared before and
after one trace; a change is refused by name.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import sys
from typing import Any, Iterator

import torch

from ..errors import is_library_file

_MANAGED = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
_SCALARS = (bool, int, float, complex, str, bytes, type(None))
_MAX_DEPTH = 4


def _frozen(value: Any, depth: int = 0) -> Any:
    """A comparable picture of plain Python data; anything else is pictured by its type alone."""
    if isinstance(value, _SCALARS):
        return repr(value)
    if depth < _MAX_DEPTH and isinstance(value, (list, tuple)):
        return [type(value).__name__, *(_frozen(v, depth + 1) for v in value)]
    if depth < _MAX_DEPTH and isinstance(value, (dict, set)):
        items = value.items() if isinstance(value, dict) else ((v, None) for v in value)
        return {repr(k): _frozen(v, depth + 1) for k, v in items if isinstance(k, _SCALARS)}
    if depth < _MAX_DEPTH and _is_users(type(value)) and hasattr(value, "__dict__") and not isinstance(value, torch.nn.Module):
        return {name: _frozen(held, depth + 1) for name, held in vars(value).items()}
    return "tensor" if isinstance(value, torch.Tensor) else type(value).__name__


def _is_users(cls: type) -> bool:
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return isinstance(file, str) and not is_library_file(file)


def snapshot(module: torch.nn.Module) -> dict[str, Any]:
    return {**_attributes(module), **_globals(module), **_random_numbers()}


def _attributes(module: torch.nn.Module) -> dict[str, Any]:
    return {
        f"{path}.{name}" if path else name: _frozen(value)
        for path, child in module.named_modules()
        for name, value in vars(child).items()
        if name not in _MANAGED and "_hooks" not in name
    }


def _globals(module: torch.nn.Module) -> dict[str, Any]:
    """Plain values at the top of the files that define the modules."""
    names = {type(child).__module__ for child in module.modules() if _is_users(type(child))}
    return {
        f"{name} (a global)": _frozen(value)
        for space in sorted(names)
        for name, value in vars(sys.modules[space]).items()
        if isinstance(value, (*_SCALARS, list, dict, set)) and not name.startswith("__")
    }


def _random_numbers() -> dict[str, Any]:
    states = {"random.getstate()": random.getstate()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        states["numpy.random.get_state()"] = tuple(map(str, numpy.random.get_state()))
    return {name: hashlib.sha256(repr(state).encode()).hexdigest()[:8] for name, state in states.items()}


class Watch:
    """Compares the state before a trace with the state at the end of each traced call.

    The end of the call, because the tracer puts attributes back when it is done.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module
        self._before = snapshot(module)
        self._after = self._before

    @contextlib.contextmanager
    def during_calls(self) -> Iterator[None]:
        def look(*_: Any) -> None:
            self._after = snapshot(self._module)

        handle = self._module.register_forward_hook(look)
        try:
            yield
        finally:
            handle.remove()

    def changes(self) -> list[str]:
        """One phrase for each attribute that differs, as the error message lists them."""
        now = snapshot(self._module)
        changed = []
        for name in sorted(self._before.keys() | self._after.keys() | now.keys()):
            old = self._before.get(name, "absent")
            new = next(
                (s.get(name, "absent") for s in (self._after, now) if s.get(name, "absent") != old), old
            )
            if new != old:
                changed.append(f"`{name}`: {old} -> {new}")
        return changed
