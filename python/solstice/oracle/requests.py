"""The requests of `solstice.oracle/1`, one function each; docs/protocol.md is their reference page.

The keyword arguments of a function are the parameters of the request, its dictionary the reply.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch

from ..errors import input_error
from ..forked import call_in_child
from ..hello import describe_device, describe_flags, describe_worker
from ..loading import SEED, Subject, load_file
from ..modes import note_of
from ..tensors import logical_bytes, module_tensors
from ..tracing import cache, import_tracer, trace as trace_subject
from . import (
    distance,
    exporting,
    families,
    flaws,
    headline,
    inputs as input_sets,
    kernelbench,
    left_out,
    partial,
    reference,
    rivals,
    scaling,
    stability,
    timing,
)
from .running import kept_buffers
from .session import InputSet, Session


def hello(self: Session) -> dict[str, Any]:
    return describe_worker(describe_device(self.device))


def load(
    self: Session,
    *,
    file: Optional[str] = None,
    class_name: Optional[str] = None,
    mode: Optional[str] = None,
    seed: int = SEED,
) -> dict[str, Any]:
    """`class_name`: what of the file is meant (finding.py). `mode`: train or eval."""
    if file is not None:
        self.subject = load_file(file, class_name, seed, mode)
    elif mode is not None:
        raise input_error(
            "load.mode",
            "the mode of a module that was passed in Python is its own",
            hint="call `module.eval()` or `module.train()` before",
        )
    return describe_subject(self)


def describe_subject(session: Session) -> dict[str, Any]:
    subject = session.need_subject()
    tensors = module_tensors(subject.module)
    package = subject.place.package if subject.place else ""
    return {
        "class_name": subject.class_name,
        "name": subject.found.name if subject.found else "",
        "kind": subject.found.kind if subject.found else "object",
        "package": package,
        "module": subject.place.name if package else "",
        "file": str(subject.path) if subject.path else None,
        "source_sha256": subject.source_sha256,
        "weights": subject.weights,
        "training": subject.module.training,
        "mode_note": note_of(subject.module),
        "state_tensors": len(tensors),
        "state_bytes": logical_bytes(tensors),
        "flags": describe_flags(),
    }


def trace(
    self: Session,
    *,
    decompose: list[str] = [],
    blob_dir: Optional[str] = None,
    cache_dir: str = "",
    branches: bool = False,
) -> dict[str, Any]:
    """`branches`: those on values are taken as the example inputs do, on which the module runs for that. Such a graph
    is not kept."""
    subject = self.need_subject()
    if branches:
        self.progress("trace", "exporting the module as its example inputs go")
        return _traced(subject, trace_subject(subject, decompose, blob_dir, self.reads()), [], False, "")
    key = cache.key_of(subject, decompose, self.device) if cache_dir and not blob_dir else None
    known = cache.find(cache_dir, key) if key else None
    if known is not None:
        return _traced(subject, known["graph"], known["sources"], True, str(cache.path_of(cache_dir, key)))
    stage = partial.key_of_stage(subject.module, decompose) if not blob_dir else None
    if stage in self.stage_traces:  # it was asked which of its calls have equations
        return _traced(subject, self.stage_traces[stage], [], False, "")
    self.progress("trace", "exporting the module")

    def work() -> tuple[dict[str, Any], list[dict[str, str]]]:
        return trace_subject(subject, decompose, blob_dir), cache.user_modules()

    # A stage is calls of a trace: nothing of the user's runs, and a child would import the tracer anew for each.
    apart = self.forks and stage is None and not torch.cuda.is_initialized()
    if apart:
        import_tracer()
    graph, sources = call_in_child(work) if apart else work()
    if stage is not None:
        self.stage_traces[stage] = graph
    kept = bool(key) and cache.store(cache_dir, key, graph, sources)
    return _traced(subject, graph, sources, False, str(cache.path_of(cache_dir, key)) if kept else "")


def _traced(
    subject: Subject, graph: dict[str, Any], sources: list[dict[str, str]], cached: bool, entry: str
) -> dict[str, Any]:
    """`modules`: what the user's file had loaded of the user's own, without the file itself, unless that is part of a
    package: others may import it there."""
    alone = [subject.place.name] if subject.place and not subject.place.package else []
    own = ("__main__", "__mp_main__", *alone)
    modules = [source for source in sources if source["module"] not in own]
    return {"graph": graph, "cached": cached, "entry": entry, "modules": modules if subject.path else []}


def prepare_inputs(
    self: Session,
    *,
    set: str,
    seed: int = SEED,
    family: str = "default",
    weights: str = "built",
    scaled: str = "",
    least: float = 0.0,
) -> dict[str, Any]:
    self.sets.pop(set, None)
    self.empty_cache()
    if family == families.SCALED:
        prepared, applies = scaling.prepare(self, seed, scaled, least)
    else:
        prepared, applies = input_sets.prepare(self, seed, family, weights)
    if applies:
        self.sets[set] = prepared
    return {"applies": applies, "inputs": input_sets.describe(prepared)}


def expected(self: Session, *, set: str, describe: bool = True) -> dict[str, Any]:
    chosen = self.need_set(set)
    how = reference.compute(self, chosen)
    return {**how, "values": [_value(name, chosen) for name in chosen.eager] if describe else []}


def _value(name: str, chosen: Any) -> dict[str, Any]:
    value, oracle = chosen.eager[name], chosen.expected[name]
    finite = distance.all_finite(oracle)
    error = distance.relative_error(value, oracle)
    return {
        "name": name,
        "finite": finite,
        "eager_error": error if error < float("inf") else None,
        "shape": list(value.shape),
    }


def run_tf32(self: Session, *, set: str, into: str) -> dict[str, Any]:
    """PyTorch's own result with TF32 allowed: what `eager` is in the set `into`, which holds nothing else."""
    self.sets.pop(into, None)
    self.sets[into] = reference.with_tf32(self, self.need_set(set))
    return {}


