"""Times calls on the GPU: CUDA events, cold L2, fresh content every repetition.

Also KernelBench's own protocol, for figures that are compared with its: L2 flushed by a fill, one
event pair a repetition, allocation of the results inside the window.
"""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, Callable, Optional

import torch

from ..errors import environment_error, input_error
from ..tensors import logical_bytes
from . import families
from .running import kept_buffers
from .session import InputSet, Session

L2_MULTIPLE = 2
FASTEST_WRITE = 8e12  # bytes a second: no flush takes less than its size over this
COVER = 1.5  # of the host time that must hide
MOST_FLUSHES = 64
KERNELBENCH_FLUSH_BYTES = 256 << 20

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
    distribution, and integers still valid; those that ascend stay, since they may have to (where groups end). What a
    call wrote of an input that stays is undone too. Where memory has no room for copies it does nothing of all this:
    `room` is false. The judge reads the same inputs: at the end of the `with` they are as they were, also where a call
    failed."""

    def __init__(self, session: Session, inputs: InputSet) -> None:
        tensors = [t for t in inputs.tensors() if not families.overlaps(t)]
        rows = [_rows(t) for t in tensors if t.numel() > 1 and t.is_contiguous()]
        moving = [t for t in rows if not _ascends(t)]
        moved = {t.data_ptr() for t in moving}
        free = torch.cuda.mem_get_info(session.device)[0]
        self.room = logical_bytes(tensors) < free // 2
        self.active = bool(moving) and self.room
        self.shift = 0
        self._pairs = [(t, t.clone()) for t in moving] if self.active else []
        still = [t for t in tensors if t.data_ptr() not in moved] if self.room else []
        self._still = [(t, t.clone()) for t in still]
        self._versions = [t._version for t in still]

    def __call__(self) -> None:
        self.place(self.shift + 1)

    def __enter__(self) -> FreshContent:
        return self

    def __exit__(self, *failure: object) -> None:
        self.place(0)
        self._pairs, self._still = [], []

    def place(self, shift: int) -> None:
        """The content of that call, the first of which has 1; 0 is what the inputs came with."""
        self.shift = shift
        for tensor, original in self._pairs:
            n = shift % tensor.shape[0]
            tensor[: tensor.shape[0] - n].copy_(original[n:])
            tensor[tensor.shape[0] - n :].copy_(original[:n])
        for i, (tensor, original) in enumerate(self._still):
            if tensor._version != self._versions[i]:
                tensor.copy_(original)
                self._versions[i] = tensor._version


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


def kernelbench_samples(
    call: Call, reps: int, before: Call, after: Callable[[Any], None] = lambda result: None
) -> list[float]:
    """`before` flushes the cache. It is not awaited: it hides the launch, as in KernelBench. `after` gets the result of
    each call, whose time has been taken."""
    taken = []
    for _ in range(reps):
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before()
        start.record()
        result = call()
        end.record()
        torch.cuda.synchronize()
        taken.append(start.elapsed_time(end) * 1e-3)
        after(result)
        del result  # its memory is the next call's
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
