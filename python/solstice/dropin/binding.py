"""Ties the plan's parameters and module buffers to the live tensors of one module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

import torch

from . import guards, structure
from .assumed import Held
from .recording import Recording
from .specs import TensorSpec


@dataclass
class Owner:
    """Where a module keeps a tensor that the kernels use, and what it was when they were bound to it."""

    store: dict
    name: str
    tensor: torch.Tensor
    spec: TensorSpec
    pointer: int

    def holds(self) -> bool:
        t, spec = self.tensor, self.spec
        return (
            self.store.get(self.name) is t
            and t.data_ptr() == self.pointer
            and t.dtype is spec.dtype
            and t.shape == spec.shape
            and spec.has_layout(t)
        )


@dataclass
class Binding:
    device: Any
    owners: list[Owner]  # one a name: tied tensors have several
    pointers: list[tuple[int, int]]  # slot and address
    written: list[torch.Tensor]
    frozen: Optional[list[torch.Tensor]]  # whose values were baked in at prepare
    hooks: guards.HookWatch
    watch: structure.Watch
    assumed: list[Held]  # buffers that were compared with their closed form

    def holds(self, module: torch.nn.Module) -> bool:
        """The module still has the same tensors at the same addresses, in the same tree."""
        return self.watch.holds(vars(module)) and all(one.holds() for one in (*self.owners, *self.assumed))

    def versions(self) -> tuple:
        """Counts of in-place writes to the frozen weights; a change makes prepare run again."""
        return () if self.frozen is None else tuple(t._version for t in self.frozen)

    def requires_grad(self) -> bool:
        held = (tensor for tensor, _, _ in self.watch.contents.tensors)
        named = (one.tensor for one in (*self.owners, *self.assumed))
        return any(tensor.requires_grad for tensor in (*named, *held))

    def mark_written(self) -> None:
        """The kernels wrote these in place; PyTorch has to know."""
        torch.autograd.graph.increment_version(self.written)


def bind(module: torch.nn.Module, recording: Recording, device: Any, assumed: list[Held]) -> Union[Binding, str]:
    """The binding of a module with the recorded structure, or why there is none."""
    owners: list[Owner] = []
    for spec in recording.state:
        found = _owners(module, spec, recording.tied.get(spec.path, []))
        problem = found if isinstance(found, str) else _misfit(found[0].tensor, spec, device)
        if not problem and recording.by_place and found[0].tensor.storage_offset():
            problem = f"`{spec.path}` is a part of a storage, from whose beginning `forward` reads"
        if problem:
            return problem
        owners += found
    first = {owner.spec.slot: owner for owner in reversed(owners)}.values()
    written = [o.tensor for o in first if o.spec.written]
    frozen = [o.tensor for o in first if not o.spec.written] if recording.frozen else None
    if any(t.is_inference() for t in frozen or ()):
        return "frozen weights made in inference mode cannot be watched for changes"
    watch = structure.Watch(module, recording.structure)
    if watch.contents.has_inference:
        return "tensor attributes made in inference mode cannot be watched for changes"
    return Binding(
        device,
        owners,
        pointers=[(o.spec.slot, o.pointer) for o in first],
        written=[t for t in written if not t.is_inference()],  # those have no version
        frozen=frozen,
        hooks=guards.HookWatch(module, watch.contents.modules),
        watch=watch,
        assumed=assumed,
    )


def _owners(module: torch.nn.Module, spec: TensorSpec, tied: list[str]) -> Union[list[Owner], str]:
    owners: list[Owner] = []
    for path in (spec.path, *tied):
        found = _find(module, path)
        if isinstance(found, str):
            return found
        store, name, tensor = found
        if owners and tensor is not owners[0].tensor:
            return f"`{path}` is no longer the same tensor as `{spec.path}`"
        owners.append(Owner(store, name, tensor, spec, tensor.data_ptr()))
    return owners


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
    if type(tensor) not in guards.TENSOR_TYPES or tensor.layout is not torch.strided:
        return f"`{spec.path}` is a {type(tensor).__name__} with layout {tensor.layout}"
    if tensor.dtype is not spec.dtype or tensor.shape != spec.shape or not spec.has_layout(tensor):
        return f"`{spec.path}` is {guards.describe(tensor)}; recorded was {spec.text()}"
    if tensor.get_device() != device.index:
        return f"`{spec.path}` is on {tensor.device}, the arguments are not"
    if tensor.data_ptr() % spec.alignment:
        return f"`{spec.path}` is not aligned to {spec.alignment} bytes"
    return f"`{spec.path}` is a lazily negated view" if tensor.is_neg() else None
