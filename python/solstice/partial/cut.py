"""Which calls are ours and which stay PyTorch's, and the stages that ours make.

Views, and tensors made of nothing, are nobody's: whoever needs one makes it. Every other call has a side. A call of
ours has the number of its stage, which is one more than that of any call of PyTorch's that it depends on; so the calls
of one number are convex, and one stage. PyTorch's calls run after the stage of their number. Those with effects (draws,
writes in place, custom operators) keep their order, and so do reads and writes of the same memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Iterator, Mapping

import torch
from torch.fx import Node

from ..dropin.schedule import BY_PLACE
from ..tracing import counts
from ..tracing.nodes import draws
from .decisions import is_decision, only_for_decisions
from .own_graph import KNOWN, OwnGraph, aliased, bound_arguments, counted, has_effects, is_projection, is_view
from .weights import Weights

MOST_STAGES = 8  # each is searched for itself
_WORTH_ALONE = ("softmax", "log_softmax", "layer_norm", "rms_norm", "group_norm", "batch_norm", "cumsum", "logsumexp")
_SMALLER = 0.5  # of the time of ours
DECIDES = "a decision that the original's values make"
FOR_DECISIONS = "a decision of PyTorch's rests on it alone"
ELSEWHERE = "a value on another device than the arguments"
SMALL = "too small a part for kernels of its own"
MANY = f"only the {MOST_STAGES} largest parts are searched"


@dataclass
class Cut:
    """`why`: the reason of every call that stays PyTorch's. `stages`: the calls of each, by its number."""

    why: dict[Node, str] = field(default_factory=dict)
    levels: dict[Node, int] = field(default_factory=dict)
    free: set[Node] = field(default_factory=set)

    @property
    def stages(self) -> dict[int, list[Node]]:
        out: dict[int, list[Node]] = {}
        for node, level in self.levels.items():
            if node not in self.why:
                out.setdefault(level, []).append(node)
        return dict(sorted(out.items()))


def cut(own: OwnGraph, refused: Mapping[str, str], weights: Weights) -> Cut:
    """`refused`: reasons by the names of calls, found by whoever tried to make kernels of a cut before."""
    out = Cut(free=_free(own))
    elsewhere = dict.fromkeys(own.elsewhere(), ELSEWHERE)
    reason = lambda n: _stays(own, n, refused) or ("" if is_projection(n) else elsewhere.get(n, ""))
    out.why = {n: why for n in own.calls() if n not in out.free for why in [reason(n)] if why}
    while True:
        out.levels = _Levels(own, out).run()
        more = _decided(own, out, weights) or _too_small(out, weights)
        if not more:
            return out
        out.why.update(more)


def _free(own: OwnGraph) -> set[Node]:
    """Calls that move no data and draw nothing, on memory that nothing writes."""
    is_written = {root for roots in own.writes.values() for root in roots}
    free: set[Node] = set()
    for node in own.calls():
        pure = isinstance(node.target, torch._ops.OpOverload) and node.target.namespace in KNOWN
        if own.memory[node] in is_written or not (pure or is_projection(node)) or _by_place(own, node) or counted(node):
            continue
        part = node.args[0] in free if is_projection(node) else is_view(node)
        if part or not node.all_input_nodes and not _draws(node):
            free.add(node)
    return free


def _by_place(own: OwnGraph, node: Node) -> bool:
    """What it reads of memory from outside may lie beyond the tensor; with an offset it begins elsewhere where that is
    a part of a storage."""
    if is_projection(node) or not str(node.target).startswith(BY_PLACE):
        return False
    from_outside = any(own.memory[n] in own.sources for n in node.all_input_nodes)
    return from_outside or any(a.name == "storage_offset" and at is not None for a, at in bound_arguments(node))


