"""Finds Python state that `forward` changes.

`self.n += 1; return x + self.n` exports as `x + 1` for ever. The attributes of every submodule are
compared before and after one trace; a change is refused by name.
"""

from __future__ import annotations

from typing import Any

import torch

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
    return type(value).__name__


def snapshot(module: torch.nn.Module) -> dict[str, Any]:
    return {
        f"{path}.{name}" if path else name: _frozen(value)
        for path, child in module.named_modules()
        for name, value in vars(child).items()
        if name not in _MANAGED and not name.endswith("_hooks")
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One phrase for each attribute that differs, as the error message lists them."""
    names = sorted(before.keys() | after.keys())
    return [
        f"`{name}`: {before.get(name, 'absent')} -> {after.get(name, 'absent')}"
        for name in names
        if before.get(name) != after.get(name)
    ]
