"""A module with stages and PyTorch's calls between them, bound: as Bound in runtime.py is for one plan."""

from __future__ import annotations

import struct
from typing import Any, Callable, Iterator

import torch

from . import fast, schedule
from .binding import Binding, bind
from .errors import DropinError
from .numbers import Unforeseen
from .recording import Recording
from .slots import Slot, Slots
from .unrolled import Text


class Stage:
    """The kernels of one stage, tied to the module's tensors."""

    def __init__(self, number: int, recording: Recording, module: torch.nn.Module, device: Any) -> None:
        self.number = number
        self.recording = recording
        binding = bind(module, recording, device, [])
        if isinstance(binding, str):
            raise DropinError(binding)
        self.binding = binding
        self.slots = Slots(recording, binding)
        self._pack = struct.Struct(f"{len(recording.moving)}P").pack

    def run(self, slot: Slot, stream: int, given: list[torch.Tensor]) -> list[Any]:
        """A launch that prepares where that was not done."""
        recording, device = self.recording, self.binding.device
        given = [schedule.fit(spec, tensor) for spec, tensor in zip(recording.arguments, given)]
        made = [device.empty(o.shape, o.stride, o.dtype) for o in recording.outputs]
        moved = self._pack(*(t.data_ptr() for t in (*(given[i] for i, _ in recording.read), *made)))
        if slot.versions is None:
            versions = self.binding.versions()
            slot.launcher.prepare(moved)
            self.slots.keep(stream, slot, versions)
        slot.launcher.launch(moved)
        if self.binding.written:
            self.binding.mark_written()
        kinds = {"output": made, "argument": given}
        return [which if kind == "value" else kinds[kind][which] for kind, which in recording.results]

    def lines(self, text: Text, given: list[str], exact: set[str], results: list[str]) -> Iterator[str]:
        """The same in the text of `fast`, where the slot is `s{number}`. `exact`: names that need no look."""
        recording, device = self.recording, self.binding.device
        taken = list(given)
        for i, (name, spec) in enumerate(zip(given, recording.arguments)):
            if name not in exact:
                taken[i] = f"g{self.number}_{i}"
                layout = f"not {name}.is_contiguous()" if spec.contiguous else f"{name}.stride() != {spec.stride!r}"
                wrong = f"{layout} or {name}.data_ptr() % {spec.alignment} or {name}.is_neg()"
                fitted = f"{text.bind('fit', schedule.fit)}({text.bind('spec', spec)}, {name})"
                yield f"    {taken[i]} = {fitted} if {wrong} else {name}"
        empty = text.bind("empty", device.empty)
        made = [f"y{self.number}_{i}" for i in range(len(recording.outputs))]
        for name, output in zip(made, recording.outputs):
            yield f"    {name} = {empty}({output.shape!r}, {output.stride!r}, {text.bind('dtype', output.dtype)})"
        addresses = [f"{name}.data_ptr()" for name in (*(taken[i] for i, _ in recording.read), *made)]
        yield f"    moved = {text.bind('pack', self._pack)}({', '.join(addresses)})"
        slot = f"s{self.number}"
        yield f"    if {text.bind('relaunch', self.slots.relaunch)}({slot}.call, moved): {slot}.again(moved)"
        if self.binding.written:
            yield f"    {text.bind('mark_written', self.binding.mark_written)}()"
        kinds = {"output": made, "argument": taken}
        for name, (kind, which) in zip(results, recording.results):
            yield f"    {name} = {text.literal(which) if kind == 'value' else kinds[kind][which]}"
        done = [*made, *(name for name in taken if name not in given)]
        yield f"    {' = '.join(done)} = None" if done else "    pass"


