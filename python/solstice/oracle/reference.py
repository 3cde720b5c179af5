"""The float64 oracle and PyTorch's own result, both kept on the device.

The oracle runs the whole module in float64. When that does not fit, it runs it in parts along the
first axis, and believes the parts only if PyTorch's own results for them are the parts of its own
result; a module that mixes along that axis is refused with that reason.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Optional

import torch

from ..errors import OracleError, environment_error, internal_error, is_out_of_memory
from ..hostmem import available_bytes
from ..tensors import logical_bytes, map_tensors, module_tensors
from . import perturbing, running
from .copying import copy_module
from .double import float64_arithmetic, widened
from .inputs import restore
from .session import InputSet, Session

# How far a part's float32 result may lie from the whole's: rounding in another order, not another meaning.
PART_TOLERANCE = 1e-4
MAX_PARTS = 256
BLOCK_ELEMENTS = 1 << 26
# What PyTorch's allocators raise when memory is short; is_out_of_memory tells it from other errors of these types.
_MEMORY_ERRORS = (MemoryError, RuntimeError)


def compute(session: Session, inputs: InputSet) -> dict[str, Any]:
    """Fills `inputs.eager` and `inputs.expected`. Returns how: `{"parts": N, "notes": [...]}`."""
    module = session.module(inputs.variant)
    inputs.expected = {}
    perturbing.settle(session, inputs)
    session.progress("eager", "PyTorch's own result")
    inputs.eager = running.run(module, inputs.args, inputs.kwargs, inputs.seed)
    mutates_inputs = running.wrote_inputs(inputs.eager)
    if mutates_inputs:
        restore(session, inputs)
    session.progress("oracle", "float64 result")
    _refuse_if_host_is_too_small(session, inputs)
    double = copy_module(module).double()
    parts = _oracle(session, double, module, inputs)
    if mutates_inputs:
        restore(session, inputs)
    del double
    session.empty_cache()
    return {"parts": parts, "notes": session.notes.get(inputs.variant, [])}


def _oracle(session: Session, double: torch.nn.Module, module: torch.nn.Module, inputs: InputSet) -> int:
    try:
        inputs.expected = _run_double(double, inputs.args, inputs.kwargs, inputs.seed)
        return 1
    except _MEMORY_ERRORS as error:
        if not is_out_of_memory(error):
            raise
    session.empty_cache()
    return _in_parts(session, double, module, inputs)


def float64_values(module: torch.nn.Module, args: tuple, kwargs: dict, seed: int) -> Optional[running.Values]:
    """The module's results in float64, computed as a whole; None where there is no memory for that."""
    try:
        return _run_double(copy_module(module).double(), args, kwargs, seed)
    except _MEMORY_ERRORS as error:
        if not is_out_of_memory(error):
            raise
        return None


def _run_double(double: torch.nn.Module, args: tuple, kwargs: dict, seed: int) -> running.Values:
    with float64_arithmetic():
        values = running.run(double, *widened((args, kwargs)), seed)
    for name, value in values.items():
        if value.dtype in (torch.float32, torch.float16, torch.bfloat16):
            raise environment_error(
                "oracle.not_double",
                f"`{name}` is computed in {value.dtype} whatever the inputs",
                hint="the module narrows its values in a way the oracle cannot see",
            )
    return values


def _refuse_if_host_is_too_small(session: Session, inputs: InputSet) -> None:
    """On the CPU an allocation too many ends the process; estimate instead of trying."""
    if session.device.type != "cpu":
        return
    module = session.module(inputs.variant)
    need = 4 * logical_bytes([*inputs.tensors(), *module_tensors(module), *inputs.eager.values()])
    if need > available_bytes():
        raise environment_error(
            "oracle.too_large",
            f"a float64 oracle needs about {need / 2**30:.1f} GiB of memory, "
            f"{available_bytes() / 2**30:.1f} GiB are free",
            hint="use a machine with more memory",
        )


