"""One module's kernels: binds its tensors, guards each call, launches or goes back to the original."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Optional

import torch
from torch.utils import _pytree as pytree

from . import guards
from .binding import Binding, bind
from .device import CudaDevice
from .recording import Constant, DropinError, Recording, TensorSpec
from .rt import Library
from .slots import Slot, Slots

_is_grad = torch.is_grad_enabled


class Runtime:
    """Belongs to one module instance. A copy of the module gets one of its own, unbound."""

    def __init__(self, recording: Recording, find_device: Callable[[Any], Any] = CudaDevice.of) -> None:
        self._recording = recording
        self._find_device = find_device
        self._flags = tuple(recording.flags[name] for name in ("matmul_tf32", "cudnn_tf32", "deterministic"))
        self._quick: Callable[[Any], bool] = lambda leaves: False  # until the module is bound
        self._binding: Optional[Binding] = None
        self._slots: Any = None
        self._reasons: dict[str, int] = {}
        self._unusable: Optional[str] = None
        self._count = len(recording.arguments)
        self._tensors = [(i, s) for i, s in enumerate(recording.arguments) if isinstance(s, TensorSpec)]
        self._constants = [(i, c) for i, c in enumerate(recording.arguments) if isinstance(c, Constant)]
        self._read = [(i, s.slot) for i, s in self._tensors if s.slot >= 0]
        self._outputs = [(o.slot, o.shape, o.stride, o.dtype) for o in recording.outputs]
        self._flat_inputs = recording.in_tree is None
        self._single = recording.out_tree is None and recording.results == [("output", 0)]

    def __deepcopy__(self, memo: dict) -> "Runtime":
        return Runtime(self._recording, self._find_device)

    def __reduce__(self) -> Any:
        return Runtime, (self._recording, self._find_device)

    def fallbacks(self) -> list[str]:
        """Why calls went to the original forward, each reason once."""
        return list(self._reasons)

    def __call__(self, module: torch.nn.Module, original: Callable, args: tuple, kwargs: dict) -> Any:
        leaves = args if self._flat_inputs and not kwargs else self._flatten(args, kwargs)
        if leaves is None or len(leaves) != self._count:
            reason = "the arguments have another structure than the recorded ones"
        else:
            reason = None if self._quick(leaves) else self._refusal(module, leaves)
            reason = reason or self._changed_constant(leaves)
        if reason is None:
            device = self._binding.device
            if device.current() != device.index:
                with device.selected():
                    return self(module, original, args, kwargs)
            slot = self._slot(device)
            if type(slot) is Slot:
                return self._launch(slot, leaves)
            reason = slot
        return self._fall_back(reason, module, original, args, kwargs)

    def _flatten(self, args: tuple, kwargs: dict) -> Optional[list[Any]]:
        """The leaves, or None where the structure is not the recorded one."""
        leaves, tree = pytree.tree_flatten((args, kwargs))
        return leaves if tree == self._recording.in_tree else None

    def _changed_constant(self, leaves: Any) -> Optional[str]:
        for position, recorded in self._constants:
            if not recorded.equals(leaves[position]):
                return f"argument {position} is {leaves[position]!r}; recorded was {recorded.value!r}"
        return None

    def _refusal(self, module: torch.nn.Module, leaves: Any) -> Optional[str]:
        """What the quick check stumbled over, looked at slowly. Binds the module, first of all or anew."""
        reason = self._unusable or guards.environment_refusal(self._flags)
        if reason is not None:
            return reason
        if self._binding is None or not self._binding.holds():
            reason = self._bind(module, leaves)
            if reason is not None:
                return reason
        binding = self._binding
        for position, spec in self._tensors:
            reason = guards.misfit(leaves[position], spec, binding.device.index, position)
            if reason is not None:
                return reason
        if _is_grad() and (binding.requires_grad() or guards.any_requires_grad(leaves)):
            return "gradients are required; call it under torch.no_grad()"
        return binding.refusal()

    def _bind(self, module: torch.nn.Module, leaves: Any) -> Optional[str]:
        """Finds the module's tensors. After `.to()`, say, all that was prepared for the old ones goes."""
        self._binding, self._slots, self._quick = None, None, lambda leaves: False
        device = self._find_device(leaves)
        if device is None:
            return "no argument is on a GPU"
        mismatch = device.mismatch(self._recording.target)
        if mismatch is not None:
            return mismatch
        bound = bind(module, self._recording, device)
        if isinstance(bound, str):
            return bound
        try:
            Library.open(self._recording.library)
        except DropinError as error:
            self._unusable = str(error)
            return self._unusable
        self._binding, self._slots = bound, Slots(self._recording, bound)
        self._quick = guards.quick_check(self._flags, self._tensors, bound)
        return None

    def _slot(self, device: Any) -> Any:
        """A prepared slot for the current stream, or why there is none."""
        stream = device.stream()
        slot = self._slots.find(stream)
        if slot is None:
            slot = self._slots.make(stream)
            if slot is None:
                return "the first call is inside a graph capture; call the module once before capturing"
        frozen = self._binding.frozen
        if slot.versions is None or (frozen is not None and slot.versions != self._binding.versions()):
            if device.capturing():
                return "the weights changed before a graph capture; call the module once before capturing"
            slot.versions = None
        return slot

    def _launch(self, slot: Slot, leaves: Any) -> Any:
        binding, plan = self._binding, slot.plan
        device, pointers = binding.device, plan.pointers
        device.enter_thread()
        empty = device.empty
        results = [empty(shape, stride, dtype) for _, shape, stride, dtype in self._outputs]
        with slot.lock:
            for position, index in self._read:
                pointers[index] = leaves[position].data_ptr()
            for output, result in zip(self._outputs, results):
                pointers[output[0]] = result.data_ptr()
            if slot.versions is None:
                versions = binding.versions()
                plan.prepare()
                slot.versions = versions
            plan.launch()
        if binding.written:
            binding.mark_written()
        return results[0] if self._single else self._assemble(results, leaves)

    def _assemble(self, results: list[torch.Tensor], leaves: Any) -> Any:
        kinds = {"output": results, "argument": leaves}
        flat = [which if kind == "value" else kinds[kind][which] for kind, which in self._recording.results]
        tree = self._recording.out_tree
        return flat[0] if tree is None else pytree.tree_unflatten(flat, tree)

    def _fall_back(
        self, reason: str, module: torch.nn.Module, original: Callable, args: tuple, kwargs: dict
    ) -> Any:
        if reason not in self._reasons:
            self._reasons[reason] = 0
            warnings.warn(f"{type(module).__name__} uses its original forward: {reason}", stacklevel=4)
        self._reasons[reason] += 1
        return original(module, *args, **kwargs)
