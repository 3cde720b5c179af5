"""`solstice.optimize`: the caller's process is the oracle, the `solstice` program does the work.

The program is started with one end of a socket pair (`--oracle-fd`) and asks for what it needs: the
graph, inputs, expected values, times. The requests are answered here, on the caller's thread, by
the same handler that serves the worker process; the module is never copied or pickled.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, TextIO, TypeVar, Union

import torch

from . import dropin
from .errors import input_error
from .launch import find_program
from .loading import Subject, as_arguments, refuse_script
from .oracle.session import Session
from .program import INTERRUPTED, Answer, run_as_oracle
from .result import Result, read_report
from .tensors import map_tensors, module_tensors, tensor_leaves

ModuleT = TypeVar("ModuleT", bound=torch.nn.Module)
Progress = Union[None, bool, TextIO, Callable[[str], None]]
PathLike = Union[str, "os.PathLike[str]"]

# Options of a language model that takes part: keys of `agent`.
AGENT_OPTIONS = (
    *("agent", "provider", "model", "option", "write", "sol", "feedback", "expert", "tune", "most_output"),
    *("temperature", "max_tokens", "max_cost", "transcript", "replay_transcript", "no_network"),
)


def optimize(
    module: ModuleT,
    args: Any = (),
    kwargs: Optional[Mapping[str, Any]] = None,
    *,
    device: Optional[str] = None,
    numerics: Optional[str] = None,
    budget: Optional[str] = None,
    progress: Progress = None,
    out: Optional[PathLike] = None,
    name: Optional[str] = None,
    weights: Optional[str] = None,
    rewrites: Optional[str] = None,
    machine: Optional[str] = None,
    devices: Optional[str] = None,
    allow_busy: bool = False,
    baselines: bool = True,
    policy: Optional[str] = None,
    seed: Optional[int] = None,
    memory: Optional[str] = None,
    findings: Optional[str] = None,
    counters: Optional[str] = None,
    eps: Optional[float] = None,
    window: Optional[int] = None,
    roi: Optional[float] = None,
    agent: Optional[Mapping[str, Any]] = None,
    store: Optional[PathLike] = None,
    resume: Optional[str] = None,
    program: Optional[str] = None,
) -> ModuleT:
    """Returns a module with the same parameters and a faster forward, verified and measured.

    Its `.solstice` is a `solstice.Result`: outcome, speedup with its interval, why it is not faster, kernels, paths.
    Where nothing is faster the returned module computes as `module` does. Either shares everything with `module`.
    PyTorch's generators are left as they are found.

    module: it is traced in the mode it is in; call `module.eval()` before, for inference.
    args, kwargs: example inputs, positional and by keyword; a single tensor may stand for one argument, a dict alone
        for keyword arguments. The result is made for their shapes, dtypes and strides; other calls go to `module`.
    What is None has the program's default, or with `resume` what that run has:
    device: "auto" (the default), "gpu", or "model": times are predicted and nothing is measured.
    numerics: the accuracy class of PyTorch's "reference" (the default), "high" (TF32) or "medium" (bf16).
    budget: time and trials of the search, "60s,40trials".
    progress: None is sys.stderr, False is nobody; else a stream, or a function that is called with each line (on
        another thread).
    out: folder for report.md, the kernels and all. Without it nothing is left behind: the kernels lie in a temporary
        folder as long as the result lives.
    name: of the run in reports and in the store; the module's class when it is left out.
    weights: "live" (the default); "frozen" lets parameters be packed once.
    rewrites: "on" (the default), "strict": only those that keep NaN and infinities where they are, or "off".
    memory, findings: "on" or "off"; counters: "auto" or "off". machine, devices, allow_busy, baselines, policy, seed,
        eps, window, roi, store, resume: as the options of `solstice optimize --help`, which has their defaults.
    agent: options of a language model that takes part: `{"agent": "flat", "provider": "openai", "model": ...}`.
    program: path of the program, when it is not found by itself.

    Raises solstice.Error, with the message and the code of the program where the failure is its own, and TypeError for
    what is no module. Ctrl-C ends the search early: the best so far is verified and used.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"optimize takes a torch.nn.Module, not {type(module).__name__}")
    refuse_script(module)
    given = _arguments(module, args, kwargs)
    flags = _flags(
        device=device, numerics=numerics, budget=budget, name=name or type(module).__name__, weights=weights,
        rewrites=rewrites, machine=machine, devices=devices, allow_busy=allow_busy, no_baselines=not baselines,
        policy=policy, seed=seed, memory=memory, findings=findings, counters=counters, eps=eps, window=window, roi=roi,
        store=store, resume=resume, **_agent_options(agent),
    )  # fmt: skip
    session = Session(_device_of(module, given), subject=subject_of(module, *given))
    command = [find_program(program), "optimize", *flags, "--json"]
    gpus = [session.device] if session.device.type == "cuda" else []
    with torch.random.fork_rng(gpus), _Folder(out) as folder:
        answer = run_as_oracle([*command, "--out", str(folder.path)], session, _say_to(progress))
        return _outcome(module, answer, folder)


