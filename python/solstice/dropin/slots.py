"""The prepared plans of one module, one for each stream that calls it.

A plan's workspace belongs to the stream that last used it. Preparing synchronises, which a graph
capture forbids: a capture takes over a slot that was prepared outside, and keeps it, so that
replays never share a workspace with ordinary calls.
"""

from __future__ import annotations

import threading
from typing import Any, Optional

from .binding import Binding
from .recording import Recording
from .rt import Plan

_MAX_STREAMS = 64  # PyTorch hands out 32 of each priority


class Slot:
    __slots__ = ("plan", "workspace", "versions", "captured", "lock")

    def __init__(self, plan: Plan, workspace: Any) -> None:
        self.plan = plan
        self.workspace = workspace
        self.versions: Optional[list[int]] = None  # of the weights at prepare; None: not prepared
        self.captured = False
        self.lock = threading.Lock()  # from the first pointer that is set to the launch that reads it


class Slots:
    def __init__(self, recording: Recording, binding: Binding) -> None:
        self._recording = recording
        self._binding = binding
        self._by_stream: dict[int, Slot] = {}
        self.find = self._by_stream.get

    def make(self, stream: int) -> Optional[Slot]:
        """A slot for a stream without one; None in a capture, when none was prepared before it."""
        if self._binding.device.capturing():
            return self._take_over(stream)
        if len(self._by_stream) >= _MAX_STREAMS:
            self._by_stream.clear()
        plan = Plan(self._recording.library, self._recording.plan_path, self._recording.slots)
        for spec, pointer in self._binding.pointers:
            plan.pointers[spec.slot] = pointer
        workspace = self._binding.device.workspace(plan.workspace_bytes)
        plan.bind(workspace.data_ptr(), stream)
        slot = self._by_stream[stream] = Slot(plan, workspace)
        return slot

    def _take_over(self, stream: int) -> Optional[Slot]:
        for owner, slot in self._by_stream.items():
            if slot.versions is not None and not slot.captured:
                del self._by_stream[owner]
                slot.plan.bind(slot.workspace.data_ptr(), stream)
                slot.captured = True
                self._by_stream[stream] = slot
                return slot
        return None
