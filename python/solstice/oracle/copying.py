"""Copies of a user's module that share nothing with it."""

from __future__ import annotations

import contextlib
import copy
import types
from typing import Any, Iterator

import torch

_SHARED_UNLESS_COPIED = (torch.nn.Module, torch.Tensor, types.FunctionType, list, tuple, dict, set)


def copy_module(module: torch.nn.Module) -> torch.nn.Module:
    """As `copy.deepcopy`, which takes functions for constants: a lambda kept as an attribute that closes over a layer
    (`self.mlp = lambda x: layers.out(layers.up(x))`) would go on using the original's layer. Here it is copied with
    what it closes over."""
    with _functions_copied():
        return copy.deepcopy(module)


@contextlib.contextmanager
def _functions_copied() -> Iterator[None]:
    dispatch = copy._deepcopy_dispatch  # type: ignore[attr-defined]
    usual = dispatch[types.FunctionType]
    dispatch[types.FunctionType] = _copy_function
    try:
        yield
    finally:
        dispatch[types.FunctionType] = usual


def _copy_function(function: types.FunctionType, memo: dict) -> types.FunctionType:
    cells = function.__closure__ or ()
    if not any(isinstance(_content(cell), _SHARED_UNLESS_COPIED) for cell in cells):
        return function
    empty = tuple(types.CellType() for _ in cells)
    copied = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, empty)
    memo[id(function)] = copied  # it may close over itself
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__dict__.update(function.__dict__)
    for new, cell in zip(empty, cells):
        content = _content(cell)
        if content is not _NOTHING:
            new.cell_contents = copy.deepcopy(content, memo) if isinstance(content, _SHARED_UNLESS_COPIED) else content
    return copied


_NOTHING = object()


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that is not bound yet
        return _NOTHING
