"""The opponents beside plain eager: eager with TF32 allowed, and torch.compile in its default mode, without TF32 and
with it; and drop-ins of ours beside them.

Timed in one process in blocks in turn, under KernelBench's protocol like the headline; each with its error
against the float64 oracle and the memory of a call. An opponent that fails, or is not ready in time, is a row that says
why.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import torch

from ..errors import OracleError, first_line
from ..loading import SEED, call_user
from . import distance, inputs as input_sets, kernelbench, reference, running, timing
from .deadline import Expired, within
from .precision import tf32_allowed
from .running import kept_buffers
from .session import InputSet, Session

_COMPILER = ("torch._dynamo", "torch._inductor.compile_fx")


@dataclass
class Rival:
    name: str
    call: Callable[..., Any]
    around: Callable[[], Any] = contextlib.nullcontext
    error: Optional[float] = None
    peak: int = 0  # bytes of a call above what lay there before the first one
    note: str = ""
    failed: bool = False
    blocks: list[list[float]] = field(default_factory=list)

    def fail(self, why: str) -> None:
        self.failed = True
        self.note = why


@dataclass
class Contest:
    inputs: InputSet
    rivals: list[Rival]


def import_compiler() -> None:
    for name in _COMPILER:
        importlib.import_module(name)
    # In this process: a pool of compilers would need longer to start than few kernels to compile.
    torch._inductor.config.compile_threads = 1


def prepare(
    session: Session, dropins: list[dict[str, str]] = [], deadline: float = 0, compile_tf32: bool = True
) -> Contest:
    """Inputs, errors and compiled code of every opponent; afterwards a call of one only runs kernels."""
    timing.need_gpu(session)
    import_compiler()
    inputs, _ = input_sets.prepare(session, SEED, "default", "built")
    why_no_error = _expect(session, inputs)
    contenders = [
        *_of_pytorch(session.module(), compile_tf32),
        *_of_the_file(session),
        *(_dropin(session, **dropin) for dropin in dropins),
    ]
    contenders[0].note = why_no_error
    for rival in contenders:
        session.progress("baselines", rival.name)
        _make_ready(session, inputs, rival, deadline)
    inputs.expected, inputs.eager = {}, {}
    session.empty_cache()
    return Contest(inputs, contenders)


def _expect(session: Session, inputs: InputSet) -> str:
    """The float64 results that errors are told against; or why there are none, as next to a module that is cut."""
    if _draws(session, inputs):
        return "no errors are known: its draws are others in float64"
    try:
        reference.compute(session, inputs)
    except OracleError as error:
        if not inputs.eager:
            raise  # it does not run at all
        return f"no errors are known: {first_line(error, 200)}"
    return ""


def _draws(session: Session, inputs: InputSet) -> bool:
    """A call moves a generator."""
    values = running.run(session.module(), inputs.args, inputs.kwargs, inputs.seed)
    after = _generators(session)
    if running.wrote_inputs(values):
        input_sets.restore(session, inputs)
    torch.manual_seed(inputs.seed)
    return any(not torch.equal(a, b) for a, b in zip(after, _generators(session)))


def _generators(session: Session) -> list[torch.Tensor]:
    host = torch.get_rng_state()
    return [host, torch.cuda.get_rng_state(session.device)] if session.device.type == "cuda" else [host]


def _of_pytorch(module: torch.nn.Module, compile_tf32: bool) -> list[Rival]:
    compiled = torch.compile(module)  # what it makes holds for one setting of TF32 and is made anew for the other
    all_of_them = [
        Rival("PyTorch eager", module),
        Rival("PyTorch eager, TF32 allowed", module, tf32_allowed),
        Rival("torch.compile", compiled, note="default mode"),
        Rival("torch.compile, TF32 allowed", compiled, tf32_allowed, note="default mode"),
    ]
    return all_of_them if compile_tf32 else all_of_them[:3]


class _Called(torch.nn.Module):
    """A function as a module: opponents are called alike."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


def _of_the_file(session: Session) -> list[Rival]:
    """Those that the user's file brings along: `opponents(model)` gives a forward for each name."""
    place = session.need_subject().place
    maker = getattr(sys.modules.get(place.name), "opponents", None) if place else None
    if not callable(maker):
        return []
    try:
        made = call_user("`opponents()`", "load.opponents_failed", lambda: maker(session.module()))
        return [Rival(name, _Called(function)) for name, function in made.items()]
    except OracleError as error:
        rival = Rival("the file's opponents", session.module())
        rival.fail(error.message)
        return [rival]


