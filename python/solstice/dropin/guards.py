"""Guards: what must hold for the recorded kernels to be the module's forward, each with its explanation.

Every call runs them in the form that fast.py writes; this is the slow look that says why they failed.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.nn.modules import module as nn_module
from torch.utils.hooks import RemovableHandle

from .specs import TensorSpec

TENSOR_TYPES = (torch.Tensor, torch.nn.Parameter)

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def read_flags() -> tuple:
    """The switches that decide what the original forward would compute: TF32 in matrix products and in
    convolutions, deterministic algorithms."""
    try:
        tf32 = torch._C._get_cublas_allow_tf32(), torch._C._get_cudnn_allow_tf32()
    except RuntimeError:  # the newer switches, fp32_precision, were used: the older ones refuse to answer
        precision = torch._C._get_fp32_precision_getter
        tf32 = precision("cuda", "matmul") == "tf32", precision("cuda", "conv") == "tf32"
    return (*tf32, torch._C._get_deterministic_algorithms())


def environment_refusal(flags: tuple) -> Optional[str]:
    """The state of PyTorch around the call; None when it is as recorded."""
    if torch._C._get_tracing_state() is not None:
        return "torch.jit.trace is recording"
    if torch.is_autocast_enabled():
        return "autocast is on"
    if read_flags() != flags:
        return "the TF32 or determinism flags differ from those it was recorded under"
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return "a dispatch mode or function mode is active"
    if torch._C._functorch.peek_interpreter_stack() is not None:
        return "a function transform (vmap, grad) is active"
    if torch.autograd.forward_ad._current_level >= 0:
        return "forward-mode differentiation is active"
    return None


def misfit(value: Any, spec: TensorSpec, device: int, position: int) -> Optional[str]:
    """Why this argument does not fit; None when it does."""
    if type(value) not in TENSOR_TYPES:
        return f"argument {position} is a {type(value).__name__}, recorded was a tensor"
    if value.layout is not torch.strided:
        return f"argument {position} has the layout {value.layout}"
    if value.dtype is not spec.dtype or value.shape != spec.shape or not spec.has_layout(value):
        return f"argument {position} is {describe(value)}; recorded was {spec.text()}"
    if value.get_device() != device:
        return f"argument {position} is on {value.device}"
    if value.data_ptr() % spec.alignment:
        return f"argument {position} is not aligned to {spec.alignment} bytes"
    if not value.data_ptr() and value.numel():
        return f"argument {position} has no memory"
    return f"argument {position} is a lazily negated view" if value.is_neg() else None


def describe(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype)[6:]}{list(tensor.shape)} stride {list(tensor.stride())}"


def any_requires_grad(leaves: Any) -> bool:
    return any(isinstance(t, torch.Tensor) and t.requires_grad for t in leaves)


class HookWatch:
    """Hooks on inner modules, on modules that attributes hold, or on all modules would be skipped. Registering one
    moves a counter of PyTorch's."""

    def __init__(self, module: torch.nn.Module, others: list[torch.nn.Module]) -> None:
        inner = [m for m in module.modules() if m is not module] + others
        self._tables = [getattr(m, name) for m in inner for name in _HOOKS]
        if self._tables:
            self._tables += [getattr(nn_module, "_global" + name) for name in _HOOKS]
        self.seen = -1  # the counter when there was none; fast.py compares it

    def present(self) -> bool:
        self.seen = -1 if any(self._tables) else RemovableHandle.next_id
        return self.seen < 0
