"""The prepared plans of one module, one for each stream that calls it.

A plan's workspace belongs to the stream that last used it. Preparing synchronises, which a graph capture forbids, so
a capture needs one call before it. Replays may run beside anything, hence never share a workspace with ordinary
calls or with another graph: a captured launch gets one from the graph's own memory, as PyTorch's own temporaries
do. Where the workspace holds packed weights it cannot be exchanged; there the capture takes a whole slot for itself,
and each further capture needs another ordinary call before it. Nothing says when a graph ends, so what one reads is
kept until the process does.
"""

from __future__ import annotations

from typing import Any, Optional

from .binding import Binding
from .recording import Recording
from .rt import Launcher, Library, Plan

_MAX_STREAMS = 64  # PyTorch hands out 32 of each priority
_captured: list[Any] = []  # plans, and slots with packed weights: a graph may outlive the module and its runtime


class Slot:
    __slots__ = ("plan", "workspace", "launcher", "call", "versions", "_device")

    def __init__(self, plan: Plan, workspace: Any, stream: int, device: Any) -> None:
        self.plan = plan
        self.workspace = workspace
        self.versions: Optional[tuple] = None  # of the weights at prepare; None: not prepared
        self._device = device
        self.move_to(stream)

    def move_to(self, stream: int) -> None:
        self.launcher = Launcher(self.plan, self.workspace.data_ptr(), stream)
        self.call = self.launcher.address

    def again(self, moved: bytes) -> None:
        """After a launch that failed: in a thread of its own nothing may have made the context current yet."""
        self._device.enter_thread()
        self.launcher.launch(moved)


class Slots:
    def __init__(self, recording: Recording, binding: Binding) -> None:
        self._recording = recording
        self._binding = binding
        self._library = Library.open(recording.library)
        self.relaunch = self._library.relaunch
        self.ready: dict[int, Slot] = {}  # by stream, for ordinary calls; fast.py looks here
        self._taken: dict[tuple[int, int], Slot] = {}  # by capture and stream: branches of one graph run side by side

    def slot(self, stream: int) -> Any:
        """A slot for the current stream, prepared or not; or why there is none."""
        capture = self._binding.device.capture(stream)
        if capture is not None:
            return self._in_capture(capture, stream)
        found = self.ready.get(stream)
        if found is not None and found.versions == self._binding.versions():
            return found
        if found is not None:
            found.versions = None
            return found
        if len(self.ready) >= _MAX_STREAMS:
            self.ready.clear()
        return self._make(stream)

    def keep(self, stream: int, slot: Slot, versions: tuple) -> None:
        """It was prepared for this stream, with weights of these versions."""
        slot.versions = versions
        self.ready[stream] = slot

    def _make(self, stream: int) -> Slot:
        recording, device = self._recording, self._binding.device
        plan = Plan(self._library, recording.plan_path, recording.slots, recording.moving)
        for slot, pointer in self._binding.pointers:
            plan.pointers[slot] = pointer
        return Slot(plan, device.workspace(plan.workspace_bytes), stream, device)

    def _in_capture(self, capture: int, stream: int) -> Any:
        taken = self._taken.get((capture, stream))
        if taken is None:
            prepared = [slot for slot in self.ready.values() if slot.versions is not None]
            if not prepared:
                return "no prepared kernels are left for a graph capture; call the module once before each capture"
            if not self._recording.persistent:
                return self._in_graph_memory(prepared[0].plan, stream)
            taken = self._take(capture, stream)
        if taken.versions != self._binding.versions():
            return "the weights changed before a graph capture; call the module once before capturing"
        return taken

    def _in_graph_memory(self, plan: Plan, stream: int) -> Slot:
        """Its workspace is the graph's, and goes back to the graph's pool with the slot, after the launch in order."""
        device = self._binding.device
        if plan not in _captured:
            _captured.append(plan)
        slot = Slot(plan, device.workspace(plan.workspace_bytes), stream, device)
        slot.versions = ()
        return slot

    def _take(self, capture: int, stream: int) -> Slot:
        """Out of `ready` for good: neither an ordinary call nor another capture may find it again."""
        owner = next(o for o in (stream, *self.ready) if o in self.ready and self.ready[o].versions is not None)
        slot = self.ready.pop(owner)
        slot.move_to(stream)
        self._taken[capture, stream] = slot
        _captured.append(slot)
        return slot