class _Folder:
    """Where the program writes: the one that was named, or one that goes with its owner, or at once without any."""

    def __init__(self, out: Optional[PathLike]) -> None:
        self.named = Path(out) if out is not None else None
        self.path = self.named or Path(tempfile.mkdtemp(prefix="solstice-"))
        self._owned = self.named is not None

    def keep_with(self, owner: Any) -> None:
        if not self._owned:
            weakref.finalize(owner, shutil.rmtree, self.path, ignore_errors=True)
            self._owned = True

    def __enter__(self) -> "_Folder":
        return self

    def __exit__(self, *failure: Any) -> None:
        if not self._owned:
            shutil.rmtree(self.path, ignore_errors=True)


def _outcome(module: ModuleT, answer: Answer, folder: _Folder) -> ModuleT:
    report = answer.body.get("report")
    if report is None:
        if answer.status != INTERRUPTED:
            raise answer.error()
        # Stopped before there was anything to keep: what lies in the folder is of an earlier run.
        return dropin.kept(module, Result("interrupted", str(answer.error())))
    result = read_report(report, folder.named)
    if not result.faster:
        return dropin.kept(module, result)
    record = json.loads((folder.path / "dropin.json").read_text())
    recording = dropin.read(str(folder.path), record)
    folder.keep_with(recording)
    return dropin.attach(module, recording, result)


def subject_of(module: torch.nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> Subject:
    def inputs() -> tuple[tuple, dict]:
        return map_tensors(lambda t: t.detach().clone(), (args, dict(kwargs)))  # the caller's own stay as they are

    name = type(module).__name__
    return Subject(module, inputs, init=None, path=None, class_name=name, source=None, weights="real")


def _arguments(module: torch.nn.Module, args: Any, kwargs: Optional[Mapping[str, Any]]) -> tuple[tuple, dict]:
    if kwargs is None:
        return as_arguments(args, forward=type(module).forward)
    if not isinstance(kwargs, Mapping):
        raise TypeError(f"kwargs must be a mapping of names to values, not {type(kwargs).__name__}")
    # A pair of a tuple and a dict, or a dict alone, are positional arguments where keyword ones are given apart.
    positional = tuple(args) if isinstance(args, (list, tuple)) else (args,)
    return positional, dict(kwargs)


def _device_of(module: torch.nn.Module, given: tuple[tuple, dict]) -> torch.device:
    devices = {t.device for t in (*module_tensors(module), *tensor_leaves(given))}
    if len(devices) > 1:
        listing = ", ".join(sorted(str(d) for d in devices))
        raise input_error("session.devices", f"the module and its inputs lie on several devices: {listing}")
    return devices.pop() if devices else torch.device("cpu")


def _agent_options(agent: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    unknown = sorted((agent or {}).keys() - set(AGENT_OPTIONS))
    if unknown:
        raise TypeError(f"`agent` has no option {unknown[0]!r}; it has {', '.join(AGENT_OPTIONS)}")
    return dict(agent or {})


def _flags(**options: Any) -> list[str]:
    """A list is an option that is given several times."""
    flags: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:  # 0 is a value
            for each in value if isinstance(value, (list, tuple)) else (value,):
                flags += [flag, str(each)]
    return flags


def _say_to(progress: Progress) -> Callable[[str], None]:
    if progress is False:
        return lambda line: None
    if callable(progress):
        return progress
    stream = sys.stderr if progress in (None, True) else progress
    if not hasattr(stream, "write"):
        raise TypeError(f"progress is None, False, a stream or a function, not {type(progress).__name__}")
    return lambda line: print(line, file=stream, flush=True)
