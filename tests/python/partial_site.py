"""Modules that are cut, and their drop-ins on host memory with fake_rt.c for the stages: what the tests of parts share.

fake_rt.c computes relu(x * w) of six numbers, so every stage here is that.
"""

import json

import torch
from host_dropin import HostDevice, buffer

from solstice import dropin
from solstice.loading import Subject
from solstice.oracle.session import Session
from solstice.partial import parts as cutting
from solstice.partial.parts import Parts
from solstice.partial.stages import StageModule
from solstice.dropin import structure
from solstice.dropin.runtime import Runtime
from solstice.tensors import dtype_name, logical_bytes, tensor_leaves


def seconds_of(session: Session) -> dict:
    """Of each call: its bytes, and a launch."""
    calls = cutting.calls_of(session).calls()
    values = {c.name: [v for n in (c, *c.all_input_nodes) for v in tensor_leaves(n.meta.get("val"))] for c in calls}
    return {name: 3e-6 + logical_bytes(moved) / 4e12 for name, moved in values.items()}


def made_parts(session: Session, refused=None) -> Parts:
    return cutting.make_parts(session, refused or {}, seconds_of(session))


def session_of(module, *args, **kwargs) -> Session:
    make = lambda: (tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in args), dict(kwargs))
    name = type(module).__name__
    subject = Subject(module, make, init=None, path=None, class_name=name, source=None, weights="real")
    return Session(torch.device("cpu"), subject=subject)


def parts_of(module, *args, refused=None, **kwargs) -> Parts:
    return made_parts(session_of(module, *args, **kwargs), refused)


def calls_of(stage):
    return [node.target._schema.name.partition("::")[2] for node in stage.calls if hasattr(node.target, "_schema")]


def steps_of(parts):
    """The order of the drop-in: numbers of stages, names of operators; results of calls are left out."""
    steps = parts.record({s.number for s in parts.stages})["steps"]
    return [s["stage"] if "stage" in s else s["op"].split(".")[1] for s in steps if "of" not in s]


def write_dropin(folder, library, session, parts):
    """A drop-in of all stages, each with a plan for fake_rt.c; the recording."""
    module = parts.original.module
    places = {}
    for stage in parts.stages:
        places[str(stage.number)] = f"stage_{stage.number}"
        _write_stage(folder / f"stage_{stage.number}", library, StageModule(stage, parts.own, module), stage)
    args, kwargs = parts.original.inputs()
    given = [
        {"dtype": dtype_name(a.dtype), "shape": list(a.shape), "stride": list(a.stride())}
        for a in (*args, *kwargs.values())
    ]
    record = {
        "schema": "solstice.dropin/1",
        "library": str(library),
        "target": "sm_90a",
        "weights": "live",
        "arguments": given,
        "schedule": {**parts.record({s.number for s in parts.stages}), "stages": places},
        "parts": [{"what": "stage 1", "ours": True}],
        "flags": _flags(),
        "structure": structure.describe(module),
        "out_tree": json.loads(torch.utils._pytree.treespec_dumps(parts.own.program.call_spec.out_spec)),
    }
    return dropin.read(str(folder), record)


def _flags():
    return {
        "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn_tf32": torch.backends.cudnn.allow_tf32,
        "deterministic": False,
    }


def _write_stage(folder, library, module, stage):
    folder.mkdir()
    (path,) = [name for name, _ in module.named_parameters()]
    shape = list(stage.inputs[0].meta["val"].shape)
    buffers = [
        buffer("x", "input", shape),
        buffer("w", "param", [1], path=path),
        buffer("y", "output", shape),
        {"name": "s", "kind": "workspace"},
    ]
    plan = {"schema": "solstice.plan/1", "program": "p", "target": "sm_90a", "modules": [], "steps": []}
    (folder / "plan.json").write_text(json.dumps({**plan, "buffers": buffers}))
    record = {
        "schema": "solstice.dropin/1",
        "plan": "plan.json",
        "library": str(library),
        "weights": "live",
        "arguments": [{"buffer": "x", "dtype": "f32", "shape": shape, "stride": [shape[1], 1]}],
        "results": [{"buffer": "y"}],
        "flags": _flags(),
        "structure": structure.describe(module),
    }
    (folder / "dropin.json").write_text(json.dumps(record))


def attached(recording, module):
    """The drop-in of this very module."""
    cls = dropin.replacement(type(module), recording, lambda m, r: Runtime(m, r, HostDevice.of))
    new = cls.__new__(cls)
    new.__dict__ = module.__dict__.copy()
    return new
