"""The float64 oracle and PyTorch's own result, both kept on the device.

The oracle runs the whole module in float64, or in parts where that does not fit (parts.py).
"""

from __future__ import annotations

from typing import Any, Optional

import torch

from ..errors import environment_error, is_out_of_memory
from ..hostmem import available_bytes
from ..tensors import logical_bytes, map_tensors, module_tensors
from . import perturbing, running
from .copying import copy_module
from .double import run_double
from .inputs import restore
from .parts import in_parts
from .precision import tf32_allowed
from .session import InputSet, Session

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
    count = _oracle(session, double, module, inputs)
    if mutates_inputs:
        restore(session, inputs)
    del double
    session.empty_cache()
    return {"parts": count, "notes": session.notes.get(inputs.variant, [])}


def with_tf32(session: Session, inputs: InputSet) -> InputSet:
    """A set that holds PyTorch's own result with TF32 allowed as its `eager`, and nothing else."""
    session.progress("eager", "PyTorch's own result with TF32")
    args, kwargs = inputs.args, inputs.kwargs
    if running.wrote_inputs(inputs.eager):  # others may be reading them
        args, kwargs = map_tensors(lambda t: t.clone(), (args, kwargs))
    with tf32_allowed():
        values = running.run(session.module(inputs.variant), args, kwargs, inputs.seed)
    return InputSet(inputs.seed, inputs.family, inputs.variant, (), {}, eager=values)


def _oracle(session: Session, double: torch.nn.Module, module: torch.nn.Module, inputs: InputSet) -> int:
    try:
        inputs.expected = run_double(double, inputs.args, inputs.kwargs, inputs.seed)
        return 1
    except _MEMORY_ERRORS as error:
        if not is_out_of_memory(error):
            raise
    session.empty_cache()
    return in_parts(session, double, module, inputs)


def float64_values(module: torch.nn.Module, args: tuple, kwargs: dict, seed: int) -> Optional[running.Values]:
    """The module's results in float64, computed as a whole; None where there is no memory for that."""
    try:
        return run_double(copy_module(module).double(), args, kwargs, seed)
    except _MEMORY_ERRORS as error:
        if not is_out_of_memory(error):
            raise
        return None


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