def _dropin(session: Session, name: str, path: str) -> Rival:
    try:
        new = kernelbench.load_dropin(session, path)
        new.load_state_dict(session.module().state_dict())
    except (OracleError, RuntimeError) as error:
        rival = Rival(name, session.module())
        rival.fail(f"it cannot be loaded: {first_line(error, 200)}")
        return rival
    return Rival(name, new)


def _make_ready(session: Session, inputs: InputSet, rival: Rival, deadline: float) -> None:
    if rival.failed:
        return
    before = _allocated(session)
    try:
        with rival.around():
            with within(deadline):
                values = running.run(rival.call, inputs.args, inputs.kwargs, inputs.seed)
            rival.error = _error(values, inputs) if inputs.expected else None
            writes = running.wrote_inputs(values)
            del values
            rival.peak = _peak(session, inputs, rival, before)
            if writes:
                input_sets.restore(session, inputs)
        fallen = kernelbench.fallbacks(rival.call)
        if fallen:
            rival.fail(f"the drop-in fell back: {fallen[0]}")
    except Expired:
        rival.fail(f"timed out: it was not ready after {deadline:g} s")
    except Exception as error:
        rival.fail(f"it fails: {first_line(error, 200)}")


def _error(values: running.Values, inputs: InputSet) -> Optional[float]:
    """Buffers have other names below a compiled module; results have the same."""
    errors = [
        distance.relative_error(value, inputs.expected[name])
        for name, value in values.items()
        if name.startswith("output.") and value.is_floating_point()
    ]
    worst = max(errors, default=0.0)
    return worst if worst < float("inf") else None


def _allocated(session: Session) -> int:
    return torch.cuda.memory_allocated(session.device) if session.device.type == "cuda" else 0


def _peak(session: Session, inputs: InputSet, rival: Rival, before: int) -> int:
    """Of a second call, with what the first one keeps: a workspace, say."""
    if session.device.type != "cuda":
        return 0
    torch.cuda.reset_peak_memory_stats(session.device)
    running.run(rival.call, inputs.args, inputs.kwargs, inputs.seed)
    session.synchronize()
    return max(torch.cuda.max_memory_allocated(session.device) - before, 0)


def contest(session: Session, made: Contest, reps: int, warmups: int, blocks: int) -> list[dict[str, Any]]:
    """Blocks in turn, forwards and backwards."""
    order = [rival for rival in made.rivals if not rival.failed]
    flushing = timing.L2Flush(session, timing.KERNELBENCH_FLUSH_BYTES)
    fresh_content = timing.FreshContent(session, made.inputs)
    dropins = [rival.call for rival in order if hasattr(rival.call, "solstice_fallbacks")]  # with buffers of their own
    states = [running.Buffers(module) for module in (session.module(), *dropins)]

    def before() -> None:
        for state in states:
            state.put_back()  # so that a counter of calls or positions stays in its range
        fresh()
        flush()

    with flushing as flush, fresh_content as fresh, torch.no_grad(), kept_buffers(session.module()):
        for rival in order:
            _block(made.inputs, rival, warmups, before)
        for rival in order:
            rival.blocks.clear()
        for number in range(blocks):
            for rival in order if number % 2 == 0 else reversed(order):
                _block(made.inputs, rival, reps, before)
    return [describe(rival) for rival in made.rivals]


def _block(inputs: InputSet, rival: Rival, reps: int, before: Callable[[], None]) -> None:
    if rival.failed:
        return

    def call() -> Any:
        return rival.call(*inputs.args, **inputs.kwargs)

    try:
        with rival.around():
            rival.blocks.append(timing.kernelbench_samples(call, reps, before))
    except Exception as error:
        rival.fail(f"it fails: {first_line(error, 200)}")


def describe(rival: Rival) -> dict[str, Any]:
    return {
        "name": rival.name,
        "seconds": [] if rival.failed else [x for block in rival.blocks for x in block],
        "error": rival.error,
        "peak_bytes": rival.peak,
        "note": rival.note,
    }
