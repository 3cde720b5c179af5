"""The headline: a drop-in against its original under KernelBench's protocol, and every result that was timed compared.

Unlike there, the inputs are others at every repetition, and nothing that an earlier call left is there to be used.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

import torch

from ..errors import environment_error, input_error
from ..loading import SEED
from ..tensors import logical_bytes, tensor_leaves
from . import kernelbench, timing
from .running import Caught, Values, wrote_inputs
from .session import InputSet, Session

SIDES = ("original", "drop-in")


class Poison:
    """Overwrites, before a call is timed, what the calls before it left: the workspaces of the drop-in, and the memory
    that the allocator gives to its next results, since those of the last call went back to it. All bits set are NaN,
    and -1: what rests on them is wrong."""

    def __init__(self, device: torch.device, workspaces: Callable[[], list[torch.Tensor]]) -> None:
        self._device, self._workspaces = device, workspaces
        self._sizes: list[int] = []

    def expect(self, results: Any, given: set[int]) -> None:
        """Results of the next calls have the sizes of these; what lies in the storages `given` (`_cdata`) is no memory
        of theirs."""
        storages = {t.untyped_storage()._cdata: t.untyped_storage() for t in tensor_leaves(results)}
        self._sizes = [storage.nbytes() for key, storage in storages.items() if key not in given]

    def __call__(self) -> None:
        for workspace in self._workspaces():
            workspace.view(torch.uint8).fill_(255)
        places = [torch.empty(size, dtype=torch.uint8, device=self._device) for size in self._sizes]  # all at once
        for place in places:
            place.fill_(255)


class Side:
    """One of the two: its calls start from the state that it has now, and leave none."""

    def __init__(self, module: torch.nn.Module, inputs: InputSet, fresh: timing.FreshContent) -> None:
        self.module, self._inputs, self._fresh = module, inputs, fresh
        self._caught = Caught(module, inputs.args, inputs.kwargs)

    def begin(self, shift: int) -> None:
        """Content and draws of call `shift`."""
        self._fresh.place(shift)
        self._caught.begin()
        torch.manual_seed(SEED + shift)

    def call(self) -> Any:
        return self.module(*self._inputs.args, **self._inputs.kwargs)

    def values(self, result: Any) -> Values:
        return self._caught.values(result)

    def unwritten(self, name: str, shift: int) -> torch.Tensor:
        """A buffer or an input that call `shift` left as it was."""
        kind, _, rest = name.partition(".")
        if kind == "buffer":
            return self.module.get_buffer(rest)
        self._fresh.place(shift)
        return self._inputs.leaves()[int(rest)]


@dataclass
class Held:
    """What a timed call did. A later call could finish the work of this one; its checksums lie on the host."""

    shift: int
    values: Values
    sums: dict[str, int]


@dataclass
class Results:
    """Results of the drop-in's timed calls, held until the original has run on the same content, from the same state
    and seed: after the block that they belong to, where memory has room, so that nothing runs between its calls.

    Checksums in their place would not do: both agree within a limit, not bit by bit, so that one side's values have to
    be there, and a call of the original between two timed ones would change the clocks and memory that those meet."""

    session: Session
    original: Side
    new: Side
    numerics: str
    compared: int = 0
    excess: float = 0.0  # the largest error over the check's limit
    _held: list[Held] = field(default_factory=list)

    def hold(self, shift: int, values: Values) -> None:
        self._held.append(Held(shift, values, {name: checksum(value) for name, value in values.items()}))
        size = logical_bytes(values.values())
        if size > torch.cuda.mem_get_info(self.session.device)[0] // 4:
            self.settle()

    def settle(self) -> None:
        for held in self._held:
            self.excess = max(self.excess, self._excess(held))
            self.compared += 1
        self._held = []

    def _excess(self, held: Held) -> float:
        if any(checksum(value) != held.sums[name] for name, value in held.values.items()):
            return math.inf
        self.original.begin(held.shift)
        expected = self.original.values(self.original.call())
        pairs = []
        for name in sorted(expected.keys() | held.values.keys()):
            if name.startswith("output.") and not (name in expected and name in held.values):
                return math.inf
            theirs, ours = (
                values[name] if name in values else side.unwritten(name, held.shift)
                for values, side in ((expected, self.original), (held.values, self.new))
            )
            pairs.append((theirs, ours))
        return kernelbench.excess_alike(*map(list, zip(*pairs)), self.numerics) if pairs else 0.0


def checksum(tensor: torch.Tensor) -> int:
    """Of its bits; additions of integers have no order."""
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
    if flat.storage_offset() % 8:
        flat = flat.clone()
    wide = flat.numel() // 8 * 8
    return int(flat[:wide].view(torch.int64).sum()) + int(flat[wide:].sum(dtype=torch.int64))


def compare(
    session: Session,
    inputs: InputSet,
    original: torch.nn.Module,
    new: torch.nn.Module,
    reps: int,
    warmups: int,
    rounds: int,
    numerics: str = "reference",
) -> dict[str, Any]:
    """The blocks of `rounds` rounds, each in ABBA order, and how the results of all calls of `new` in them compare with
    the original's. Both modules are in one state. Workspaces of `new`, and the memory of its results, are overwritten
    before each call (Poison). Memory that is short between the calls is an error."""
    timing.need_gpu(session)
    if reps < 1 or warmups < 0 or rounds < 1:
        raise input_error(
            "timing.reps", f"reps, warmups and rounds are {reps}, {warmups}, {rounds}; at least 1, 0 and 1 are needed"
        )
    flushing = timing.L2Flush(session, timing.KERNELBENCH_FLUSH_BYTES)
    with flushing as flush, timing.FreshContent(session, inputs) as fresh, torch.no_grad():
        poison = Poison(session.device, getattr(new, "solstice_workspaces", list))  # others have no kernels of ours
        comparison = _Comparison(session, inputs, fresh, flush, poison, (original, new), numerics)
        with comparison.undone():
            comparison.warm_up(warmups)
            blocks = comparison.rounds(reps, rounds)
        results = comparison.results
        return {
            "blocks": blocks,
            "fresh_content": fresh.active,
            "compared": results.compared,
            "excess": results.excess if math.isfinite(results.excess) else None,
        }


class _Comparison:
    def __init__(
        self,
        session: Session,
        inputs: InputSet,
        fresh: timing.FreshContent,
        flush: Callable[[], None],
        poison: Poison,
        modules: tuple[torch.nn.Module, torch.nn.Module],
        numerics: str,
    ) -> None:
        self._session, self._fresh, self._flush, self._poison = session, fresh, flush, poison
        self._given = {t.untyped_storage()._cdata for t in inputs.tensors()}
        self._sides = dict(zip(SIDES, (Side(module, inputs, fresh) for module in modules)))
        self._shift = 0
        self.results = Results(session, *self._sides.values(), numerics)

    @contextlib.contextmanager
    def undone(self) -> Iterator[None]:
        """A call that fails may have written buffers."""
        try:
            yield
        finally:
            for side in self._sides.values():
                side.values(None)

    def warm_up(self, reps: int) -> None:
        for name in SIDES if reps else ():
            self._block(name, reps)
        self.results.compared, self.results.excess = 0, 0.0

    def rounds(self, reps: int, rounds: int) -> list[dict[str, Any]]:
        return [self._block(name, reps, "timed") for name in (*SIDES, *reversed(SIDES)) * rounds]

    def _block(self, name: str, reps: int, news: str = "") -> dict[str, Any]:
        side = self._sides[name]

        def before() -> None:
            self._shift += 1
            side.begin(self._shift)
            self._poison()
            self._flush()

        def after(result: Any) -> None:
            self._poison.expect(result, self._given)
            values = side.values(result)
            self._refuse_leftovers(values)
            if name == SIDES[1]:
                self.results.hold(self._shift, values)

        seconds = timing.kernelbench_samples(side.call, reps, before, after)
        if news:
            self._session.progress(news, name)  # the client reads the clocks now
        self.results.settle()
        return {"side": name, "seconds": seconds}

    def _refuse_leftovers(self, values: Values) -> None:
        if wrote_inputs(values) and not self._fresh.room:
            raise environment_error(
                "timing.out_of_memory",
                "the module writes its inputs, and there is no memory for copies that each timed call could start from",
                hint="use smaller sizes, or a device with more memory",
            )
