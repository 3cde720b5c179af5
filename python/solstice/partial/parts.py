"""The parts of the module of a session: its cut, and the stages as problems of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

import torch
from torch.fx import Node

from ..errors import OracleError, input_error
from ..loading import Subject
from ..oracle.running import kept_buffers
from ..oracle.session import Session
from ..tensors import leaves, map_tensors, module_tensors
from ..tracing import quiet
from ..tracing.causes import BRANCHES
from ..tracing.nodes import ModuleTable, NodeWriter
from ..tracing.sources import SourceTable
from ..tracing.values import tensor_meta
from .cut import Cut, cut
from .decisions import is_decision, upstream
from .order import behind_effects
from .own_graph import OwnGraph, has_effects, is_of_numbers, is_projection, is_view, own_graph
from .schedule import Record, Schedule, schedule
from .stages import Stage, StageModule, describe, empties, form, stages_of
from .weights import Weights


@dataclass
class Parts:
    original: Subject
    own: OwnGraph
    found: Cut
    stages: list[Stage]
    weights: Weights

    def stage(self, number: int) -> Stage:
        for stage in self.stages:
            if stage.number == number:
                return stage
        known = ", ".join(str(s.number) for s in self.stages) or "none"
        raise input_error("partial.no_stage", f"the cut has no stage {number}", hint=f"it has {known}")

    def schedule(self, kept: Optional[set[int]] = None) -> Schedule:
        every = {stage.number for stage in self.stages}
        return schedule(self.own, self.found, self.stages, every if kept is None else kept)

    def record(self, kept: set[int]) -> dict[str, Any]:
        return Record(self.schedule(kept), self.found.why, display_of(self.original)).json()


def calls_of(session: Session) -> OwnGraph:
    """Of the session's module, traced once. Errors: `trace.not_flat`, where its calls make no flat graph."""
    if session.calls is None:
        session.calls = _own_graph(session, session.need_subject())
    return session.calls


def make_parts(session: Session, refused: Mapping[str, str], seconds: Mapping[str, float]) -> Parts:
    """`seconds`: predicted, of each call by its name. Errors: as calls_of()."""
    known, own = session.parts, calls_of(session)
    subject = known.original if known else session.need_subject()
    weights = known.weights if known else Weights(seconds)
    found = cut(own, refused, weights)
    parts = Parts(subject, own, found, stages_of(own, found), weights)
    behind_effects(own, parts.schedule().steps)
    return parts


def _own_graph(session: Session, subject: Subject) -> OwnGraph:
    from ..tracing.export import export_calls
    from ..tracing.fakes import fake_inputs

    module = session.module() if subject.weights == "real" else subject.module
    device = next((t.device for t in module_tensors(module)), session.device)
    torch.manual_seed(0)
    args, kwargs = fake_inputs(subject.inputs, device)
    with quiet(), torch.no_grad():  # as the drop-in is called: a region that turns gradients on shows
        try:
            return own_graph(export_calls(module, args, kwargs, subject.inputs))
        except OracleError as error:
            if error.code != BRANCHES:
                raise
            reads = session.reads()
        return own_graph(export_calls(module, args, kwargs, subject.inputs, reads), takes_branches=True)


def stage_subject(session: Session, parts: Parts, stage: Stage) -> Subject:
    """A problem whose inputs are what enters the stage when the module runs on its example inputs."""
    module = parts.original.module

    def inputs() -> tuple[tuple, dict]:
        if _sizes_only():
            return empties(stage), {}
        given = map_tensors(lambda t: t.to(session.device), parts.original.inputs())
        state = state_of(module)
        with torch.no_grad(), kept_buffers(module):
            values = parts.schedule().run(leaves(given), state.__getitem__, until=stage)
            # Before buffers are as they were: a value may be one.
            return tuple(values[n].clone(memory_format=torch.preserve_format) for n in stage.inputs), {}

    part = StageModule(stage, parts.own, module)
    name = f"{parts.original.class_name}, stage {stage.number}"
    return Subject(part, inputs, init=None, path=None, class_name=name, source=None, weights=parts.original.weights)


def _sizes_only() -> bool:
    return torch.get_default_device().type == "meta" or torch._guards.detect_fake_mode() is not None


def state_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def display_of(subject: Subject) -> dict[str, str]:
    return {str(subject.path.resolve()): str(subject.path)} if subject.path else {}


def describe_parts(parts: Parts) -> dict[str, Any]:
    """`calls`: those that stay PyTorch's."""
    sources = SourceTable(display_of(parts.original))
    calls = [_describe_call(parts, sources, node) for node in parts.found.why if moves(node)]
    decided = upstream({node for node in parts.found.why if is_decision(node)})
    stages, first = [], {}
    for stage in parts.stages:
        like = first.setdefault(form(stage), stage.number)
        told = describe(stage, parts.weights.total(stage.calls))
        told |= {"decides": not decided.isdisjoint(stage.calls)}
        stages.append(told if like == stage.number else {**told, "like": like})
    return {"stages": stages, "calls": calls}


def describe_calls(own: OwnGraph) -> dict[str, Any]:
    """The calls as nodes of a graph (docs/protocol.md), for whoever predicts their time: `view_of` names what shares
    the result's memory where a call moves nothing."""
    nodes = {node.name: node for node in own.calls()}
    written = NodeWriter(own.graph, SourceTable({}), ModuleTable()).write()
    for record in written:
        node = nodes[record["id"]]
        record.pop("view_of", None)
        if not moves(node):
            record["view_of"] = list(record["args"])[:1]
    given = [(n, n.meta.get("val")) for n in own.graph.nodes if n.op == "placeholder"]
    inputs = [{"id": n.name, "kind": "user_input", **tensor_meta(v)} for n, v in given if isinstance(v, torch.Tensor)]
    return {"inputs": inputs, "nodes": written}


def moves(node: Node) -> bool:
    of_numbers = is_of_numbers(node) or not isinstance(node.meta.get("val"), (torch.Tensor, tuple, list))
    return not (is_projection(node) or is_view(node) or of_numbers and not has_effects(node))


def _describe_call(parts: Parts, sources: SourceTable, node: Node) -> dict[str, Any]:
    where = sources.location(node.meta.get("stack_trace"))
    place = {"file": sources.files[where["file"]], "line": where["line"]} if where else {}
    why, seconds = parts.found.why[node], parts.weights.seconds(node)
    return {"name": node.name, "op": str(node.target), "why": why, "seconds": seconds, **place}
