"""Ties the plan's parameters and module buffers to the live tensors of one module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

import torch

from . import guards
from .recording import Recording, TensorSpec


@dataclass
class Binding:
    device: Any
    owners: list[
        tuple[dict, str, torch.Tensor, int]
    ]  # where the module keeps it, under which name, it, its address
    pointers: list[tuple[TensorSpec, int]]
    written: list[torch.Tensor]
    frozen: Optional[list[torch.Tensor]]  # whose values were baked in at prepare
    hooks: guards.HookWatch
    modes: guards.ModeWatch

    def holds(self) -> bool:
        """The module still has the same tensors at the same addresses."""
        for store, name, tensor, pointer in self.owners:
            if store.get(name) is not tensor or tensor.data_ptr() != pointer:
                return False
        return True

    def versions(self) -> list[int]:
        """Counts of in-place writes to the frozen weights; a change makes prepare run again."""
        return [] if self.frozen is None else [t._version for t in self.frozen]

    def requires_grad(self) -> bool:
        return any(tensor.requires_grad for _, _, tensor, _ in self.owners)

    def refusal(self) -> Optional[str]:
        if not self.modes.holds():
            return "the training mode differs from the recorded one"
        if self.hooks.present():
            return "hooks are registered on inner modules"
        return None

    def mark_written(self) -> None:
        """The kernels wrote these in place; PyTorch has to know."""
        torch.autograd.graph.increment_version(self.written)


def bind(module: torch.nn.Module, recording: Recording, device: Any) -> Union[Binding, str]:
    """The binding, or why there is none."""
    owners, pointers, written, tensors = [], [], [], []
    for spec in recording.state:
        found = _find(module, spec.path)
        if isinstance(found, str):
            return found
        store, name, tensor = found
        problem = _misfit(tensor, spec, device)
        if problem:
            return problem
        owners.append((store, name, tensor, tensor.data_ptr()))
        pointers.append((spec, tensor.data_ptr()))
        tensors.append(tensor)
        if spec.written:
            written.append(tensor)
    return Binding(
        device,
        owners,
        pointers,
        written,
        frozen=tensors if recording.frozen else None,
        hooks=guards.HookWatch(module),
        modes=guards.ModeWatch(module, recording),
    )


def _find(module: torch.nn.Module, path: str) -> Union[tuple[dict, str, torch.Tensor], str]:
    owner_path, _, name = path.rpartition(".")
    try:
        owner = module.get_submodule(owner_path)
    except AttributeError:
        return f"the module has no `{path}` any more"
    for store in (owner._parameters, owner._buffers):
        if isinstance(store.get(name), torch.Tensor):
            return store, name, store[name]
    return f"`{path}` is no parameter or buffer any more"


def _misfit(tensor: torch.Tensor, spec: TensorSpec, device: Any) -> Optional[str]:
    if tensor.dtype is not spec.dtype or tensor.shape != spec.shape or tensor.stride() != spec.stride:
        return f"`{spec.path}` is {guards.describe(tensor)}; recorded was {spec.text()}"
    if tensor.get_device() != device.index:
        return f"`{spec.path}` is on {tensor.device}, the arguments are not"
    if tensor.data_ptr() % spec.alignment:
        return f"`{spec.path}` is not aligned to {spec.alignment} bytes"
    return None
