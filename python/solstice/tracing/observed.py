"""Numbers that a run of a module on its example inputs reads from tensors, and the symbols that stand for them while
the module is traced: both runs read the same ones, in the same order."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Optional, Union

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ..errors import OracleError, said
from ..tensors import buffers_kept, logical_bytes, module_tensors, tensor_leaves
from . import python_state
from .real_run import MOST_BYTES, Make

Read = tuple[str, Any]  # ("number", it); or a function's name, and the shape of a result

_NUMBERS = ("item", "tolist", "__bool__")  # the tracer takes a list item by item
_SHAPES = (
    *("nonzero", "argwhere", "where", "__getitem__", "masked_select", "bincount", "repeat_interleave"),
    *("unique", "unique_consecutive", "_unique2"),
)


class Unobserved(Exception):
    """Why the module was not run."""


def observe(module: torch.nn.Module, make: Make) -> list[Read]:
    """Of one call of the module where its tensors are, without gradients; buffers are as before afterwards. Raises
    Unobserved where the module is too large for a CPU or fails."""
    args, kwargs = make()
    held = [*module_tensors(module), *tensor_leaves((args, kwargs))]
    if any(t.device.type == "cpu" for t in held) and logical_bytes(held) > MOST_BYTES:
        raise Unobserved("it is too large to be run on a CPU")
    recorder = _Recorder()
    try:
        with buffers_kept(module), python_state.left_as_found(module), torch.no_grad(), within(module, recorder):
            module(*args, **kwargs)
    except OracleError:
        raise
    except Exception as error:
        raise Unobserved(f"it fails on its example inputs: {said(error)}") from error
    return recorder.reads


@contextlib.contextmanager
def within(module: torch.nn.Module, mode: TorchFunctionMode) -> Iterator[None]:
    """The mode sees what `forward` calls, before any other that is entered when the module is called."""
    entered: list[bool] = []

    def start(*_: Any) -> None:
        mode.__enter__()
        entered.append(True)

    def end(*_: Any) -> None:
        if entered:
            entered.pop()
            mode.__exit__(None, None, None)

    handles = (
        module.register_forward_pre_hook(start),
        module.register_forward_hook(end, prepend=True, always_call=True),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        end()


def _equal(one: torch.Tensor, other: torch.Tensor) -> Union[torch.Tensor, bool, None]:
    if one is other or one.dtype is not other.dtype:  # of one tensor PyTorch does not look at the elements
        return None
    return one.shape == other.shape and (one == other).all()


_TRUTHS: dict[str, Callable[..., Union[torch.Tensor, bool, None]]] = {  # None: whatever PyTorch says
    "__bool__": lambda tensor: tensor,
    "is_nonzero": lambda tensor: tensor,
    "equal": _equal,
    "allclose": lambda *args, **kwargs: torch.isclose(*args, **kwargs).all(),
}


class _Reader(TorchFunctionMode):
    """What asks a tensor for a truth (`bool(tensor)`, `torch.equal`) reads it by `.item()`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", str(func)), kwargs or {}
        truth = _TRUTHS[name](*args, **kwargs) if name in _TRUTHS else None
        if truth is None:
            made = func(*args, **kwargs)
            self.read(name, made, args, kwargs)
            return Truths().told(name, made)
        if isinstance(truth, bool):
            return truth
        made = truth.item()
        self.read("__bool__", made, args, kwargs)
        return bool(made)

    def read(self, name: str, made: Any, args: tuple, kwargs: dict) -> None:
        raise NotImplementedError


class Truths:
    """Of Python's own: of a symbol `is True` would hold for no value."""

    def __init__(self) -> None:
        self.refused = False  # an ordinary trace ended at one: that is a branch

    def told(self, name: str, made: Any) -> Any:
        """What a call of this name gives to Python code."""
        if name not in _NUMBERS:
            return made
        try:
            return [self.told(name, each) for each in made] if isinstance(made, list) else _truth(made)
        except GuardOnDataDependentSymNode:
            self.refused = True
            raise


def _truth(made: Any) -> Any:
    return bool(made) if isinstance(made, torch.SymBool) else made


class _Recorder(_Reader):
    def __init__(self) -> None:
        super().__init__()
        self.reads: list[Read] = []

    def read(self, name: str, made: Any, args: tuple, kwargs: dict) -> None:
        self.reads += [(n, tuple(v.shape) if isinstance(v, torch.Tensor) else v) for n, v in _told(name, made)]


class Symbols(_Reader):
    """Of a trace: the numbers that stand for its symbols. `torch.bincount` with a least number of bins is taken to have
    that many."""

    def __init__(self, reads: Optional[list[Read]]) -> None:
        super().__init__()
        self.numbers: dict[sympy.Symbol, sympy.Basic] = {}
        self._reads = iter(reads or [])
        self._lost = reads is None

    def read(self, name: str, made: Any, args: tuple, kwargs: dict) -> None:
        if name == "bincount":
            _check_bins(made, *args, **kwargs)
        for told, value in _told(name, made):
            was, number = next(self._reads, ("", None))
            self._lost = self._lost or was != told  # from here on nothing is known
            if self._lost:
                return
            pairs = zip(value.shape, number) if isinstance(value, torch.Tensor) else [(value, number)]
            for symbol, found in pairs:
                self.stand(symbol, found)

    def stand(self, value: Any, number: Any) -> None:
        if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) or number != number:
            return
        asked = value.node.expr
        if isinstance(value, torch.SymBool):  # Eq(u0, 1)
            asked, number = asked.args[0] if asked.args else asked, int(number)
        if isinstance(asked, sympy.Symbol):
            self.numbers[asked] = sympy.sympify(number)


def _told(name: str, made: Any) -> Iterator[Read]:
    for value in pytree.tree_leaves(made) if name in (*_NUMBERS, *_SHAPES) else []:
        if isinstance(value, torch.Tensor) == (name in _SHAPES):
            yield name if name in _SHAPES else "number", value


def _check_bins(made: torch.Tensor, input: Any, weights: Any = None, minlength: int = 0) -> None:
    """More there are only where a value is not below."""
    if minlength and isinstance(made.shape[0], torch.SymInt):
        torch._check(made.shape[0] == minlength)
