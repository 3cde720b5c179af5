"""What eager PyTorch would call, from a run of `forward` on tensors that have no memory but say that they lie where the
module's do. No kernel runs. Tensors are of class `torch.Tensor` in it and nothing is being compiled, unlike in the
tracer's run; where it calls other functions than that, or with other arguments, the graph is not the module.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import Any, Callable, Optional

import torch
from torch.nn.utils import stateless
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ..errors import OracleError, said, input_error
from ..tensors import map_tensors, tensor_leaves
from .calls import Call, Calls, recorded
from .shapes import SHAPES_OF_FUNCTIONS

Pair = tuple[Optional[Call], Optional[Call]]
_META = torch.device("meta")
# Where a tensor says it lies: the type of device that makes each true. Between calls they are equal, not identical.
_PLACES = {
    torch.Tensor.device.__get__: None,
    torch.Tensor.is_meta.__get__: "meta",
    torch.Tensor.is_cpu.__get__: "cpu",
    torch.Tensor.is_cuda.__get__: "cuda",
}


def _emptied(value: torch.Tensor) -> torch.Tensor:
    """A tensor of that form without memory."""
    made = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=_META)
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(made, value.requires_grad)
    return made.requires_grad_(value.requires_grad)


class _Placed(TorchFunctionMode):
    """Tensors are made without memory, and say that they lie on `device`."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device
        self._emptied: dict[int, tuple[Any, Any]] = {}  # by id; keeps what it was made of

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _PLACES and args[0].is_meta:
            return self._device if _PLACES[func] is None else self._device.type == _PLACES[func]
        if func in SHAPES_OF_FUNCTIONS and isinstance(args[3], bool):  # not of a packed sequence
            return SHAPES_OF_FUNCTIONS[func](*args)
        if func in (torch.Tensor.cpu, torch.Tensor.cuda):
            return args[0]
        if func is torch.Tensor.to and not args[0].is_meta:
            return func(*args, **kwargs)  # a constant stays where it is
        args, kwargs = pytree.tree_map(lambda v: _META if _is_device(v) else v, (args, kwargs))
        if any(isinstance(v, torch.Tensor) and v.is_meta for v in pytree.tree_leaves((args, kwargs))):
            args, kwargs = pytree.tree_map(self._without_memory, (args, kwargs))
        return func(*args, **kwargs)

    def _without_memory(self, value: Any) -> Any:
        """A constant of the module's, read beside others. One without dimensions may stand there, and be read."""
        if not isinstance(value, torch.Tensor) or value.is_meta or value.dim() == 0:
            return value
        return self._emptied.setdefault(id(value), (value, _emptied(value)))[1]


def _is_device(value: Any) -> bool:
    return isinstance(value, torch.device) or isinstance(value, str) and value.split(":")[0] in ("cpu", "cuda")


def calls_of(module: torch.nn.Module, args: tuple, kwargs: dict) -> Calls:
    """Raises what `forward` raises, be it that it reads values."""
    tensors = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    given = [*tensors.values(), *tensor_leaves((args, kwargs))]
    device = given[0].device if given else torch.device("cpu")
    made = {id(t): _emptied(t) for t in given}  # what is one tensor stays one
    state = {name: made[id(t)] for name, t in tensors.items()}
    args, kwargs = map_tensors(lambda t: made[id(t)], (args, kwargs))
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(_META)
        stack.enter_context(_Placed(device))
        stack.enter_context(stateless._reparametrize_module(module, state))
        found = stack.enter_context(recorded(module))
        module(*args, **kwargs)
    return found[-1]


def difference(traced: Calls, module: torch.nn.Module, args: tuple, kwargs: dict) -> Optional[str]:
    """None where both make the same calls; why, where that cannot be found out; an error where they differ."""
    if traced.is_mixed:
        return "autocast does nothing to tensors without memory"
    try:
        eager = calls_of(module, args, kwargs)
    except OracleError:
        raise
    except Exception as error:
        return said(error)
    found = _unlike([c for c in traced.made if c.is_users], [c for c in eager.made if c.is_users], Call.told)
    found = found or _unlike(
        [c for c in traced.made if c.of_module()], [c for c in eager.made if c.of_module()], Call.of_module
    )
    if found is not None:
        raise _differs(*found)
    return None


def _unlike(traced: list[Call], eager: list[Call], told: Callable[[Call], Any]) -> Optional[Pair]:
    """The first calls that differ. Of PyTorch's own calls only what they take of the module is compared: its code may
    ask whether it is traced, and does the same by other functions."""
    pairs = itertools.zip_longest(traced, eager)
    return next(((was, now) for was, now in pairs if was is None or now is None or told(was) != told(now)), None)


def _differs(was: Optional[Call], now: Optional[Call]) -> OracleError:
    where = now or was
    place = {"file": where.file, "line": where.line} if where is not None and where.line else {}
    return input_error(
        "trace.unlike_eager",
        f"the tracer's run of `forward` is not eager PyTorch's: it calls {_shown(was)}, eager {_shown(now)}",
        hint="`forward` must not ask for the class of a tensor or whether it is compiled, nor keep state outside of "
        "buffers",
        **place,
    )


def _shown(call: Optional[Call]) -> str:
    return f"`{call.name}({', '.join(call.arguments)})`" if call is not None else "nothing more"
