"""One module's kernels: binds its tensors, guards each call, launches or goes back to the original."""

from __future__ import annotations

import struct
import warnings
from typing import Any, Callable, Optional

import torch
from torch.utils import _pytree as pytree

from . import fast, forms, guards, overlaps, structure
from .assumed import Comparer
from .binding import Binding, bind
from .device import CudaDevice
from .errors import DropinError
from .numbers import Unforeseen
from .recording import Constant, Recording
from .scheduled import ScheduledBound
from .slots import Slot, Slots
from .specs import TensorSpec


class Bound:
    """A module's tensors at their addresses, with all that was prepared for them."""

    def __init__(self, runtime: "Runtime", binding: Binding, flags: tuple, module: torch.nn.Module) -> None:
        self.binding = binding
        self._runtime = runtime
        self.slots = Slots(runtime.recording, binding)
        self.fast = fast.write(runtime.recording, binding, self.slots, flags, runtime.flatten, runtime.assemble)
        self._pack = struct.Struct(f"{len(runtime.recording.moving)}P").pack

    def slot(self, stream: int) -> Any:
        """What a launch on this stream needs; or why there is none."""
        return self.slots.slot(stream)

    def workspaces(self) -> list[torch.Tensor]:
        """Those of ordinary calls. None where they hold what was packed once."""
        if self._runtime.recording.persistent:
            return []
        return [slot.workspace for slot in self.slots.ready.values()]

    def launch(self, slot: Slot, stream: int, leaves: Any) -> Any:
        recording, device = self._runtime.recording, self.binding.device
        device.enter_thread()
        results = [device.empty(o.shape, o.stride, o.dtype) for o in recording.outputs]
        tensors = [leaves[position] for position, _ in recording.read] + results
        moved = self._pack(*(t.data_ptr() for t in tensors))
        if slot.versions is None:
            versions = self.binding.versions()
            slot.launcher.prepare(moved)
            self.slots.keep(stream, slot, versions)
            fast.recognise(self.fast, recording, self.binding, leaves)
        slot.launcher.launch(moved)
        if self.binding.written:
            self.binding.mark_written()
        kinds = {"output": results, "argument": leaves}
        return self._runtime.assemble(
            [which if kind == "value" else kinds[kind][which] for kind, which in recording.results]
        )