def find_undetermined(self: Session, *, set: str, into: str, error: float, limits: dict[str, float]) -> dict[str, Any]:
    """Elements of the values in `limits` that errors of the size `error` leave undetermined. How far each may lie from
    the float64 result, negative for those that are determined, is what `expected` is in the set `into`, which holds
    nothing else."""
    self.sets.pop(into, None)
    chosen = self.need_set(set)
    found = stability.find(self, chosen, error, limits)
    rooms = {name: room for name, (count, room) in found.items() if count}
    self.sets[into] = InputSet(chosen.seed, chosen.family, chosen.variant, (), {}, expected=rooms)
    self.empty_cache()
    return {
        "values": [
            {"name": name, "elements": room.numel(), "undetermined": count} for name, (count, room) in found.items()
        ]
    }


def find_left_out(self: Session, *, set: str, into: str) -> dict[str, Any]:
    """Elements of float results that are not finite, yet do not depend on the elements of the inputs that are not. What
    they are for finite inputs, NaN for all others, is what `expected` is in the set `into`, which holds nothing
    else."""
    self.sets.pop(into, None)
    chosen = self.need_set(set)
    values = {name: value for name, value in left_out.find(self, chosen).items() if value.isfinite().any()}
    self.sets[into] = InputSet(chosen.seed, chosen.family, chosen.variant, (), {}, expected=values)
    self.empty_cache()
    return {"elements": sum(int(value.isfinite().sum()) for value in values.values())}


def export_tensors(
    self: Session, *, set: str, kinds: list[str], where: str, path: Optional[str] = None
) -> dict[str, Any]:
    tensors = exporting.select(self, self.need_set(set), kinds)
    if where == "ipc":
        return {"tensors": exporting.as_ipc(self, tensors)}
    if where != "file" or path is None:
        raise input_error("export.where", "`where` is `ipc`, or `file` with a `path`")
    return {"tensors": exporting.as_file(tensors, path)}


