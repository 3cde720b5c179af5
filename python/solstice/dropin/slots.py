"""The prepared plans of one module, one for each stream that calls it.

A plan's workspace belongs to the stream that last used it. Preparing synchronises, which a graph capture forbids, so
a capture needs one call before it. Replays may run beside anything, hence never share a workspace with ordinary
calls or with another graph: a captured launch gets one from the graph's own memory, as PyTorch's own temporaries
do. Where the workspace holds packed weights it cannot be exchanged; there the capture takes over a whole slot.
"""

from __future__ import annotations

from typing import Any, Optional

from .binding import Binding
from .recording import Recording
from .rt import Launcher, Library, Plan

_MAX_STREAMS = 64  # PyTorch hands out 32 of each priority
_captured: set[Plan] = set()  # never unloaded: a graph may outlive the module, or what was prepared for it


class Slot:
    __slots__ = ("plan", "workspace", "launcher", "call", "versions", "captured", "_device")

    def __init__(self, plan: Plan, workspace: Any, stream: int, device: Any) -> None:
        self.plan = plan
        self.workspace = workspace
        self.versions: Optional[tuple] = None  # of the weights at prepare; None: not prepared
        self.captured = False
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
        self.ready: dict[int, Slot] = {}  # by stream; fast.py looks here

    def slot(self, stream: int) -> Any:
        """A slot for the current stream, prepared or not; or why there is none."""
        if self._binding.device.capturing():
            return self._in_capture(stream)
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

    def _in_capture(self, stream: int) -> Any:
        prepared = [s for s in self.ready.values() if s.versions is not None]
        if not prepared:
            return "the first call is inside a graph capture; call the module once before capturing"
        if not self._recording.persistent:
            plan, device = prepared[0].plan, self._binding.device
            _captured.add(plan)
            slot = Slot(plan, device.workspace(plan.workspace_bytes), stream, device)
            slot.versions = ()
            return slot
        slot = self.ready.get(stream)
        if slot is None or not slot.captured:
            slot = self._take_over(stream)
        if slot is None:
            return "no prepared kernels are left for another graph capture; call the module once before capturing"
        if slot.versions != self._binding.versions():
            return "the weights changed before a graph capture; call the module once before capturing"
        return slot

    def _take_over(self, stream: int) -> Optional[Slot]:
        free = [(owner, slot) for owner, slot in self.ready.items() if not slot.captured]
        if not free:
            return None
        owner, slot = next((pair for pair in free if pair[0] == stream), free[0])
        del self.ready[owner]
        slot.move_to(stream)
        slot.captured = True
        _captured.add(slot.plan)
        self.ready[stream] = slot
        return slot
