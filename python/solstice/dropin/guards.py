"""Guards: what must hold for the recorded kernels to be the module's forward.

They run on every call and are written for speed; a refusal is explained in a second, slower look.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch.utils.hooks import RemovableHandle

from .recording import Recording, TensorSpec

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

_strided = torch.strided
_tensor_types = (torch.Tensor, torch.nn.Parameter)


def read_flags() -> tuple:
    """The switches that decide what the original forward would compute."""
    return (
        torch._C._get_cublas_allow_tf32(),
        torch._C._get_cudnn_allow_tf32(),
        torch._C._get_deterministic_algorithms(),
    )


def environment_refusal(flags: tuple) -> Optional[str]:
    """The state of PyTorch around the call; None when it is as recorded."""
    if torch._C._is_any_autocast_enabled():
        return "autocast is on"
    if read_flags() != flags:
        return "the TF32 or determinism flags differ from those it was recorded under"
    if torch._C._len_torch_dispatch_stack() or torch._C._functorch.peek_interpreter_stack() is not None:
        return "a dispatch mode or a function transform (vmap, grad) is active"
    return None


def quick_check(flags: tuple, tensors: list[tuple[int, TensorSpec]], binding: Any) -> Callable[[Any], bool]:
    """A function that says whether these leaves may run the kernels; a no is explained by the functions
    around it. Everything it needs is bound once: it runs on every call and takes about 2 us.

    Real dtypes are never conjugated; strides of extents of 1 mean nothing, so contiguous is contiguous.
    """
    autocast, grad = torch._C._is_any_autocast_enabled, torch.is_grad_enabled
    matmul_tf32, cudnn_tf32 = torch._C._get_cublas_allow_tf32, torch._C._get_cudnn_allow_tf32
    deterministic, modes = torch._C._get_deterministic_algorithms, torch._C._len_torch_dispatch_stack
    transform = torch._C._functorch.peek_interpreter_stack
    wanted_matmul, wanted_cudnn, wanted_deterministic = flags
    device, owners = binding.device.index, binding.owners
    specs = [(i, s.dtype, s.shape, s.contiguous, s.stride, s.alignment) for i, s in tensors]
    training, training_wanted = binding.modes.modules, binding.modes.flags

    def check(leaves: Any) -> bool:
        if (
            autocast()
            or matmul_tf32() is not wanted_matmul
            or cudnn_tf32() is not wanted_cudnn
            or deterministic() is not wanted_deterministic
            or modes()
            or transform() is not None
        ):
            return False
        for store, name, tensor, pointer in owners:
            if store.get(name) is not tensor or tensor.data_ptr() != pointer:
                return False
        for position, dtype, shape, contiguous, stride, alignment in specs:
            value = leaves[position]
            if (
                type(value) not in _tensor_types
                or value.layout is not _strided
                or value.dtype is not dtype
                or value.shape != shape
                or not (value.is_contiguous() if contiguous else value.stride() == stride)
                or value.get_device() != device
                or value.data_ptr() % alignment
                or value.is_neg()
            ):
                return False
        if grad() and (binding.requires_grad() or any_requires_grad(leaves)):
            return False
        return [m.training for m in training] == training_wanted and not binding.hooks.present()

    return check


def misfit(value: Any, spec: TensorSpec, device: int, position: int) -> Optional[str]:
    """Why this argument does not fit; None when it does."""
    if type(value) not in _tensor_types:
        return f"argument {position} is a {type(value).__name__}, recorded was a tensor"
    if value.layout is not _strided:
        return f"argument {position} has the layout {value.layout}"
    contiguous = spec.contiguous and value.is_contiguous()
    if (
        value.dtype is not spec.dtype
        or value.shape != spec.shape
        or not (contiguous or value.stride() == spec.stride)
    ):
        return f"argument {position} is {describe(value)}; recorded was {spec.text()}"
    if value.get_device() != device:
        return f"argument {position} is on {value.device}"
    if value.data_ptr() % spec.alignment:
        return f"argument {position} is not aligned to {spec.alignment} bytes"
    return f"argument {position} is a lazily negated view" if value.is_neg() else None


def describe(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype)[6:]}{list(tensor.shape)} stride {list(tensor.stride())}"


def any_requires_grad(leaves: Any) -> bool:
    return any(isinstance(t, torch.Tensor) and t.requires_grad for t in leaves)


class HookWatch:
    """Hooks on inner modules would be skipped. Registering one anywhere moves a counter of PyTorch's."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._dicts = [getattr(m, name) for m in module.modules() if m is not module for name in _HOOKS]
        self._seen = -1
        self._present = False

    def present(self) -> bool:
        if self._present or RemovableHandle.next_id != self._seen:
            self._seen = RemovableHandle.next_id
            self._present = any(self._dicts)
        return self._present


class ModeWatch:
    """The training flag of every module, as recorded."""

    def __init__(self, module: torch.nn.Module, recording: Recording) -> None:
        named = dict(module.named_modules(remove_duplicate=False))
        known = [(named[path], flag) for path, flag in recording.training.items() if path in named]
        self.modules = [m for m, _ in known]
        self.flags = [flag for _, flag in known]

    def holds(self) -> bool:
        return [m.training for m in self.modules] == self.flags
