"""Assertions in an exported program. PyTorch leaves some out: bounds of one number, where it writes the range that it
knows of that, and ranges of sizes are wider and those of floats are not written."""

from __future__ import annotations

import contextlib
import math
import operator
import re
from typing import Any, Callable, Iterable, Iterator, Optional

import sympy
import torch
from torch.fx import Graph, Node, Proxy
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

_SAID = "Runtime assertion failed for expression {} on node '{}'"
_EXPRESSION = re.compile(_SAID.format("(.*)", ".*") + "$")


def expression(said: str) -> Optional[str]:
    """Of an assertion on symbols, by what it says where it fails."""
    found = _EXPRESSION.match(said)
    return found[1] if found else None


def complete(program: torch.export.ExportedProgram, wanted: Iterable[sympy.Basic]) -> list[sympy.Basic]:
    """Adds the assertions that are not there; those that cannot be stated."""
    graph = program.graph_module.graph
    asserted = [n.args[1] for n in graph.nodes if n.target is torch.ops.aten._assert_scalar.default]
    known = {expression(said) for said in asserted}
    missing = [each for each in wanted if str(each) not in known]
    left = [each for each in missing if not _state(graph, each)]
    graph.lint()
    program.graph_module.recompile()
    return left


def _rounded(function: Callable) -> Any:
    def made(number: Any, *_: Any) -> Any:
        if isinstance(number, Proxy):
            return number.tracer.create_proxy("call_function", function, (number,), {})
        return function(number)

    return staticmethod(made)


_ARITHMETIC = {
    "int_truediv": staticmethod(operator.truediv),
    **{f"{name}_to_int": _rounded(getattr(math, name)) for name in ("floor", "ceil", "trunc")},
    "round_to_int": _rounded(round),
}


@contextlib.contextmanager
def with_arithmetic() -> Iterator[None]:
    """PyTorch fails to state assertions in which integers are divided, or numbers made integers."""
    saved = {name: PythonReferenceAnalysis.__dict__.get(name) for name in _ARITHMETIC}
    for name, compute in _ARITHMETIC.items():
        setattr(PythonReferenceAnalysis, name, compute)
    try:
        yield
    finally:
        for name, compute in saved.items():
            delattr(PythonReferenceAnalysis, name) if compute is None else setattr(
                PythonReferenceAnalysis, name, compute
            )


def _state(graph: Graph, wanted: sympy.Basic) -> bool:
    found: dict[sympy.Symbol, tuple[Node, Any]] = {}  # what has the symbol, and which dimension of that
    for node in graph.nodes:
        for symbol in wanted.free_symbols - found.keys():
            place = _place_of(node, symbol)
            if place is not None:
                found[symbol] = node, place
                last = node
    if found.keys() != wanted.free_symbols:
        return False
    after = last.next
    while after.op == "placeholder":
        after = after.next
    with graph.inserting_before(after):
        numbers = {symbol: _number(graph, node, place) for symbol, (node, place) in found.items()}
        holds = sympy_interp(PythonReferenceAnalysis, numbers, wanted).node
        graph.call_function(torch.ops.aten._assert_scalar.default, (holds, _SAID.format(wanted, holds)))
    return True


def _place_of(node: Node, symbol: sympy.Symbol) -> Any:
    """The dimension whose extent it is, "number" where the value is it, "truth" where it says whether it is 1."""
    value = node.meta.get("val")
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        expressions = {symbol: "number", sympy.Eq(symbol, 1): "truth"}
        return expressions.get(value.node._expr)
    shape = value.shape if isinstance(value, torch.Tensor) else ()
    extents = [n.node._expr if isinstance(n, torch.SymInt) else n for n in shape]
    return extents.index(symbol) if symbol in extents else None


def _number(graph: Graph, node: Node, place: Any) -> Proxy:
    if place == "number":
        return Proxy(node)
    if place == "truth":
        return Proxy(graph.call_function(torch.sym_ite, (node, 1, 0)))
    return Proxy(graph.call_function(torch.ops.aten.sym_size.int, (node, place)))
