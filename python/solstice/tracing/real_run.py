"""What only the strict tracer takes reads values, so that no run without memory can be compared with it, and it puts no
call through the module. Where that is cheap, the module runs for real, once, on its example inputs: state that it keeps
outside of buffers is refused, and so is a graph that gives other values."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from ..errors import OracleError, input_error, said
from ..tensors import buffers_kept, leaves, logical_bytes, module_tensors, tensor_leaves
from . import python_state
from .values import extent

Make = Callable[[], tuple[tuple, dict]]

MOST_BYTES = 1 << 26  # of parameters, buffers and inputs
_MOST_ELEMENTS = 1 << 24  # of all values in the graph
_TOLERANCE = 1e-3  # both run the same kernels, in another order at most


def difference(program: Any, module: torch.nn.Module, make: Optional[Make], fakes: Any) -> Optional[str]:
    """None where the values agree; why, where that was not tried; an error where they differ."""
    values = [v for n in program.graph.nodes for v in tensor_leaves(n.meta.get("val"))]
    if (why := _why_not(module, make, fakes)) is not None:
        return why
    if sum(math.prod(map(extent, v.shape)) for v in values) > _MOST_ELEMENTS:
        return "it is too large"
    ran = ""
    try:
        wanted = _run(module, module, make)
        ran = "the module runs, the exported graph does not: "
        got = _run(program.module(), module, make)
    except OracleError:
        raise
    except Exception as error:  # on these inputs; the graph says nothing of the module's own
        return f"{ran}{said(error)}"
    if any(torch.Tag.nondeterministic_seeded in getattr(n.target, "tags", ()) for n in program.graph.nodes):
        return "it draws random numbers"
    off = distance(wanted, got)
    if not off <= _TOLERANCE:
        raise input_error(
            "trace.unlike_eager",
            "the exported graph gives other values than eager PyTorch"
            f"{f', by {off:.2g} of their size' if off < math.inf else ''}",
            hint="`forward` must not ask for the class of a tensor or whether it is compiled, "
            "nor keep state outside of buffers",
            **python_state.place_of_forward(module),
        )
    return None


def failure(module: torch.nn.Module, make: Optional[Make], fakes: Any) -> Optional[BaseException]:
    """What eager PyTorch raises on the example inputs, None where it runs; `Untried` where that is not known."""
    if _why_not(module, make, fakes) is not None:
        return Untried()
    try:
        _run(module, module, make)
    except OracleError:
        return None
    except Exception as error:
        return error
    return None


class Untried(Exception):
    """A run that would take too long, or that has no values; false."""

    def __bool__(self) -> bool:
        return False


def _why_not(module: torch.nn.Module, make: Optional[Make], fakes: Any) -> Optional[str]:
    if make is None or any(isinstance(t, FakeTensor) or t.device.type != "cpu" for t in module_tensors(module)):
        return "there are no values to run it on"
    held = [*module_tensors(module), *tensor_leaves(fakes)]
    return "it is too large" if logical_bytes(held) > MOST_BYTES else None


def distance(wanted: Any, got: Any) -> float:
    pairs = leaves(wanted), leaves(got)
    if len(pairs[0]) != len(pairs[1]):
        return math.inf
    return max((_distance_of_one(a, b) for a, b in zip(*pairs)), default=0.0)


def _run(called: torch.nn.Module, module: torch.nn.Module, make: Make) -> Any:
    torch.manual_seed(0)
    args, kwargs = make()
    with buffers_kept(module), python_state.left_as_found(module) as caches, torch.no_grad():
        with python_state.refused(module, caches):
            return pytree.tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, called(*args, **kwargs))


def _distance_of_one(wanted: Any, got: Any) -> float:
    """Of what differs, relative to the value or to the median of such values: a mask's large constants set no scale."""
    if not isinstance(wanted, torch.Tensor) or not isinstance(got, torch.Tensor):
        return 0.0 if wanted is got or wanted == got else math.inf
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return math.inf
    if wanted.is_complex():
        return 0.0  # no graph holds it
    a, b = wanted.double(), got.double()
    differs = (a != b) & ~(a.isnan() & b.isnan())
    if not differs.any():
        return 0.0
    a, b = a[differs], b[differs]
    if not wanted.is_floating_point() or not (a.isfinite() & b.isfinite()).all():
        return math.inf
    return float(((a - b).abs() / a.abs().clamp(min=max(float(a.abs().median()), 1e-300))).max())
