"""What only the strict tracer takes reads values, so that no run without memory can be compared with it, and it puts no
call through the module. Where that is cheap, the module runs for real, once, on its example inputs: state that it keeps
outside of buffers is refused, and so is a graph that gives other values."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from ..errors import OracleError, first_line, input_error
from ..tensors import buffers_kept, leaves, logical_bytes, module_tensors, tensor_leaves
from . import python_state

Make = Callable[[], tuple[tuple, dict]]

_MOST_BYTES = 1 << 26  # of parameters, buffers and inputs
_MOST_ELEMENTS = 1 << 24  # of all values in the graph
_TOLERANCE = 1e-3  # of the largest value: both run the same kernels, in another order at most


def difference(program: Any, module: torch.nn.Module, make: Optional[Make], fakes: Any) -> Optional[str]:
    """None where the values agree; why, where that was not tried; an error where they differ."""
    values = [v for n in program.graph.nodes for v in tensor_leaves(n.meta.get("val"))]
    held = [*module_tensors(module), *tensor_leaves(fakes)]
    if make is None or any(isinstance(t, FakeTensor) or t.device.type != "cpu" for t in module_tensors(module)):
        return "there are no values to run it on"
    if logical_bytes(held) > _MOST_BYTES or sum(v.numel() for v in values) > _MOST_ELEMENTS:
        return "it is too large"
    ran = ""
    try:
        wanted = _run(module, module, make)
        ran = "the module runs, the exported graph does not: "
        got = _run(program.module(), module, make)
    except OracleError:
        raise
    except Exception as error:  # on these inputs; the graph says nothing of the module's own
        return f"{ran}{first_line(error, 200)}"
    draws = any(torch.Tag.nondeterministic_seeded in getattr(n.target, "tags", ()) for n in program.graph.nodes)
    worst = 0.0 if draws else max((_distance(a, b) for a, b in zip(leaves(wanted), leaves(got))), default=0.0)
    if not worst <= _TOLERANCE:
        raise input_error(
            "trace.unlike_eager",
            f"the exported graph gives other values than eager PyTorch, by {worst:.2g} of the largest",
            hint="`forward` must not ask for the class of a tensor or whether it is compiled, nor keep state outside of buffers",
            **python_state.place_of_forward(module),
        )
    return None


def _run(called: torch.nn.Module, module: torch.nn.Module, make: Make) -> Any:
    torch.manual_seed(0)
    args, kwargs = make()
    with buffers_kept(module), python_state.left_as_found(module) as caches, torch.no_grad():
        with python_state.refused(module, caches):
            return pytree.tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, called(*args, **kwargs))


def _distance(wanted: Any, got: Any) -> float:
    if not isinstance(wanted, torch.Tensor):
        return 0.0 if wanted == got else float("inf")
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return float("inf")
    if wanted.is_complex() or wanted.numel() == 0:
        return 0.0  # no graph holds it
    a, b = wanted.double(), got.double()
    if not torch.equal(a.isfinite(), b.isfinite()):
        return float("inf")
    a, b = a.nan_to_num(), b.nan_to_num()
    return float((a - b).abs().max() / a.abs().max().clamp(min=1e-300))
