"""Branches on the values of tensors, where a trace that is cut may take them: it goes one way, and the graph asserts
that a call goes the same.

A number of elements is taken to be more than zero, whatever it is for the example inputs. Every other branch goes as
these go, where the code of the user asks: what PyTorch's own asks is about layouts, and would hold for one number
alone.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from typing import Any, Iterator, Optional

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from .counts import depends_on_values
from .observed import Read, Symbols, within

_ASKING = ("torch.fx.experimental", "solstice.tracing")  # between whoever asks and the answer
_MOST = 10_000  # answers: a loop may have no end


@contextlib.contextmanager
def taken(module: torch.nn.Module, reads: list[Read]) -> Iterator[None]:
    """For calls of the module. `reads`: of a run on the example inputs (observed.py)."""
    symbols = Symbols(reads)
    with within(module, symbols), with_elements(symbols):
        yield


@contextlib.contextmanager
def with_elements(symbols: Optional[Symbols] = None) -> Iterator[None]:
    """Without `symbols` only numbers of elements are taken to be more than zero."""
    answers = _Answers(symbols.numbers if symbols else {})
    evaluate, length = ShapeEnv.evaluate_expr, builtins.len

    def evaluate_or_answer(env: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return evaluate(env, *args, **kwargs)
        except GuardOnDataDependentSymNode as error:
            way = answers.way(env, error.cond)
            if way is None:
                raise
            asked = error.cond if way else sympy.Not(error.cond)
            env.guard_or_defer_runtime_assert(asked, "the way that the trace went")
            return sympy.true if way else sympy.false

    def symbolic_length(value: Any) -> Any:
        """Python's own has to be a number."""
        with torch._C.DisableTorchFunction():
            rows = value.shape[0] if isinstance(value, torch.Tensor) and value.dim() else None
        if rows is None or not depends_on_values(rows):
            return length(value)
        return rows

    ShapeEnv.evaluate_expr, builtins.len = evaluate_or_answer, symbolic_length
    try:
        yield
    finally:
        ShapeEnv.evaluate_expr, builtins.len = evaluate, length


class _Answers:
    def __init__(self, numbers: dict[sympy.Symbol, sympy.Basic]) -> None:
        self._numbers = numbers
        self._given = 0

    def way(self, env: Any, asked: sympy.Basic) -> Optional[bool]:
        """None: it is not known."""
        if not isinstance(asked, sympy.logic.boolalg.Boolean) or self._given == _MOST:
            return None
        self._given += 1
        found = _with_elements(env, asked)
        if found is None:
            found = asked.xreplace(self._numbers) if _is_of_the_user() else _of_extents(asked)
        return bool(found) if found in (sympy.true, sympy.false) else None


def _with_elements(env: Any, asked: sympy.Basic) -> Optional[sympy.Basic]:
    """What is asked, if that follows from numbers of elements that are not zero."""
    counts = asked.free_symbols & env.size_like
    ranges = {s: r & ValueRanges(1, r.upper) if s in counts else r for s, r in env.var_to_range.items()}
    found = bound_sympy(asked, ranges) if counts else None
    return found.lower if found is not None and found.is_singleton() else None


def _of_extents(asked: sympy.Basic) -> Optional[sympy.Basic]:
    """PyTorch's own compares integers with zero where they are extents, as of a slice."""
    compares = isinstance(asked, (sympy.Eq, sympy.Ne)) and 0 in asked.args
    if not compares or not all(side.is_integer for side in asked.args):
        return None
    return sympy.sympify(isinstance(asked, sympy.Ne))


def _is_of_the_user() -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != "torch" and not name.startswith(_ASKING):
            return name.partition(".")[0] not in ("torch", "sympy")
        frame = frame.f_back
    return False
