"""Numbers that are no integers and are read from tensors. The tracer computes with them as with real numbers: `v != v`
is false, `v - v` is 0, `a - b >= 0` is `a >= b`. That holds for finite ones."""

from __future__ import annotations

import contextlib
import math
import operator
import sys
from typing import Any, Callable, Iterator, Optional

import sympy
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._sympy.functions import Mod, PythonMod

from ..errors import input_error
from .observed import Truths

State = Callable[[Any, sympy.Basic], None]  # the shape environment, and what has to hold

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ARITHMETIC = ("add", "sub", "mul", "truediv", "float_truediv", "mod")
_LARGEST = sympy.Float(sys.float_info.max)
_ASKS = ("torch._dynamo.utils",)  # on behalf of the user, whose calls it makes
_BETWEEN = ("torch.fx.experimental", "solstice.tracing")  # whoever asks and the answer


@contextlib.contextmanager
def finite(state: Optional[State] = None) -> Iterator[None]:
    """`state` is told that numbers have to be finite where code outside of PyTorch rests on that; without it such code
    branches on values. Errors: `trace.not_exportable` where a remainder is compared."""
    saved = {name: getattr(SymNode, name) for name in (*_COMPARISONS, *_ARITHMETIC)}
    for name, compute in saved.items():
        setattr(SymNode, name, _looked_at(name, compute, state))
    try:
        yield
    finally:
        for name, compute in saved.items():
            setattr(SymNode, name, compute)


def _looked_at(name: str, compute: Any, state: Optional[State]) -> Any:
    compares = name in _COMPARISONS

    def looked_at(self: Any, other: Any) -> Any:
        fails = compares and _fails(self, other) and is_of_the_user(_ASKS)
        made = self.wrap_bool(_compared(name, self, other)) if fails else compute(self, other)
        sides = (self.expr, other.expr)
        numbers = [s for s in sorted(sides[0].free_symbols | sides[1].free_symbols, key=str) if not s.is_integer]
        if not compares:
            numbers = [n for n in numbers if n not in made.expr.free_symbols]  # they cancel each other
        if not numbers or compares and _is_plain(made, sides) or not is_of_the_user(_ASKS):
            return made
        if compares and any(not n.is_integer for s in sides for rest in s.atoms(Mod, PythonMod) for n in rest.args):
            raise input_error(
                "trace.not_exportable",
                "the module cannot be traced: it compares a remainder of numbers that are no integers",
                hint="compute it as a tensor (`torch.remainder`), and compare that",
            )
        for number in numbers:
            for holds in (sympy.Ge(number, -_LARGEST), sympy.Le(number, _LARGEST)):
                if state is None:
                    raise GuardOnDataDependentSymNode(holds, f"{number} has to be finite")
                state(self.shape_env, holds)
        return made

    return looked_at


def _fails(one: Any, other: Any) -> bool:
    """PyTorch cannot compare one truth with another, nor a number with infinity."""
    are_truths = one.pytype is bool and other.pytype is bool
    return are_truths or any(side.expr in (sympy.oo, -sympy.oo) for side in (one, other))


def _compared(name: str, one: Any, other: Any) -> bool:
    """Of truths, each of which is a branch; of a number that is finite and infinity."""
    if one.pytype is bool:
        sides = [side.guard_bool("", 0) for side in (one, other)]
    else:
        sides = [float(side.expr) if side.expr in (sympy.oo, -sympy.oo) else 0.0 for side in (one, other)]
    return getattr(operator, name)(*sides)


def _is_plain(made: Any, sides: tuple) -> bool:
    """A comparison that is open, of one number with another or with a constant."""
    is_open = not made.is_constant() and made.expr not in (sympy.true, sympy.false)
    return is_open and all(side.is_Symbol or side.is_number and math.isfinite(side) for side in sides)


def is_of_the_user(on_behalf: tuple[str, ...] = ()) -> bool:
    """Whether code outside of PyTorch asks a number something; or PyTorch's modules `on_behalf` of it."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is Truths.told.__code__:
            return True
        name = frame.f_globals.get("__name__", "")
        if name != "torch" and not name.startswith(_BETWEEN):
            return name.partition(".")[0] not in ("torch", "sympy") or name.startswith(on_behalf)
        frame = frame.f_back
    return False
