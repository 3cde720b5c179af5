"""Guards: what must hold for the recorded kernels to be the module's forward.

They run on every call and are written for speed; a refusal is explained in a second, slower look.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.utils.hooks import RemovableHandle

from .recording import Recording, TensorSpec

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

_strided = torch.strided
_tensor_types = (torch.Tensor, torch.nn.Parameter)


class Environment:
    """The state of PyTorch around the call."""

    def __init__(self, flags: dict[str, Any]) -> None:
        self._flags = (flags["matmul_tf32"], flags["cudnn_tf32"], flags["deterministic"])

    def refusal(
        self,
        # Bound as defaults: looked up once, not on every call.
        is_autocast: Any = torch._C._is_any_autocast_enabled,
        matmul_tf32: Any = torch._C._get_cublas_allow_tf32,
        cudnn_tf32: Any = torch._C._get_cudnn_allow_tf32,
        deterministic: Any = torch._C._get_deterministic_algorithms,
        dispatch_modes: Any = torch._C._len_torch_dispatch_stack,
        transform: Any = torch._C._functorch.peek_interpreter_stack,
    ) -> Optional[str]:
        if is_autocast():
            return "autocast is on"
        if (matmul_tf32(), cudnn_tf32(), deterministic()) != self._flags:
            return "the TF32 or determinism flags differ from those it was recorded under"
        if dispatch_modes() or transform() is not None:
            return "a dispatch mode or a function transform (vmap, grad) is active"
        return None


def fits(value: Any, spec: TensorSpec, device: int) -> bool:
    """Real dtypes are never conjugated; strides of extents of 1 mean nothing, so contiguous is contiguous."""
    return (
        type(value) in _tensor_types
        and value.layout is _strided
        and value.dtype is spec.dtype
        and value.shape == spec.shape
        and (value.is_contiguous() if spec.contiguous else value.stride() == spec.stride)
        and value.get_device() == device
        and not value.data_ptr() % spec.alignment
        and not value.is_neg()
    )


def misfit(value: Any, spec: TensorSpec, device: int, position: int) -> str:
    """Why `fits` said no."""
    if type(value) not in _tensor_types:
        return f"argument {position} is a {type(value).__name__}, recorded was a tensor"
    if value.layout is not _strided:
        return f"argument {position} has the layout {value.layout}"
    contiguous = spec.contiguous and value.is_contiguous()
    if value.dtype is not spec.dtype or value.shape != spec.shape or not (contiguous or value.stride() == spec.stride):
        return f"argument {position} is {describe(value)}; recorded was {spec.text()}"
    if value.get_device() != device:
        return f"argument {position} is on {value.device}"
    if value.data_ptr() % spec.alignment:
        return f"argument {position} is not aligned to {spec.alignment} bytes"
    return f"argument {position} is a lazily negated view"


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
        self._modules = [m for m, _ in known]
        self._flags = [flag for _, flag in known]

    def holds(self) -> bool:
        return [m.training for m in self._modules] == self._flags
