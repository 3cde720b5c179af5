"""Copies of a user's module that share no layers with it."""

from __future__ import annotations

import copy
import functools
import types
from typing import Any, Iterator

import torch

from ..errors import is_out_of_memory

_LAYERS = (torch.nn.Module, torch.Tensor)


def copy_module(module: torch.nn.Module) -> torch.nn.Module:
    """As `copy.deepcopy`, which takes functions for constants: a lambda kept as an attribute that closes over a layer
    (`self.mlp = lambda x: layers.out(layers.up(x))`), or has one among its defaults, would go on using the original's.
    Functions that reach a module or a tensor are copied, and so is what they reach it by; what cannot be copied is
    shared, as `deepcopy` shares it. `deepcopy` learns of them by its memo, which it asks first up to Python 3.13."""
    memo: dict[int, Any] = {}
    functions = [f for f in _reachable([module]) if isinstance(f, types.FunctionType) and _reach_layers(_held_by(f))]
    for function in functions:
        memo[id(function)] = _hollow(function)
    copied = copy.deepcopy(module, memo)
    for function in functions:
        _fill(memo[id(function)], function, memo)
    return copied


def _hollow(function: types.FunctionType) -> types.FunctionType:
    """A copy without what it holds, which may lead back to the function."""
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    hollow = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, cells or None)
    for name in functools.WRAPPER_ASSIGNMENTS:
        setattr(hollow, name, getattr(function, name))
    hollow.__dict__.update(function.__dict__)
    return hollow


def _fill(hollow: types.FunctionType, function: types.FunctionType, memo: dict[int, Any]) -> None:
    for new, cell in zip(hollow.__closure__ or (), function.__closure__ or ()):
        for content in _content(cell):
            new.cell_contents = _copied(content, memo)
    if function.__defaults__ is not None:
        hollow.__defaults__ = tuple(_copied(value, memo) for value in function.__defaults__)
    if function.__kwdefaults__ is not None:
        hollow.__kwdefaults__ = {name: _copied(value, memo) for name, value in function.__kwdefaults__.items()}


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    if not _reach_layers([value]):
        return value
    attempt = dict(memo)  # one that fails leaves halves behind
    try:
        result = copy.deepcopy(value, attempt)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        return value
    memo.update(attempt)
    memo.setdefault(id(memo), []).append(attempt)  # its id is a key as well, which nothing else may get
    return result


def _reach_layers(values: list[Any]) -> bool:
    return any(isinstance(value, _LAYERS) for value in _reachable(values))


def _reachable(values: list[Any]) -> Iterator[Any]:
    """They and all that they hold. Modules are entered, tensors are not."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        waiting.extend(_held_by(value))


def _held_by(value: Any) -> list[Any]:
    if isinstance(value, (torch.Tensor, type, types.ModuleType)):
        return []
    if isinstance(value, types.FunctionType):
        cells = [content for cell in value.__closure__ or () for content in _content(cell)]
        return [*cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if isinstance(value, types.MethodType):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    held = _attributes(value)
    if isinstance(value, dict):
        held += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        held += value
    return held


def _attributes(value: Any) -> list[Any]:
    try:
        return list(object.__getattribute__(value, "__dict__").values())  # past a `__getattr__` of the user's
    except AttributeError:
        return []


def _content(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # a variable that is not bound yet
        return []
