"""What one session holds: the module on its device, its variants, and the prepared sets of inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Optional

import torch

from ..errors import environment_error, input_error
from ..loading import SEED, Subject
from ..tensors import leaves, map_tensors, tensor_leaves
from ..tracing.device_map import CudaToCpu
from . import families
from .copying import copy_module

if TYPE_CHECKING:
    from ..tracing.observed import Read

VARIANTS = ("built", "perturbed", families.BALANCED)


@dataclass
class InputSet:
    """One set of example inputs on the device, and later what the module makes of it."""

    seed: int
    family: str
    variant: str  # which weights go with it
    args: tuple
    kwargs: dict
    expected: dict[str, torch.Tensor] = field(default_factory=dict)  # float64
    eager: dict[str, torch.Tensor] = field(default_factory=dict)
    scaled: Optional[tuple[str, float]] = None  # tensor and factor (scaling.py)

    def leaves(self) -> list[Any]:
        return leaves((self.args, self.kwargs))

    def tensors(self) -> list[torch.Tensor]:
        return tensor_leaves((self.args, self.kwargs))


@dataclass
class Session:
    device: torch.device
    subject: Optional[Subject] = None
    sets: dict[str, InputSet] = field(default_factory=dict)
    progress: Callable[..., None] = lambda stage, message="": None
    closed: bool = False
    forks: bool = False  # tracing may happen in a child, so that it leaves no mark on the module
    _variants: dict[str, torch.nn.Module] = field(default_factory=dict)
    dropins: dict[str, torch.nn.Module] = field(default_factory=dict)
    buffers_settled: bool = False  # those of the perturbed module are moved, as far as forward takes that
    notes: dict[str, list[str]] = field(default_factory=dict)  # by variant: what the results do not show
    contest: Any = None  # the opponents, once they are compiled (rivals.py)
    calls: Any = None  # of the module, as one flat graph (solstice.partial)
    parts: Any = None  # of the module, once it was cut (solstice.partial)
    stage_traces: dict[Any, dict] = field(default_factory=dict)  # graphs by partial.key_of_stage()

    def need_subject(self) -> Subject:
        if self.subject is None:
            raise input_error("session.no_module", "no module is loaded", hint="send `load` first")
        return self.subject

    def need_set(self, name: str) -> InputSet:
        if name not in self.sets:
            known = ", ".join(self.sets) or "none"
            raise input_error("session.no_set", f"no input set `{name}`", hint=f"prepared are {known}")
        return self.sets[name]

    def enter(self, subject: Subject) -> None:
        """Another problem on the same device; what was prepared for the one before goes."""
        self.subject = subject
        self.sets, self._variants, self.dropins, self.notes = {}, {}, {}, {}
        self.buffers_settled, self.contest = False, None
        self.empty_cache()

    def module(self, variant: str = "built") -> torch.nn.Module:
        """The module with the given weights, on the device."""
        subject = self.need_subject()
        if subject.weights == "fake":
            raise environment_error(
                "session.no_weights",
                "the module's weights do not fit in this machine's memory",
                hint="it can be traced and analysed, not run",
            )
        if variant not in self._variants:
            self._variants[variant] = self._make(variant)
        return self._variants[variant]

    def _make(self, variant: str) -> torch.nn.Module:
        if variant == "built":
            return self.need_subject().module.to(self.device)
        module = copy_module(self.module())
        if variant == "perturbed":
            families.perturb_weights(module, seed=1)
        return module

    def fresh_variant(self, variant: str) -> torch.nn.Module:
        """A variant about to be changed: a copy of its own, whatever was there before."""
        self._variants[variant] = copy_module(self.module())
        return self._variants[variant]

    def example_inputs(self, seed: int) -> tuple[tuple, dict]:
        """Fresh example inputs, made on the device itself: large ones would take minutes on the host."""
        torch.manual_seed(seed)
        if self.device.type == "cpu":
            with CudaToCpu():
                return self.need_subject().inputs()
        with torch.device(self.device):
            args, kwargs = self.need_subject().inputs()
        return map_tensors(lambda t: t.to(self.device), (args, kwargs))

    def reads(self) -> list["Read"]:
        """What the module reads from tensors when it runs on its example inputs. Errors: `trace.branches` where it
        cannot be run."""
        from ..tracing.causes import BRANCHES, STAYS
        from ..tracing.observed import Unobserved, observe

        module = self.module()
        try:
            return observe(module, lambda: self.example_inputs(SEED))
        except Unobserved as error:
            message = f"which branches on values `forward` takes for its example inputs is not known: {error}"
            raise input_error(BRANCHES, message, hint=STAYS) from error

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def empty_cache(self) -> None:
        """Gives unused memory back to the device: the runner allocates there too."""
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
