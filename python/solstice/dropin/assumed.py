"""Buffers that the kernels may not read at all, since the program assumes what they hold (`assume`): whoever loads
another mask has to get the original forward. Contents are compared when a module is bound, and again after every write
that PyTorch counts; each call looks at identity, version, address and layout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional, Union

import torch

from . import closed_form, guards
from .recording import Assumption


@dataclass
class Held:
    """A buffer that was compared, and what it was then."""

    store: dict
    name: str
    tensor: torch.Tensor
    facts: tuple

    def holds(self) -> bool:
        return self.store.get(self.name) is self.tensor and facts_of(self.tensor) == self.facts


def facts_of(tensor: torch.Tensor) -> tuple:
    return tensor._version, tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


class Comparer:
    """Remembers what it compared: a buffer that nothing wrote since is not read again."""

    def __init__(self, assumptions: list[Assumption], tied: dict[str, list[str]]) -> None:
        """Recorded is one name of a buffer, but the original forward may read it by any."""
        self._assumptions = [
            replace(one, path=path) for one in assumptions for path in (one.path, *tied.get(one.path, ()))
        ]
        self._seen: dict[str, tuple[torch.Tensor, tuple, bool]] = {}

    def held(self, module: torch.nn.Module, device: Any) -> Union[list[Held], str]:
        """The module's buffers, all as assumed; or which one is not."""
        out: dict[tuple[int, str], Held] = {}  # by place: a module may have several paths
        for one in self._assumptions:
            path, _, name = one.path.rpartition(".")
            try:
                store = module.get_submodule(path)._buffers
            except AttributeError:
                return f"the module has no `{one.path}` any more"
            if (id(store), name) in out:
                continue
            problem = self._problem(one, store.get(name), device)
            if problem is not None:
                return problem
            out[id(store), name] = Held(store, name, store[name], facts_of(store[name]))
        return [*out.values()]

    def _problem(self, one: Assumption, tensor: Any, device: Any) -> Optional[str]:
        if type(tensor) not in guards.TENSOR_TYPES or tensor.layout is not torch.strided:
            return f"`{one.path}` is no buffer any more"
        if tensor.is_inference():
            return f"`{one.path}` was made in inference mode and cannot be watched for changes"
        if tensor.dtype is not one.dtype or tuple(tensor.shape) != one.shape:
            return f"`{one.path}` is {guards.describe(tensor)}; recorded was {str(one.dtype)[6:]}{list(one.shape)}"
        facts = facts_of(tensor)
        seen = self._seen.get(one.path)
        if seen is None or seen[0] is not tensor or seen[1] != facts:
            if device.capturing():
                return f"`{one.path}` may have changed, and cannot be read while a graph is captured"
            seen = self._seen[one.path] = (tensor, facts, closed_form.holds(tensor, one.form))
        return None if seen[2] else f"`{one.path}` no longer holds {one.text()}, which the kernels were made for"
