"""The opponents beside plain eager: eager with TF32 allowed, and torch.compile in its default mode.

Timed in one process in blocks in turn, under KernelBench's protocol like the headline; each with its error
against the float64 oracle. An opponent that fails is a row that says why.
"""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional

import torch

from ..errors import first_line
from ..loading import SEED
from . import distance, inputs as input_sets, reference, running, timing
from .running import kept_buffers
from .session import InputSet, Session

_COMPILER = ("torch._dynamo", "torch._inductor.compile_fx")


@dataclass
class Rival:
    name: str
    call: Callable[..., Any]
    around: Callable[[], Any] = contextlib.nullcontext
    error: Optional[float] = None
    note: str = ""
    failed: bool = False
    blocks: list[list[float]] = field(default_factory=list)

    def fail(self, what: str, error: Exception) -> None:
        self.failed = True
        self.note = f"{what}: {first_line(error, 200)}"


@dataclass
class Contest:
    inputs: InputSet
    rivals: list[Rival]


def import_compiler() -> None:
    for name in _COMPILER:
        importlib.import_module(name)
    # In this process: a pool of compilers would need longer to start than few kernels to compile.
    torch._inductor.config.compile_threads = 1


def prepare(session: Session) -> Contest:
    """Inputs, errors and compiled code of every opponent; afterwards a call of one only runs kernels."""
    timing.need_gpu(session)
    import_compiler()
    inputs, _ = input_sets.prepare(session, SEED, "default", "built")
    reference.compute(session, inputs)
    module = session.module()
    compiled = torch.compile(module)
    rivals = [
        Rival("PyTorch eager", module),
        Rival("PyTorch eager, TF32 allowed", module, tf32_allowed),
        Rival("torch.compile", compiled, note="default mode"),
    ]
    for rival in rivals:
        session.progress("baselines", rival.name)
        _measure_error(session, inputs, rival)
    inputs.expected, inputs.eager = {}, {}
    session.empty_cache()
    return Contest(inputs, rivals)


@contextlib.contextmanager
def tf32_allowed() -> Iterator[None]:
    saved = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = saved


def _measure_error(session: Session, inputs: InputSet, rival: Rival) -> None:
    try:
        with rival.around():
            values = running.run(rival.call, inputs.args, inputs.kwargs, inputs.seed)
        if running.wrote_inputs(values):
            input_sets.restore(session, inputs)
        # Buffers have other names below a compiled module; results have the same.
        errors = [
            distance.relative_error(value, inputs.expected[name])
            for name, value in values.items()
            if name.startswith("output.") and value.is_floating_point()
        ]
        worst = max(errors, default=0.0)
        rival.error = worst if worst < float("inf") else None
    except Exception as error:
        rival.fail("it fails", error)


def contest(session: Session, made: Contest, reps: int, warmups: int, blocks: int) -> list[dict[str, Any]]:
    """Blocks in turn, forwards and backwards."""
    order = [rival for rival in made.rivals if not rival.failed]
    flushing = timing.L2Flush(session, timing.KERNELBENCH_FLUSH_BYTES)
    with flushing as flush, torch.no_grad(), kept_buffers(session.module()):
        for rival in order:
            _block(made.inputs, rival, warmups, flush)
        for rival in order:
            rival.blocks.clear()
        for number in range(blocks):
            for rival in order if number % 2 == 0 else reversed(order):
                _block(made.inputs, rival, reps, flush)
    return [describe(rival) for rival in made.rivals]


def _block(inputs: InputSet, rival: Rival, reps: int, flush: Callable[[], None]) -> None:
    if rival.failed:
        return

    def call() -> Any:
        return rival.call(*inputs.args, **inputs.kwargs)

    try:
        with rival.around():
            rival.blocks.append(timing.kernelbench_samples(call, reps, flush))
    except Exception as error:
        rival.fail("it fails", error)


def describe(rival: Rival) -> dict[str, Any]:
    return {
        "name": rival.name,
        "seconds": [] if rival.failed else [x for block in rival.blocks for x in block],
        "error": rival.error,
        "note": rival.note,
    }
