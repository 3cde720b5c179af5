"""What a trace takes for granted is looked at before anything that cannot be made undone: where it does not hold, the
original `forward` runs."""

from __future__ import annotations

import operator
from typing import Iterable, Optional, Union

import torch
from torch.fx import Node

from ..dropin.numbers import check
from ..errors import input_error
from ..tracing import counts
from .own_graph import OwnGraph, counted, has_effects, is_of_numbers, is_projection
from .stages import Stage

Step = Union[Stage, Node]


def behind_effects(own: OwnGraph, steps: Iterable[Step]) -> set[Node]:
    """Checks of ranges that come after a step with effects: an operator always keeps them, or `forward` asks for them
    by `torch._check` and ends like the drop-in where they fail. Errors: `trace.not_flat` where a step after one with
    effects may find that the trace does not hold."""
    effect, out = None, set()
    for step in steps:
        if effect is not None and isinstance(step, Node):
            if step.target is check and _is_kept(own, step):
                out.add(step)
            elif step.target is check or shape_to_check(step) is not None:
                raise _refusal(step, effect)
        if effect is None and isinstance(step, Node) and _is_seen_outside(own, step):
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


def _is_kept(own: OwnGraph, step: Node) -> bool:
    """The range of a number, between constants. Where branches are taken, ranges may be theirs."""
    holds = step.args[0]
    sides = holds.args if isinstance(holds, Node) and holds.target in (operator.ge, operator.le) else ()
    return not own.takes_branches and any(isinstance(side, int) for side in sides)


def _is_seen_outside(own: OwnGraph, node: Node) -> bool:
    """Its effects are of more than memory that `forward` has made itself."""
    roots = own.writes.get(node)
    return has_effects(node) and not (roots and all(root not in own.sources for root in roots))


def _refusal(step: Node, effect: Node) -> Exception:
    what = step.args[1] if step.target is check else f"the shape of `{step.name}` is known"
    return input_error(
        "trace.not_flat",
        f"the module cannot be cut: only after `{effect.target}` it is known whether the trace holds ({what})",
        hint="make numbers of elements that have to agree of one mask, or write and draw after they are used",
    )