class ScheduledBound:
    """A module's tensors at their addresses, with the kernels of all stages."""

    def __init__(self, runtime: Any, binding: Binding, flags: tuple, module: torch.nn.Module) -> None:
        self.binding = binding
        self._runtime = runtime
        recording = runtime.recording
        self._schedule = recording.schedule
        self.stages = {n: Stage(n, r, module, binding.device) for n, r in self._schedule.stages.items()}
        self._state = {owner.spec.path: owner.tensor for owner in binding.owners}
        self._steps = self._write_steps()
        self.fast = self._write_fast(recording, flags)

    def slot(self, stream: int) -> Any:
        """Slots of all stages; or why one has none. Nothing is launched before all are there."""
        found: dict[int, Slot] = {}
        for number, stage in self.stages.items():
            slot = stage.slots.slot(stream)
            if type(slot) is not Slot:
                return str(slot)
            found[number] = slot
        return found

    def workspaces(self) -> list[torch.Tensor]:
        ordinary = [stage for stage in self.stages.values() if not stage.recording.persistent]
        return [slot.workspace for stage in ordinary for slot in stage.slots.ready.values()]

    def launch(self, slots: dict[int, Slot], stream: int, leaves: Any) -> Any:
        self.binding.device.enter_thread()
        is_new = any(slot.versions is None for slot in slots.values())
        run = lambda number, given: self.stages[number].run(slots[number], stream, given)
        result = self._runtime.assemble(self._steps(run, *leaves))
        if is_new:
            fast.recognise(self.fast, self._runtime.recording, self.binding, leaves)
        return result

    def _writer(self, text: Text) -> schedule.Writer:
        return schedule.Writer(text, self._schedule, self._state, self._place())

    def _place(self) -> torch.device:
        index = self.binding.device.index
        return torch.device("cuda", index) if index >= 0 else torch.device("cpu")

    def _arguments(self) -> list[str]:
        return [f"x{i}" for i in range(len(self._runtime.recording.arguments))]

    def _write_steps(self) -> Callable:
        """`steps(run, *leaves)`: the results' leaves, with `run` for the stages."""
        text = Text({})
        writer = self._writer(text)

        def stage(number: int, given: list[str], results: list[str]) -> Iterator[str]:
            yield f"    {''.join(f'{name}, ' for name in results)}= run({number}, [{', '.join(given)}])"

        body = list(writer.lines(stage))
        lines = [f"def fast({', '.join(['run', *self._arguments()])}):", *body]
        return fast.compiled(text, [*lines, f"    return [{', '.join(writer.results())}]"])

    def _write_fast(self, recording: Recording, flags: tuple) -> Callable:
        text = Text(fast.ENVIRONMENT)
        head = fast.guarded(text, recording, self.binding, flags, self._runtime.flatten)
        writer = self._writer(text)
        exact = set(self._arguments())

        def stage(number: int, given: list[str], results: list[str]) -> Iterator[str]:
            yield from self.stages[number].lines(text, given, exact, results)
            exact.update(results)

        body = list(writer.lines(stage))
        result = fast.assembled(text, recording, writer.results(), self._runtime.assemble)
        body.append(f"    return {result}")
        if self._schedule.may_be_unforeseen():
            unforeseen = f"    except {text.bind('Unforeseen', Unforeseen)}: return MISS"  # the slow way says what
            body = ["    try:", *(f"    {line}" for line in body), unforeseen]
        return fast.compiled(text, [*head, *self._ready(text), *body])

    def _ready(self, text: Text) -> Iterator[str]:
        device = self.binding.device
        if device.several:
            yield f"    if {text.bind('current', device.current)}() != {device.index}: return MISS"
        yield f"    stream = {text.bind('stream', device.stream)}({device.index})"
        for number, stage in self.stages.items():
            yield f"    s{number} = {text.bind('ready', stage.slots.ready.get)}(stream)"
            yield f"    if s{number} is None: return MISS"
            if stage.binding.frozen:
                versions = "".join(f"{text.bind('frozen', t)}._version, " for t in stage.binding.frozen)
                yield f"    if s{number}.versions != ({versions}): return MISS"
        yield f"    if {text.bind('capturing', device.capturing)}(): return MISS"