def _draws(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and draws(node)


def _stays(own: OwnGraph, node: Node, refused: Mapping[str, str]) -> str:
    if is_projection(node):
        return ""  # it goes with what it takes from
    if not isinstance(node.target, torch._ops.OpOverload):
        return "arithmetic on numbers that are read from tensors"
    if node.target.namespace not in KNOWN:
        return "a custom operator"
    if counted(node):
        return counts.REASON if counts.made_varies(node) else "it reads values whose number depends on values"
    if _draws(node):
        return "it draws random numbers"
    if any(not isinstance(n.meta.get("val"), (torch.Tensor, tuple, list)) for n in (node, *node.all_input_nodes)):
        return "a number is read from a tensor"
    outside = [root for root in own.writes.get(node, ()) if not _is_statistic(node)]
    if outside:
        return _why_written(own, outside[0])
    if own.memory[node] in {root for roots in own.writes.values() for root in roots} and aliased(node):
        return "a view of memory that is written in place"
    if _by_place(own, node):
        return "it reads a storage, of which its tensor may be a part"
    return refused.get(node.meta.get("custom", {}).get("own", ""), "")


def _is_statistic(node: Node) -> bool:
    """Running statistics are state with equations."""
    return not any(a.alias_info is not None and a.alias_info.is_write for a, _ in bound_arguments(node))


def rewritten(own: OwnGraph) -> set[Node]:
    """Memory that PyTorch's calls write. What a stage reads there is no constant of the stage's: it changes within a
    call, after everything was asked about the module's state."""
    by_call, by_statistics = set(), set()
    for node, roots in own.writes.items():
        (by_statistics if _is_statistic(node) else by_call).update(roots)
    return by_call - by_statistics  # these are written by the stage itself


def _why_written(own: OwnGraph, root: Node) -> str:
    kind, name = own.sources.get(root, ("", ""))
    if kind == "state":
        return f"`{name}` is written in place"
    return "an input is written in place" if kind == "argument" else "memory of which there are views is written"


class _Levels:
    def __init__(self, own: OwnGraph, found: Cut) -> None:
        self._own = own
        self._cut = found
        self._levels: dict[Node, int] = {}
        self._effects = 0  # of the last call of PyTorch's with effects
        self._written: dict[Node, Node] = {}  # memory: the last call that wrote it
        self._read: dict[Node, list[Node]] = {}  # since then
        self._shared = {root for roots in own.writes.values() for root in roots}

    def run(self) -> dict[Node, int]:
        for node in self._own.calls():
            if node in self._cut.free:
                continue
            if is_projection(node) and node.args[0] in self._levels:
                self._levels[node] = self._levels[node.args[0]]
                if node.args[0] in self._cut.why:
                    self._cut.why[node] = self._cut.why[node.args[0]]
                continue
            self._levels[node] = self._level(node)
            self._touch(node)
        return self._levels

    def _level(self, node: Node) -> int:
        before = [*bases(node, self._cut.free), *self._waits_for(node)]
        theirs = node in self._cut.why
        level = 0 if theirs else 1
        for other in before:
            if other in self._levels:
                crosses = not theirs and other in self._cut.why
                level = max(level, self._levels[other] + crosses)
        if theirs and has_effects(node):
            level = self._effects = max(level, self._effects)
        return level

    def _waits_for(self, node: Node) -> Iterator[Node]:
        for root in self._roots(node):
            if root in self._written:
                yield self._written[root]
        for root in self._own.writes.get(node, ()):
            yield from self._read.get(root, ())

    def _touch(self, node: Node) -> None:
        for root in self._roots(node):
            self._read.setdefault(root, []).append(node)
        for root in self._own.writes.get(node, ()):
            self._written[root] = node
            self._read[root] = []

    def _roots(self, node: Node) -> set[Node]:
        return {self._own.memory[n] for n in node.all_input_nodes} & self._shared


def bases(node: Node, free: Iterable[Node]) -> list[Node]:
    """What a call reads, through the free calls between; placeholders included."""
    found: dict[Node, None] = {}
    waiting = list(node.all_input_nodes)
    while waiting:
        other = waiting.pop()
        if other in free:
            waiting.extend(other.all_input_nodes)
        else:
            found[other] = None
    return list(found)


def _decided(own: OwnGraph, found: Cut, weights: Weights) -> dict[Node, str]:
    """Decisions whose outcome leaves their stage, and what is computed for PyTorch's decisions alone, where that is the
    smaller part: of a module that returns a choice everything is."""
    theirs = {node for node in found.why if is_decision(node)}
    ours = {node for node in found.levels if node not in found.why and not is_projection(node)}
    alone = only_for_decisions(own, theirs) & ours
    if alone and weights.total(alone) < _SMALLER * weights.total(ours):
        return dict.fromkeys(alone, FOR_DECISIONS)
    results = {r for r in own.results if isinstance(r, Node)}
    sides = {node: None if node in found.why else level for node, level in found.levels.items()}
    out = {}
    for node, side in sides.items():
        leaves = node in results or any(sides.get(u) != side for u in _readers(node, found.free))
        if side is not None and leaves and is_decision(node):
            out[node] = DECIDES
    return out


def _readers(node: Node, free: set[Node]) -> list[Node]:
    """Who reads its results, through free calls and projections."""
    out, waiting = [], list(node.users)
    while waiting:
        user = waiting.pop()
        if user in free or is_projection(user):
            waiting.extend(user.users)
        else:
            out.append(user)
    return out


def _too_small(found: Cut, weights: Weights) -> dict[Node, str]:
    """Calls of stages that are not worth kernels, or too many."""
    stages = found.stages
    small = {number for number, nodes in stages.items() if not _worth(nodes, weights)}
    if small:
        return {node: SMALL for number in small for node in stages[number]}
    if len(stages) <= MOST_STAGES:
        return {}
    order = sorted(stages, key=lambda number: weights.total(stages[number]))
    return {node: MANY for node in stages[order[0]]}


def _worth(nodes: list[Node], weights: Weights) -> bool:
    calls = [node for node in nodes if not is_projection(node)]
    return len(calls) > 1 or any(weights.multiplies(n) or _name(n) in _WORTH_ALONE for n in calls)


def _name(node: Node) -> str:
    return node.target._schema.name.partition("::")[2]
