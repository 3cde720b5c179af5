"""Finds state that `forward` keeps outside of parameters and buffers.

`self.n += 1; return x + self.n` exports as `x + 1` for ever, `self.h = self.cell(x, self.h)` as its first step. What
the module and the code around it hold (picture.py), and the state of Python's and NumPy's random numbers, are compared
at the start and at the end of the traced call; a change is refused by name, with the line that makes it.

The comparison stands within the call, because the tracer puts attributes back when it is done.
"""

from __future__ import annotations

import contextlib
import dis
import hashlib
import random
import sys
import types
from typing import Any, Iterator, Optional

import torch

from ..dropin import names
from ..errors import function_location, input_error
from .picture import Picture, changes

_MOST_NAMED = 5
_STORES = ("STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF", "STORE_FAST")
_BUILDING = ("__init__", "__new__", "__post_init__", "__setstate__")


@contextlib.contextmanager
def left_as_found(module: torch.nn.Module) -> Iterator[list[Any]]:
    """Runs without memory may set attributes and buffers to tensors that nobody else can use, and fill caches with
    them; one that ends with an error leaves them. What it yields is to be filled with the caches."""
    tables = [held for child in module.modules() for held in (vars(child), child._parameters, child._buffers)]
    saved = [(held, dict(held)) for held in tables if isinstance(held, dict)]  # TorchScript has others
    caches: list[Any] = []
    try:
        yield caches
    finally:
        _clear(caches)
        for held, before in saved:
            held.clear()
            held.update(before)


@contextlib.contextmanager
def refused(module: torch.nn.Module, caches: list[Any]) -> Iterator[None]:
    """Within it a call of the module that changes such state ends with an error. Functions under `functools.cache`
    count as functions: their caches are empty when the call begins, and when it is over."""
    before: list[tuple[Picture, dict[str, str]]] = []

    def start(*_: Any) -> None:
        found = Picture(module)
        caches.extend(found.caches)
        _clear(caches)
        before.append((found, _random_numbers()))

    def end(*_: Any) -> None:
        now = Picture(module)
        caches.extend(now.caches)
        _clear(caches)
        _refuse(module, *before.pop(), now)

    handles = (module.register_forward_pre_hook(start, prepend=True), module.register_forward_hook(end))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _clear(caches: list[Any]) -> None:
    for cache in caches:
        cache.cache_clear()


def _refuse(module: torch.nn.Module, was: Picture, drawn: dict[str, str], now: Picture) -> None:
    found = changes(was, now)
    found += [(f"`{name}`", "random") for name, state in _random_numbers().items() if drawn.get(name, state) != state]
    if found:
        phrases = [phrase for phrase, _ in found[:_MOST_NAMED]]
        raise input_error(
            "trace.python_state",
            f"`forward` changes state that is no buffer: {'; '.join(phrases)}",
            hint="keep it in a registered buffer (`register_buffer` in the constructor, where a table that the first "
            "call "
            "fills is made, too), what one call needs in a local variable, and draw random numbers with PyTorch",
            **_place(module, now, found[0][1]),
        )


def _random_numbers() -> dict[str, str]:
    states = {"random.getstate()": random.getstate()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        states["numpy.random.get_state()"] = tuple(map(str, numpy.random.get_state()))
    return {name: hashlib.sha256(repr(state).encode()).hexdigest() for name, state in states.items()}


def _place(module: torch.nn.Module, found: Picture, word: str) -> dict[str, Any]:
    """Of the first instruction in the user's code that stores under this word, else of the first that names it, else of
    the module's forward."""
    codes = [code for code in found.codes if code.co_name not in _BUILDING]
    mentions = [
        (i.opname in _STORES, code, line) for code in codes for i, line in _instructions(code) if i.argval == word
    ]
    mentions.sort(key=lambda mention: not mention[0])
    if mentions:
        return {"file": mentions[0][1].co_filename, "line": mentions[0][2]}
    return place_of_forward(module)


def place_of_forward(module: torch.nn.Module) -> dict[str, Any]:
    return function_location(type(module).forward)


def _instructions(code: types.CodeType) -> Iterator[tuple[dis.Instruction, Optional[int]]]:
    for part in names.codes_in(code):
        line: Optional[int] = part.co_firstlineno
        for instruction in dis.get_instructions(part):
            line = instruction.positions.lineno if instruction.positions else line
            yield instruction, line
