"""The float64 oracle in parts along the first axis, for modules whose float64 run does not fit as a whole.

A module that mixes along that axis, however weakly, has no parts. They are believed only if two things hold:
- parts that are cut differently have the same float64 results, to float64's own rounding;
- PyTorch's result for a part is the part of its result for the whole, to a multiple of its own rounding error. That is
  all there is about the whole: a module may look at the number of rows.
"""

from __future__ import annotations

from typing import Iterator, Optional

import torch

from ..errors import OracleError, environment_error, internal_error, is_out_of_memory
from ..tensors import map_tensors
from . import running
from .distance import relative_error
from .double import run_double
from .session import InputSet, Session

MAX_PARTS = 256
# Two float64 results whose sums run in other orders; far below what any float32 result is judged by.
DOUBLE_TOLERANCE = 1e-10
# Products of few rows are computed by other kernels, which may round several times better or worse.
ROUNDINGS = 16
# Where PyTorch's own error is no number, since it overflows where float64 does not.
UNKNOWN_TOLERANCE = 1e-4


def in_parts(session: Session, double: torch.nn.Module, module: torch.nn.Module, inputs: InputSet) -> int:
    """Fills `inputs.expected`; the number of parts."""
    extent = _common_extent(inputs)
    if extent is None:
        raise _too_large("the inputs and results share no first axis to divide")
    parts = 2
    while parts <= min(extent, MAX_PARTS):
        session.progress("oracle", f"float64 result in {parts} parts")
        try:
            inputs.expected = _run_parts(double, module, inputs, extent, parts)
            return parts
        except (MemoryError, RuntimeError) as error:
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
    whole = {n: torch.empty(t.shape, dtype=_oracle_dtype(t), device=t.device) for n, t in inputs.eager.items()}
    step = -(-extent // parts)
    for start in range(0, extent, step):
        rows = slice(start, min(start + step, extent))
        exact = _run_rows(double, inputs, rows, in_double=True)
        _refuse_if_whole_differs(_run_rows(module, inputs, rows), inputs.eager, exact, rows)
        for name, value in exact.items():
            whole[name][rows] = value
    for rows in _across_cuts(extent, step):
        _refuse_if_cut_matters(_run_rows(double, inputs, rows, in_double=True), whole, rows)
    return whole


def _across_cuts(extent: int, step: int) -> Iterator[slice]:
    """Rows on both sides of the first cut and of the last; where possible another number of them than the parts
    have."""
    count = min(extent, step - 1 if step > 2 else 2)
    for cut in sorted({step, (extent - 1) // step * step}):
        start = max(0, min(cut - max(1, count // 2), extent - count))
        yield slice(start, start + count)


def _run_rows(module: torch.nn.Module, inputs: InputSet, rows: slice, in_double: bool = False) -> running.Values:
    args, kwargs = map_tensors(lambda t: t[rows], (inputs.args, inputs.kwargs))
    try:
        values = (run_double if in_double else running.run)(module, args, kwargs, inputs.seed)
    except OracleError as error:
        if error.code != "oracle.forward_failed":
            raise
        raise _too_large(f"and `forward` does not take a part of its inputs: {error.message}") from error
    if values.keys() != inputs.eager.keys():
        raise internal_error("oracle.parts", "a part has other results than the whole")
    for name, value in values.items():
        if value.shape != inputs.eager[name][rows].shape:
            raise _mixes(name, "a part has a result of another shape")
    return values


def _oracle_dtype(tensor: torch.Tensor) -> torch.dtype:
    return torch.float64 if tensor.is_floating_point() else tensor.dtype


def _refuse_if_whole_differs(part: running.Values, whole: running.Values, exact: running.Values, rows: slice) -> None:
    for name, value in part.items():
        unit = torch.finfo(value.dtype).eps if value.is_floating_point() else 0.0
        limit = ROUNDINGS * (unit + relative_error(value, exact[name]))
        limit = limit if limit < float("inf") else UNKNOWN_TOLERANCE
        distance = relative_error(value, whole[name][rows])
        if distance > limit:
            raise _mixes(
                name,
                f"PyTorch's result of a part is {distance:.2g} from the whole's, its rounding explains {limit:.2g}",
            )


def _refuse_if_cut_matters(other: running.Values, whole: running.Values, rows: slice) -> None:
    for name, value in other.items():
        distance = relative_error(value, whole[name][rows])
        if distance > DOUBLE_TOLERANCE:
            raise _mixes(name, f"float64 results of parts cut differently are {distance:.2g} apart")


def _mixes(name: str, how: str) -> OracleError:
    return _too_large(f"and the module mixes along the first axis, so that parts do not give `{name}` ({how})")
