"""What the code of a module is told about being compiled: as in eager PyTorch, it is not.

`torch.compiler.is_compiling()` is true while a module is exported, and PyTorch's own code needs that. Code outside of
PyTorch would take branches that eager does not take. The functions' code is exchanged, since modules
import them by name.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

import torch

ASKED = ("is_compiling", "is_exporting")


def _is_compiling() -> bool:
    from solstice.tracing.answers import answer

    return answer("_is_compiling_flag")


def _is_exporting() -> bool:
    from solstice.tracing.answers import answer

    return answer("_is_exporting_flag")


def answer(flag: str) -> bool:
    """For the caller of the function that calls this."""
    caller = sys._getframe(2).f_globals.get("__name__", "")
    return caller.partition(".")[0] == "torch" and getattr(torch.compiler, flag)


_EXCHANGED: tuple[tuple[Any, Any], ...] = (
    (torch.compiler.is_compiling, _is_compiling),
    (torch.compiler.is_exporting, _is_exporting),
)


@contextlib.contextmanager
def as_in_eager() -> Iterator[None]:
    saved = [(asked, asked.__code__) for asked, _ in _EXCHANGED]
    try:
        for asked, instead in _EXCHANGED:
            asked.__code__ = instead.__code__
        yield
    finally:
        for asked, code in saved:
            asked.__code__ = code
