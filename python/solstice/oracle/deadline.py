"""A limit on what user code, or a compiler, takes in this process."""

from __future__ import annotations

import contextlib
import signal
from types import FrameType
from typing import Iterator, Optional


class Expired(BaseException):
    """Not an Exception: what runs out of time must not take it for an error of its own and go on."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises Expired in the body after so many seconds; 0: never. For a process's main thread only, and only where the
    body runs Python now and then."""
    if not seconds:
        yield
        return

    def expire(number: int, frame: Optional[FrameType]) -> None:
        raise Expired

    saved = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, saved)