class Runtime:
    """Belongs to one module instance; `fast` is its usual call (fast.py), None until the module is bound."""

    def __init__(
        self,
        module: torch.nn.Module,
        recording: Recording,
        find_device: Callable[[Any], Any] = CudaDevice.of,
    ) -> None:
        self.owner = id(module)  # a copied dict brings the runtime of the module it was copied from
        self.recording = recording
        self.fast: Callable = _never
        self._find_device = find_device
        self._flags = tuple(recording.flags[name] for name in ("matmul_tf32", "cudnn_tf32", "deterministic"))
        self._bound: Any = None  # Bound or ScheduledBound
        self._reasons: dict[str, int] = {}
        self._unusable: Optional[str] = recording.problem or None
        self._comparer = Comparer(recording.assumed, recording.tied)
        self._classes: forms.Classes = {}  # of the result's form
        self._different: Optional[tuple[structure.Watch, str]] = None  # last seen, and how it differs

    def __deepcopy__(self, memo: dict) -> None:
        """A copy of the module starts unbound."""

    def __reduce__(self) -> Any:
        return type(None), ()

    def fallbacks(self) -> list[str]:
        """Why calls went to the original forward, each reason once."""
        return list(self._reasons)

    def workspaces(self) -> list[torch.Tensor]:
        return [] if self._bound is None else self._bound.workspaces()

    def slow(self, module: torch.nn.Module, original: Callable, args: tuple, kwargs: dict) -> Any:
        """A call that the fast function did not take."""
        leaves = self.flatten(args, kwargs)
        reason = self._unusable
        if reason is None and leaves is None:
            reason = "the arguments have another structure than the recorded ones"
        elif reason is None:
            reason = self._refusal(module, leaves)
        bound = self._bound
        if reason is None and bound is not None:
            device = bound.binding.device
            if device.current() != device.index:
                with device.selected():
                    return self.slow(module, original, args, kwargs)
            stream = device.stream(device.index)
            slot = bound.slot(stream)
            if isinstance(slot, str):
                return self._fall_back(slot, module, original, args, kwargs)
            try:
                return bound.launch(slot, stream, leaves)
            except Unforeseen as error:  # before the first step with effects (partial/order.py)
                reason = str(error)
        return self._fall_back(str(reason), module, original, args, kwargs)

    def flatten(self, args: tuple, kwargs: dict) -> Any:
        """The leaves, or None where the structure is not the recorded one."""
        if self.recording.in_tree is None and not kwargs:
            return args if len(args) == len(self.recording.arguments) else None
        leaves, tree = pytree.tree_flatten(forms.plain((args, kwargs)))
        is_recorded = tree == self.recording.in_tree and forms.form_of((args, kwargs)) == self.recording.in_form
        return leaves if is_recorded else None

    def _refusal(self, module: torch.nn.Module, leaves: Any) -> Optional[str]:
        """Why not, looked at slowly. Binds the module, first of all or anew."""
        reason = guards.environment_refusal(self._flags)
        if reason is not None:
            return reason
        if self._bound is None or not self._bound.binding.holds(module):
            reason = self._bind(module, leaves)
        if reason is not None or self._bound is None:
            return reason
        binding = self._bound.binding
        for position, recorded in enumerate(self.recording.arguments):
            reason = _unfit(leaves[position], recorded, binding.device.index, position, self.recording.by_place)
            if reason is not None:
                return reason
        reason = overlaps.refusal(self.recording, binding, leaves)
        if reason is not None:
            return reason
        if torch.is_grad_enabled() and (binding.requires_grad() or guards.any_requires_grad(leaves)):
            return "gradients are required; call it under torch.no_grad()"
        return "hooks are registered on inner modules" if binding.hooks.present() else None

    def _bind(self, module: torch.nn.Module, leaves: Any) -> Optional[str]:
        """Finds the module's tensors. After `.to()`, say, all that was prepared for the old ones goes."""
        self._bound, self.fast = None, _never
        device = self._find_device(leaves)
        if device is None:
            return "no argument is on a GPU"
        mismatch = device.mismatch(self.recording.target)
        if mismatch is not None:
            return mismatch
        different = self._difference(module, device)
        if different is not None:
            return different
        classes = forms.found(self.recording.out_form, module)
        if isinstance(classes, str):
            return classes
        self._classes = classes
        assumed = self._comparer.held(module, device)
        if isinstance(assumed, str):
            return assumed
        binding = bind(module, self.recording, device, assumed)
        if isinstance(binding, str):
            return binding
        try:
            make = Bound if self.recording.schedule is None else ScheduledBound
            bound = make(self, binding, self._flags, module)
        except DropinError as error:
            self._unusable = str(error)
            return self._unusable
        if not binding.holds(module):  # what was written down above may be neither the old nor the new
            return "another thread changes the module"
        self._bound, self.fast = bound, bound.fast
        return None

    def _difference(self, module: torch.nn.Module, device: Any) -> Optional[str]:
        """How the module's structure differs from the recorded one; remembered, since a description takes its time."""
        if self._different is not None and self._different[0].holds(vars(module)):
            return self._different[1]
        reason = structure.difference(module, self.recording.structure)
        watch = structure.Watch(module, self.recording.structure)
        # Tensors cannot be read in a capture: what it found out does not last.
        lasting = reason is not None and not device.capturing() and watch.holds(vars(module))
        self._different = (watch, reason) if lasting else None
        return reason

    def assemble(self, leaves: list[Any]) -> Any:
        tree = self.recording.out_tree
        made = leaves[0] if tree is None else pytree.tree_unflatten(leaves, tree)
        return forms.rebuilt(made, self.recording.out_form, self._classes)

    def _fall_back(self, reason: str, module: torch.nn.Module, original: Callable, args: tuple, kwargs: dict) -> Any:
        if reason not in self._reasons:
            self._reasons[reason] = 0
            warnings.warn(f"{type(module).__name__} uses its original forward: {reason}", stacklevel=4)
        self._reasons[reason] += 1
        return original(module, *args, **kwargs)


def _never(module: torch.nn.Module, args: tuple, kwargs: dict) -> Any:
    return fast.MISS


def _unfit(value: Any, recorded: Any, device: int, position: int, by_place: bool) -> Optional[str]:
    if isinstance(recorded, TensorSpec):
        if by_place and isinstance(value, torch.Tensor) and value.storage_offset():
            return f"argument {position} is a part of a storage, from whose beginning `forward` reads"
        return guards.misfit(value, recorded, device, position)
    if isinstance(recorded, Constant) and not recorded.equals(value):
        return f"argument {position} is {value!r}; recorded was {recorded.value!r}"
    return None