def time_eager(self: Session, *, set: str, reps: int, warmups: int) -> dict[str, Any]:
    chosen = self.need_set(set)
    return timing.time_block(self, chosen, self.module(chosen.variant), reps, warmups)


def start_rivals(
    self: Session,
    *,
    file: Optional[str] = None,
    class_name: Optional[str] = None,
    mode: Optional[str] = None,
    seed: int = SEED,
) -> dict[str, Any]:
    """In a process that was forked for it: what the opponents need of the host. The GPU is left alone until they
    are timed, since others measure there."""
    if self.forks and file:
        rivals.import_compiler()
        self.subject = load_file(file, class_name, seed, mode)
    return {}


def time_rivals(
    self: Session,
    *,
    reps: int,
    warmups: int,
    blocks: int = 4,
    dropins: list[dict[str, str]] = [],
    deadline: float = 0,
    compile_tf32: bool = False,
) -> dict[str, Any]:
    """`dropins`: `{name, path}` of ours, timed in the same blocks. `deadline`: seconds for preparing each.
    `compile_tf32`: torch.compile a second time, with TF32 allowed."""
    if self.contest is None:
        self.contest = rivals.prepare(self, dropins, deadline, compile_tf32)
    return {"rivals": rivals.contest(self, self.contest, reps, warmups, blocks)}


def find_flaws(self: Session, *, budget: float) -> dict[str, Any]:
    return flaws.find(self, budget)


def check_dropin(self: Session, *, path: str, numerics: str = "reference") -> dict[str, Any]:
    return kernelbench.check(self, path, numerics)


def time_dropin(
    self: Session,
    *,
    path: str,
    set: str,
    reps: int,
    warmups: int,
    rounds: int,
    numerics: str = "reference",
) -> dict[str, Any]:
    chosen = self.need_set(set)
    original, new = self.module(chosen.variant), kernelbench.load_dropin(self, path)
    new.load_state_dict(original.state_dict())
    compared = headline.compare(self, chosen, original, new, reps, warmups, rounds, numerics)
    return {**compared, "fallbacks": kernelbench.fallbacks(new)}


def memory(self: Session, *, set: str, path: Optional[str] = None) -> dict[str, Any]:
    """Peak bytes of one forward above what is resident before it, of the original or of a drop-in."""
    timing.need_gpu(self)
    chosen = self.need_set(set)
    module = kernelbench.load_dropin(self, path) if path else self.module(chosen.variant)
    with torch.no_grad(), kept_buffers(module):
        module(*chosen.args, **chosen.kwargs)
        self.synchronize()
        self.empty_cache()
        before = torch.cuda.memory_allocated(self.device)
        torch.cuda.reset_peak_memory_stats(self.device)
        module(*chosen.args, **chosen.kwargs)
        self.synchronize()
    return {"resident_bytes": before, "peak_bytes": torch.cuda.max_memory_allocated(self.device)}


def release(self: Session, *, set: Optional[str] = None, keep_opponents: bool = False) -> dict[str, Any]:
    """Frees one input set; without a name ends the session, and the process of the opponents unless that is kept."""
    if set is not None:
        self.need_set(set)
        del self.sets[set]
        self.empty_cache()
    else:
        self.closed = True
    return {}


ALL: dict[str, Callable[..., dict[str, Any]]] = {
    f.__name__: f
    for f in (
        hello,
        load,
        trace,
        prepare_inputs,
        expected,
        run_tf32,
        find_undetermined,
        find_left_out,
        export_tensors,
        time_eager,
        start_rivals,
        time_rivals,
        find_flaws,
        check_dropin,
        time_dropin,
        memory,
        partial.calls,
        partial.cut,
        partial.enter_stage,
        partial.schedule,
        partial.check_schedule,
        partial.time_calls,
        release,
    )
}
