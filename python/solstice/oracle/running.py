"""One call of a module whose effects are caught: results, buffers that it wrote, inputs that it wrote."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch

from ..errors import is_out_of_memory
from ..tensors import leaves, module_tensors, tensor_leaves
from ..tracing.failing import forward_failed

Values = dict[str, torch.Tensor]


class Buffers:
    """Finds and undoes what a call does to the module's buffers.

    Batch normalisation writes its statistics without moving their version, so that values count too,
    and its statistics are results even where the values happen to stay the same.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._owners = [
            (f"{path}.{name}" if path else name, child, name, buffer, buffer._version, buffer.clone())
            for path, child in module.named_modules()
            for name, buffer in child._buffers.items()
            if buffer is not None
        ]

    def _changes(self) -> Iterator[tuple[str, torch.Tensor]]:
        """What was changed, by name; each is put back before the next."""
        for fqn, child, name, buffer, version, saved in self._owners:
            now = child._buffers.get(name)
            written = buffer._version != version or _is_statistic(child) or not _same(buffer, saved)
            if now is buffer and not written:
                continue
            yield fqn, now
            child._buffers[name] = buffer
            if written:
                buffer.copy_(saved)

    def put_back(self) -> None:
        for _ in self._changes():
            pass

    def take_changes(self) -> dict[str, torch.Tensor]:
        """What is put back."""
        mine = {fqn: buffer for fqn, _, _, buffer, _, _ in self._owners}
        return {fqn: now.clone() if now is mine[fqn] else now for fqn, now in self._changes()}


@contextlib.contextmanager
def kept_buffers(module: torch.nn.Module) -> Iterator[None]:
    """Calls within it leave no mark on the module's buffers."""
    buffers = Buffers(module)
    try:
        yield
    finally:
        with torch.no_grad():
            buffers.take_changes()


def _is_statistic(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.modules.batchnorm._NormBase) and module.training and module.track_running_stats


def _same(first: torch.Tensor, second: torch.Tensor) -> bool:
    return torch.equal(first, second) or (
        first.is_floating_point()
        and torch.equal(first.isnan(), second.isnan())
        and torch.equal(first.nan_to_num(), second.nan_to_num())
    )


class Caught:
    """Catches what calls of a module with these arguments do. What a call writes of the module's buffers is put back;
    written inputs are not: the caller makes them anew."""

    def __init__(self, module: torch.nn.Module, args: tuple, kwargs: dict) -> None:
        self._inputs = leaves((args, kwargs))
        self._buffers = Buffers(module)
        self._owned = {t.untyped_storage()._cdata for t in (*tensor_leaves(self._inputs), *module_tensors(module))}
        self.begin()

    def begin(self) -> None:
        """Before a call, once its inputs are what they shall be."""
        self._versions = [t._version if isinstance(t, torch.Tensor) else None for t in self._inputs]

    def values(self, result: Any) -> Values:
        """`output.I` for tensor I of the flattened result, `buffer.FQN` and `input.I` for what was written."""
        values = {f"output.{i}": own(t, self._owned) for i, t in enumerate(leaves(result)) if _is_tensor(t)}
        values.update({f"buffer.{fqn}": t for fqn, t in self._buffers.take_changes().items()})
        for i, (tensor, version) in enumerate(zip(self._inputs, self._versions)):
            if _is_tensor(tensor) and tensor._version != version:
                values[f"input.{i}"] = tensor.clone()
        return values


def run(module: torch.nn.Module, args: tuple, kwargs: dict, seed: int) -> Values:
    """What one call does, by the names of Caught.values; written inputs are not put back."""
    caught = Caught(module, args, kwargs)
    torch.manual_seed(seed)
    with torch.no_grad():
        return caught.values(_call(module, args, kwargs))


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor)


def wrote_inputs(values: Values) -> bool:
    return any(name.startswith("input.") for name in values)


def own(tensor: torch.Tensor, owned: set[int]) -> torch.Tensor:
    """A result that is a view of an input or a parameter would change with it."""
    tensor = tensor.detach()
    return tensor.clone() if tensor.untyped_storage()._cdata in owned else tensor


def _call(module: torch.nn.Module, args: tuple, kwargs: dict) -> Any:
    try:
        return module(*args, **kwargs)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise forward_failed("oracle.forward_failed", error) from error
