"""What a trace takes for granted is looked at before anything that cannot be made undone: where it does not hold, the
original `forward` runs."""

from __future__ import annotations

import operator
from typing import Iterable, Iterator, Optional, Union

import torch
from torch.fx import Node

from ..dropin.numbers import check
from ..errors import input_error
from ..tracing import counts
from .own_graph import OwnGraph, counted, has_effects, is_of_numbers, is_projection, is_view, reads_extents
from .shapes import is_the_same_for_all
from .stages import Stage

Step = Union[Stage, Node]


def checks_first(own: OwnGraph, steps: list[Step]) -> list[Step]:
    """The same steps, in which checks, and the calls that they need, come before the first step with effects. Those
    stay in their place that have effects themselves, or read what a step before them writes."""
    begin = next((i for i, step in enumerate(steps) if _is_seen_outside(own, step)), len(steps))
    late = _Late(own, steps[begin:])
    moved = set().union(*(late.needed(step) or () for step in steps[begin:] if _is_check(step)))
    return [*steps[:begin], *(s for s in steps[begin:] if s in moved), *(s for s in steps[begin:] if s not in moved)]


class _Late:
    """Steps from the first with effects on."""

    def __init__(self, own: OwnGraph, steps: list[Step]) -> None:
        self._made: dict[Node, Step] = {}  # values: the steps that make them
        self._stays: set[Step] = set()
        written: set[Node] = set()
        for step in steps:
            writes = {root for call in _calls(step) for root in own.writes.get(call, ())}
            effects = writes or any(has_effects(call) for call in _calls(step))
            if effects or not written.isdisjoint(own.memory[n] for n in _read_by(step)):
                self._stays.add(step)
            written |= writes
            self._made.update((node, step) for node in (step.outputs if isinstance(step, Stage) else [step]))

    def needed(self, step: Step) -> Optional[set[Step]]:
        """The step and those that it needs, if all of them can be moved."""
        found, waiting = {step}, [step]
        while waiting:
            last = waiting.pop()
            if last in self._stays:
                return None
            before = {self._made[n] for n in _inputs(last) if n in self._made} - found
            found |= before
            waiting += before
        return found


def behind_effects(own: OwnGraph, steps: Iterable[Step]) -> set[Node]:
    """Checks that come after a step with effects and always hold: ranges that an operator keeps, or for which `forward`
    asks by `torch._check` and ends like the drop-in; shapes that are the same for all numbers of elements. Errors:
    `trace.not_flat` where a step after one with effects may find that the trace does not hold."""
    effect, out = None, set()
    for step in steps:
        if effect is not None and _is_check(step):
            if not _is_kept(own, step):
                raise _refusal(step, effect)
            out.add(step)
        if effect is None and _is_seen_outside(own, step):
            effect = step
    return out


def shape_to_check(step: Step) -> Optional[list[int]]:
    """Of what calls make of values whose number depends on data: kernels take it for granted."""
    if isinstance(step, Stage) or is_of_numbers(step):
        return None
    made, call = step.meta.get("val"), step.args[0] if is_projection(step) else step
    if not isinstance(made, torch.Tensor) or counts.varies(made) or not counted(call):
        return None
    return list(made.shape)


def _is_check(step: Step) -> bool:
    return isinstance(step, Node) and (step.target is check or shape_to_check(step) is not None)


def _is_kept(own: OwnGraph, step: Node) -> bool:
    """The range of a number, between constants; where branches are taken, ranges may be theirs."""
    if step.target is not check:
        return is_the_same_for_all(step)
    if own.takes_branches:
        return False
    holds = step.args[0]
    sides = holds.args if isinstance(holds, Node) and holds.target in (operator.ge, operator.le) else ()
    return any(isinstance(side, int) for side in sides)


def _calls(step: Step) -> list[Node]:
    return step.calls if isinstance(step, Stage) else [step]


def _inputs(step: Step) -> list[Node]:
    return [*step.inputs, *step.state] if isinstance(step, Stage) else step.all_input_nodes


def _read_by(step: Step) -> Iterator[Node]:
    """Whose elements it reads. A view is read by those that it is given to."""
    if isinstance(step, Stage) or not (is_projection(step) or is_view(step) or reads_extents(step)):
        yield from _inputs(step)


def _is_seen_outside(own: OwnGraph, step: Step) -> bool:
    """Its effects are of more than memory that `forward` has made itself."""
    return any(_call_is_seen(own, call) for call in _calls(step))


def _call_is_seen(own: OwnGraph, node: Node) -> bool:
    roots = own.writes.get(node)
    return has_effects(node) and not (roots and all(root not in own.sources for root in roots))


def _refusal(step: Node, effect: Step) -> Exception:
    what = step.args[1] if step.target is check else f"the shape of `{step.name}` is known"
    does = f"`{effect.target}`" if isinstance(effect, Node) else f"stage {effect.number}"
    return input_error(
        "trace.not_flat",
        f"the module cannot be cut: only after {does} it is known whether the trace holds ({what})",
        hint="make numbers of elements that have to agree of one mask, or write and draw after they are used",
    )
