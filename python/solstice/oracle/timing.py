"""Times calls on the GPU: CUDA events, cold L2, fresh content every repetition.

Also KernelBench's own protocol, for figures that are compared with its: L2 flushed by a fill, one
event pair a repetition, allocation of the results inside the window.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from typing import Any, Callable, ContextManager, Optional

import torch

from ..errors import environment_error, input_error
from ..loading import SEED
from ..tensors import logical_bytes, tensor_leaves
from .running import kept_buffers, own
from .session import InputSet, Session

L2_MULTIPLE = 2
FASTEST_WRITE = 8e12  # bytes a second: no flush takes less than its size over this
COVER = 1.5  # of the host time that must hide
MOST_FLUSHES = 64
KERNELBENCH_FLUSH_BYTES = 256 << 20

SIDES = ("original", "drop-in")

Call = Callable[[], Any]


def need_gpu(session: Session) -> None:
    if session.device.type != "cuda":
        raise environment_error("timing.no_gpu", "nothing is timed on a machine without a GPU")


class L2Flush:
    """Overwrites more than the cache holds, so that every repetition starts cold. Its memory goes back to the device at
    the end of the `with`, also where a call failed: the failure's traceback would keep it."""

    def __init__(self, session: Session, bytes: Optional[int] = None) -> None:
        l2 = torch.cuda.get_device_properties(session.device).L2_cache_size
        self.bytes = bytes or L2_MULTIPLE * l2
        self._session = session
        self._buffer: Optional[torch.Tensor] = torch.empty(self.bytes, dtype=torch.int8, device=session.device)

    def __call__(self) -> None:
        self._buffer.fill_(42)

    def __enter__(self) -> L2Flush:
        return self

    def __exit__(self, *failure: object) -> None:
        self._buffer = None
        self._session.empty_cache()


class FreshContent:
    """Moves every input's rows on by one between repetitions: new content at each address, the same
    distribution, and integers still valid; those that ascend stay, since they may have to (where groups end). Where
    memory has no room for a copy it does nothing. The judge reads the same inputs: at the end of the `with` they are
    as they were, also where a call failed. An input that keeps its content and is written in place has it again each
    time."""

    def __init__(self, session: Session, inputs: InputSet) -> None:
        rows = [_rows(t) for t in inputs.tensors() if t.numel() > 1 and t.is_contiguous()]
        tensors = [t for t in rows if not _ascends(t)]
        free = torch.cuda.mem_get_info(session.device)[0]
        self.active = bool(tensors) and logical_bytes(tensors) < free // 2
        self._pairs = [(t, t.clone()) for t in tensors] if self.active else []
        moved = {t.untyped_storage()._cdata for t, _ in self._pairs}
        rest = [t for t in inputs.tensors() if t.untyped_storage()._cdata not in moved]
        has_room = logical_bytes(rest) < free // 2
        self._rest = [(t, t.clone(), t._version) for t in rest] if has_room else []
        self._shift = 0

    def __call__(self) -> None:
        self._shift += 1
        self.again()

    def again(self) -> None:
        """The content of the last call once more, where a call of the module wrote it."""
        self._place(self._shift)

    def __enter__(self) -> FreshContent:
        return self

    def __exit__(self, *failure: object) -> None:
        self._place(0)
        self._pairs, self._rest = [], []

    def _place(self, shift: int) -> None:
        for tensor, original in self._pairs:
            n = shift % tensor.shape[0]
            tensor[: tensor.shape[0] - n].copy_(original[n:])
            tensor[tensor.shape[0] - n :].copy_(original[:n])
        for tensor, original, version in self._rest:
            if tensor._version != version:
                tensor.copy_(original)


class Poison:
    """Overwrites, before a call is timed, what the calls before it left: the workspaces of the drop-in, and the memory
    that the allocator gives to its next results, since those of the last call went back to it. All bits set are NaN,
    and -1: what rests on them is wrong."""

    def __init__(self, device: torch.device, workspaces: Callable[[], list[torch.Tensor]]) -> None:
        self._device, self._workspaces = device, workspaces
        self._sizes: list[int] = []

    def expect(self, results: Any, given: set[int]) -> None:
        """Results of the next calls have the sizes of these; what lies in the storages `given` (`_cdata`) is no memory
        of theirs."""
        storages = {t.untyped_storage()._cdata: t.untyped_storage() for t in tensor_leaves(results)}
        self._sizes = [storage.nbytes() for key, storage in storages.items() if key not in given]

    def __call__(self) -> None:
        for workspace in self._workspaces():
            workspace.view(torch.uint8).fill_(255)
        places = [torch.empty(size, dtype=torch.uint8, device=self._device) for size in self._sizes]  # all at once
        for place in places:
            place.fill_(255)


def _rows(tensor: torch.Tensor) -> torch.Tensor:
    """A view whose first extent is not 1."""
    return tensor.view([extent for extent in tensor.shape if extent > 1])


