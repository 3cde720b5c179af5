"""Smaller sizes for a file with `get_inputs()` and `get_init_inputs()`, for tools/check_problems.py.

The sizes are the whole numbers above KEPT that the file assigns at module level, writes in its two makers or gives as
defaults to the module's constructor, and whatever is called a batch. Each is replaced by a small number of the same
parity, different from the others where that can be, as long as `forward` still runs and calls the same functions
with results of the same ranks and the same extents of 1. Numbers inside the classes stay.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Callable, Iterator, Optional

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from solstice.loading import as_arguments
from solstice.tracing.shapes import _RECURRENT as _RECURRENT_SHAPES

KEPT = 12  # windows, strides, heads and the like are at most this
SMALLEST = 12
BATCHES = (2, 3)
MAKERS = ("get_inputs", "get_init_inputs")
_RECURRENT = {op.__name__.partition(".")[0]: shape for op, shape in _RECURRENT_SHAPES}


@dataclass
class Site:
    """One number of the source, in one or more places."""

    name: str
    nodes: list[ast.Constant]
    real: int

    def put(self, value: int) -> None:
        for node in self.nodes:
            node.value = value

    @property
    def value(self) -> int:
        return self.nodes[0].value

    def candidates(self, taken: set[int], repeats: bool) -> Iterator[int]:
        if "batch" in self.name.lower():
            yield from (b for b in BATCHES if b < self.real)
            return
        found = []
        for step in (2, 4, 8, 16, 32):
            steps = range(SMALLEST + (self.real - SMALLEST) % step, self.real, step)
            found += [v for v in steps if v not in taken][: 4 if step == 2 else 2]
        yield from sorted(set(found))
        if repeats:
            yield from range(SMALLEST + (self.real - SMALLEST) % 4, self.real, 4)[:8]
            yield from (self.real // n for n in (8, 4, 2) if self.real // n >= SMALLEST)


class _Fold(ast.NodeTransformer):
    """`256 * 8` as one number."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        whole = all(isinstance(n, ast.Constant) and type(n.value) is int for n in (node.left, node.right))
        if not whole or not isinstance(node.op, (ast.Mult, ast.Add, ast.Sub, ast.Pow)):
            return node
        return ast.Constant(eval(compile(ast.Expression(ast.fix_missing_locations(node)), "", "eval")))


def sites(tree: ast.Module, class_name: str = "Model") -> list[Site]:
    found: list[Site] = []
    for item in tree.body:
        if isinstance(item, ast.Assign):
            found += _sites_of(item.value, " ".join(ast.unparse(t) for t in item.targets))
        elif isinstance(item, ast.FunctionDef) and item.name in MAKERS:
            for statement in item.body:
                found += _sites_of(statement, item.name)
        elif isinstance(item, ast.ClassDef) and item.name == class_name:
            for method in item.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    for default in method.args.defaults:
                        found += _sites_of(default, "default")
    return found


def _sites_of(tree: ast.AST, name: str) -> list[Site]:
    found: list[Site] = []
    if isinstance(tree, ast.BinOp) and isinstance(tree.left, ast.List):
        return _sites_of(tree.left, name)  # the number of copies is no size
    if isinstance(tree, ast.List):  # layers of one width keep one width
        for element in tree.elts:
            for site in _sites_of(element, name):
                twin = next((s for s in found if s.real == site.real), None)
                twin.nodes.extend(site.nodes) if twin else found.append(site)
        return found
    if isinstance(tree, ast.Constant):
        least = BATCHES[0] if "batch" in name.lower() else KEPT
        return [Site(name, [tree], tree.value)] if type(tree.value) is int and tree.value > least else []
    for child in ast.iter_child_nodes(tree):
        found += _sites_of(child, name)
    return found


def _joined(found: list[Site]) -> list[Site]:
    out: dict[int, Site] = {}
    for site in found:
        out.setdefault(site.real, Site(site.name, [], site.real)).nodes.extend(site.nodes)
    return list(out.values())


class _Calls(TorchFunctionMode):
    """Notes what `forward` calls; recurrent layers are not run."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        shaped = _RECURRENT.get(name)
        result = (shaped or func)(*args, **(kwargs or {}))
        tensors = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
        self.calls.append((name, [[n == 1 for n in t.shape] for t in tensors]))
        return result


def calls_of(namespace: ModuleType) -> list[Any]:
    """Raises what the module raises."""
    args, kwargs = as_arguments(namespace.get_init_inputs())
    module = namespace.Model(*args, **kwargs)
    inputs, named = as_arguments(namespace.get_inputs())
    with torch.no_grad(), _Calls() as seen:
        module(*inputs, **named)
    return seen.calls


def _run(tree: ast.Module, file: str, device: Optional[str]) -> list[Any]:
    namespace = ModuleType("shrunken")
    exec(compile(tree, file, "exec"), namespace.__dict__)
    if device is None:
        return calls_of(namespace)
    with torch.device(device):
        return calls_of(namespace)


def _runner(tree: ast.Module, file: str) -> tuple[Callable[[], list[Any]], list[Any]]:
    """How to run it without storage if its constructor allows, and the calls at the real sizes."""
    try:
        return (lambda: _run(tree, file, "meta")), _run(tree, file, "meta")
    except Exception:  # a constructor that reads values; what else is wrong shows in the real run
        return (lambda: _run(tree, file, None)), _run(tree, file, None)


def shrink(source: str, file: str, joined: bool = False) -> tuple[str, dict[str, str]]:
    """The source with small sizes, and what they were: `{name: "8192 -> 12"}`. Joined: what was equal stays equal."""
    tree = ast.fix_missing_locations(_Fold().visit(ast.parse(source)))
    run, wanted = _runner(tree, file)
    found = _joined(sites(tree)) if joined else sites(tree)
    for turn in range(3):
        before = [s.value for s in found]
        for site in sorted(found, key=lambda s: s.value):
            _shrink_one(site, {s.value for s in found if s is not site}, turn == 0, run, wanted)
        if [s.value for s in found] == before:
            break
    return ast.unparse(tree), {s.name: f"{s.real} -> {s.value}" for s in found if s.value != s.real}


def _shrink_one(site: Site, taken: set[int], repeats: bool, run: Callable[[], list[Any]], wanted: list[Any]) -> None:
    now = site.value
    for value in site.candidates(taken, repeats):
        if value >= now:
            continue
        site.put(value)
        try:
            if run() == wanted:
                return
        except Exception:  # the module refuses this size: the next
            pass
        site.put(now)