def _in_parts(session: Session, double: torch.nn.Module, module: torch.nn.Module, inputs: InputSet) -> int:
    extent = _common_extent(inputs)
    if extent is None:
        raise _too_large("the inputs and results share no first axis to divide")
    parts = 2
    while parts <= min(extent, MAX_PARTS):
        session.progress("oracle", f"float64 result in {parts} parts")
        try:
            inputs.expected = _run_parts(double, module, inputs, extent, parts)
            return parts
        except _MEMORY_ERRORS as error:
            if not is_out_of_memory(error):
                raise
        session.empty_cache()
        parts *= 2
    raise _too_large(f"not even in {parts // 2} parts")


def _too_large(reason: str) -> OracleError:
    return environment_error(
        "oracle.too_large",
        f"the float64 oracle does not fit on the device: {reason}",
        hint="use smaller sizes, or a device with more memory",
    )


def _common_extent(inputs: InputSet) -> Optional[int]:
    tensors = inputs.tensors() + list(inputs.eager.values())
    extents = {t.shape[0] if t.dim() else 1 for t in tensors}
    only_outputs = all(name.startswith("output.") for name in inputs.eager)
    return extents.pop() if len(extents) == 1 and only_outputs else None


def _run_parts(
    double: torch.nn.Module, module: torch.nn.Module, inputs: InputSet, extent: int, parts: int
) -> running.Values:
    whole = {
        n: torch.empty(t.shape, dtype=_oracle_dtype(t), device=t.device) for n, t in inputs.eager.items()
    }
    step = -(-extent // parts)
    for start in range(0, extent, step):
        rows = slice(start, min(start + step, extent))
        args, kwargs = map_tensors(lambda t: t[rows], (inputs.args, inputs.kwargs))
        _refuse_if_mixed(running.run(module, args, kwargs, inputs.seed), inputs.eager, rows)
        for name, value in _run_double(double, args, kwargs, inputs.seed).items():
            whole[name][rows] = value
    return whole


def _oracle_dtype(tensor: torch.Tensor) -> torch.dtype:
    return torch.float64 if tensor.is_floating_point() else tensor.dtype


def _refuse_if_mixed(part: running.Values, whole: running.Values, rows: slice) -> None:
    if part.keys() != whole.keys():
        raise internal_error("oracle.parts", "a part has other results than the whole")
    for name, value in part.items():
        expected = whole[name][rows]
        if expected.shape != value.shape or relative_error(value, expected) > PART_TOLERANCE:
            raise _too_large(
                f"and `{name}` of a part is not the part of `{name}`: the module mixes along the first axis"
            )


def relative_error(value: torch.Tensor, reference: torch.Tensor) -> float:
    """Normwise, over elements that are finite in both; infinite where they are non-finite in different ways."""
    error_squared = scale_squared = 0.0
    for v, r in _blocks(value, reference):
        v, r = v.double(), r.double()
        finite = r.isfinite()
        if not torch.equal(finite, v.isfinite()):
            return float("inf")
        v, r = torch.where(finite, v, 0.0), torch.where(finite, r, 0.0)
        scale_squared += torch.linalg.vector_norm(r).item() ** 2
        error_squared += torch.linalg.vector_norm(v.sub_(r)).item() ** 2
    if scale_squared == 0:
        return 0.0 if error_squared == 0 else float("inf")
    return math.sqrt(error_squared / scale_squared)


def _blocks(first: torch.Tensor, second: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Pieces small enough that float64 copies of them always fit."""
    if first.is_contiguous() and second.is_contiguous():
        first, second = first.view(-1), second.view(-1)
    elif first.dim() == 0 or first.numel() <= BLOCK_ELEMENTS:
        first, second = first.reshape(-1), second.reshape(-1)
    rows = max(1, BLOCK_ELEMENTS * first.shape[0] // max(1, first.numel()))
    yield from zip(first.split(rows), second.split(rows))


def all_finite(value: torch.Tensor) -> bool:
    return all(bool(block.isfinite().all()) for block, _ in _blocks(value, value))