def _ascends(tensor: torch.Tensor) -> bool:
    return (
        tensor.dim() == 1
        and not tensor.is_floating_point()
        and not tensor.is_complex()
        and bool((tensor[1:] >= tensor[:-1]).all())
    )


def flushes_for(dispatch: float, flush_bytes: int) -> tuple[int, bool]:
    """How many flushes hide so many seconds of the host's work, and whether they do. As in src/runner/timing.cpp,
    where a candidate's launch hides."""
    needed = math.ceil(COVER * dispatch * FASTEST_WRITE / flush_bytes)
    return min(max(needed, 1), MOST_FLUSHES), needed <= MOST_FLUSHES


def samples(call: Call, reps: int, before: Call) -> list[float]:
    """Seconds of `reps` calls, each queued behind `before()`, which is not awaited: dispatch hides behind it."""
    pairs = []
    for _ in range(reps):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before()
        start.record()
        call()
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    return [start.elapsed_time(end) * 1e-3 for start, end in pairs]


def dispatch_seconds(call: Call, before: Call, calls: int) -> float:
    """What a call keeps the host busy: the least of a few, since the first also loads kernels."""
    least = math.inf
    for _ in range(calls):
        before()
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
        torch.cuda.synchronize()
    return least


def kernelbench_samples(call: Call, reps: int, before: Call) -> list[float]:
    """`before` flushes the cache. It is not awaited: it hides the launch, as in KernelBench."""
    taken = []
    for _ in range(reps):
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before()
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        taken.append(start.elapsed_time(end) * 1e-3)
    return taken


def time_block(session: Session, inputs: InputSet, module: Any, reps: int, warmups: int) -> dict[str, Any]:
    """One block of an interleaved comparison: the caller alternates blocks of baseline and candidate."""
    need_gpu(session)
    if reps < 1 or warmups < 0:
        raise input_error("timing.reps", f"reps is {reps} and warmups {warmups}", hint="at least 1 and 0 are needed")
    flushes = 1

    def call() -> Any:
        return module(*inputs.args, **inputs.kwargs)

    def before() -> None:
        fresh()
        for _ in range(flushes):
            flush()

    with L2Flush(session) as flush, FreshContent(session, inputs) as fresh:
        with torch.no_grad(), kept_buffers(session.module(inputs.variant)):
            dispatch = dispatch_seconds(call, before, max(warmups, 1))
            flushes, hidden = flushes_for(dispatch, flush.bytes)
            taken = samples(call, reps, before)
    return {
        "seconds": taken,
        "median_s": statistics.median(taken),
        "fresh_content": fresh.active,
        "dispatch_s": dispatch,
        "dispatch_hidden": hidden,
    }


def compare(
    session: Session,
    inputs: InputSet,
    original: Call,
    new: Call,
    reps: int,
    warmups: int,
    rounds: int,
    alike: Callable[[], ContextManager[None]] = contextlib.nullcontext,
    workspaces: Callable[[], list[torch.Tensor]] = list,
    put_back: Callable[[], None] = lambda: None,
) -> tuple[list[dict[str, Any]], Optional[tuple[list[torch.Tensor], list[torch.Tensor]]]]:
    """KernelBench's protocol on two calls in one process: the blocks of `rounds` rounds, each in ABBA order. Unlike
    there, the inputs are others at every repetition. At the end `new` is called once more as when it was timed, and
    `original` with the same content: results that rest on what an earlier call left behind are others. `alike` puts
    both into the same state, and within it a call leaves none. None: there was no fresh content. `workspaces` of `new`,
    and the memory of its results, are overwritten before each call (Poison). `put_back` undoes what a call has written,
    before the next one."""
    need_gpu(session)
    if reps < 1 or warmups < 0 or rounds < 1:
        raise input_error(
            "timing.reps",
            f"reps, warmups and rounds are {reps}, {warmups}, {rounds}",
            hint="at least 1, 0 and 1 are needed",
        )
    calls = dict(zip(SIDES, (original, new)))
    blocks = []
    poison = Poison(session.device, workspaces)
    given = {t.untyped_storage()._cdata for t in inputs.tensors()}

    def before() -> None:
        put_back()
        fresh()
        poison()
        flush()

    with L2Flush(session, KERNELBENCH_FLUSH_BYTES) as flush, FreshContent(session, inputs) as fresh, torch.no_grad():
        for call in calls.values():
            for _ in range(warmups):
                before()
                poison.expect(call(), given)
        for side in (*SIDES, *reversed(SIDES)) * rounds:
            blocks.append({"side": side, "seconds": kernelbench_samples(calls[side], reps, before)})
            session.progress("timed", side)  # the client reads the clocks now
        if not fresh.active:
            return blocks, None
        before()
        torch.manual_seed(SEED)  # for both: they may draw
        with alike():
            produced = [own(t, given) for t in tensor_leaves(new())]
        put_back()
        fresh.again()
        torch.manual_seed(SEED)
        return blocks, ([own(t, given) for t in tensor_leaves(original())], produced)
