"""Branches on the values of tensors, where a trace that is cut may take them: it goes one way, and the graph asserts
that a call goes the same.

What the code of the user asks goes as the example inputs go. What PyTorch's own asks is about layouts, and would hold
for one number alone: of it only numbers of elements are answered, which are taken to be more than zero.
"""

from __future__ import annotations

import builtins
import contextlib
from typing import Any, Iterator, Optional

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv, canonicalize_bool_expr
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from .causes import ASKED
from .counts import depends_on_values
from .floats import finite, is_of_the_user
from .observed import Read, Symbols, within

_MOST = 10_000  # answers: a loop may have no end


@contextlib.contextmanager
def taken(module: torch.nn.Module, reads: list[Read]) -> Iterator[dict[sympy.Basic, None]]:
    """For calls of the module; what has to be asserted, in the order in which it is asked. `reads`: of a run on the
    example inputs (observed.py)."""
    symbols = Symbols(reads)
    with within(module, symbols), with_elements(symbols) as asserted:
        yield asserted


@contextlib.contextmanager
def with_elements(symbols: Optional[Symbols] = None) -> Iterator[dict[sympy.Basic, None]]:
    """As taken(); without `symbols` only numbers of elements are taken to be more than zero."""
    answers = _Answers(symbols.numbers if symbols else {})
    asserted: dict[sympy.Basic, None] = {}
    evaluate, length = ShapeEnv.evaluate_expr, builtins.len

    def evaluate_or_answer(env: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return evaluate(env, *args, **kwargs)
        except GuardOnDataDependentSymNode as error:
            way = answers.way(env, error.cond)
            if way is None:
                raise
            if not state(env, error.cond if way else sympy.Not(error.cond)):
                raise  # PyTorch knows that this way is closed
            return sympy.true if way else sympy.false

    def state(env: Any, holds: sympy.Basic) -> bool:
        asked = _stated(holds)
        is_open = env.guard_or_defer_runtime_assert(asked, "the way that the trace went")
        if is_open:
            asserted[canonicalize_bool_expr(asked)] = None
        return is_open

    def symbolic_length(value: Any) -> Any:
        """Python's own has to be a number."""
        with torch._C.DisableTorchFunction():
            rows = value.shape[0] if isinstance(value, torch.Tensor) and value.dim() else None
        if rows is None or not depends_on_values(rows):
            return length(value)
        return rows

    ShapeEnv.evaluate_expr, builtins.len = evaluate_or_answer, symbolic_length
    try:
        with finite(state):
            yield asserted
    finally:
        ShapeEnv.evaluate_expr, builtins.len = evaluate, length


def _stated(holds: sympy.Basic) -> sympy.Basic:
    """Of a number that is no integer PyTorch drops a bound that it may reach, and the number with it."""
    if isinstance(holds, (sympy.Ge, sympy.Le)) and not all(side.is_integer for side in holds.args):
        below = sympy.Lt if isinstance(holds, sympy.Le) else sympy.Gt
        return sympy.Or(below(*holds.args), sympy.Eq(*holds.args))
    return holds


class _Answers:
    def __init__(self, numbers: dict[sympy.Symbol, sympy.Basic]) -> None:
        self._numbers = numbers
        self._given = 0

    def way(self, env: Any, asked: sympy.Basic) -> Optional[bool]:
        """None: it is not known."""
        if not isinstance(asked, ASKED) or self._given == _MOST:
            return None
        self._given += 1
        users = is_of_the_user()
        ways = [asked.xreplace(self._numbers)] if users else []
        ways += [_with_elements(env, asked), None if users else _of_extents(asked)]
        return next((bool(way) for way in ways if way in (sympy.true, sympy.false)), None)


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
