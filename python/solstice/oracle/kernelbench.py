"""KernelBench's own judgement of a drop-in: construction under one seed, five seeds of inputs,
`|reference - new| <= t + t |new|` on every element, with t by dtype; and the same dtypes, which KernelBench itself does
not ask for. A policy below `reference` is judged as KernelBench judges reduced precision; the verdict of its limit for
fp32 is told with it."""

from __future__ import annotations

import importlib.util
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import torch

from ..errors import input_error
from ..loading import SEED, call_user
from ..tensors import leaves, map_tensors, module_tensors, tensor_leaves
from . import running
from .reference import float64_values
from .running import kept_buffers
from .session import Session

FULL, REDUCED = 1e-4, 1e-2  # KernelBench's t: of fp32, and of fp16 and bf16
TRIALS = 5
_MOST = 1e30  # what JSON can say of an infinite distance
_ARGUMENT = "argument "  # no name of a buffer has a space
_FAILED = {"passed": False, "strict": False, "max_excess": None}


def load_dropin(session: Session, path: str, class_name: str = "ModelNew") -> torch.nn.Module:
    """The drop-in's module on the device, constructed as the original was: same seed, same arguments."""
    file = Path(path)
    if not file.is_file():
        raise input_error("dropin.no_file", f"no such file: `{file}`", file=str(file))
    key = str(file.resolve())
    if key not in session.dropins:
        session.dropins[key] = _construct(session, file, class_name)
    return session.dropins[key]


def _construct(session: Session, file: Path, class_name: str) -> torch.nn.Module:
    subject = session.need_subject()
    if file.suffix == ".json":
        return _attach(session, file)
    if subject.init is None:
        raise input_error(
            "dropin.no_constructor",
            "the module was given as an object, and a drop-in file cannot be built from it",
            hint="name its recording, dropin.json",
        )
    name = f"solstice_dropin_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    namespace = importlib.util.module_from_spec(spec)
    sys.modules[name] = namespace
    call_user(f"importing `{file}`", "dropin.import_failed", lambda: spec.loader.exec_module(namespace))
    cls = getattr(namespace, class_name, None)
    if cls is None:
        raise input_error("dropin.no_class", f"`{file}` defines no `{class_name}`", file=str(file))
    args, kwargs = subject.init()
    torch.manual_seed(SEED)
    new = call_user(f"constructing `{class_name}`", "dropin.constructor_failed", lambda: cls(*args, **kwargs))
    if subject.mode is not None:
        new.train(subject.mode == "train")
    return new.to(session.device)


def _attach(session: Session, file: Path) -> torch.nn.Module:
    """The recording attached to the session's module, as `solstice.optimize` hands it back: parameters are shared."""
    from .. import dropin

    def attached() -> torch.nn.Module:
        return dropin.attach(session.module(), dropin.read(str(file.parent), json.loads(file.read_text())))

    return call_user(f"attaching `{file}`", "dropin.import_failed", attached)


def tolerance(dtype: torch.dtype, numerics: str) -> float:
    return FULL if numerics == "reference" and dtype not in (torch.float16, torch.bfloat16) else REDUCED


def check(session: Session, path: str, numerics: str = "reference") -> dict[str, Any]:
    """Runs the trials and loads the original's state_dict. A mismatch is a verdict, not an error."""
    original, new = session.module(), load_dropin(session, path)
    state_problem = _load_state(original, new)
    trials = []
    constant = _Constant(numerics)
    torch.manual_seed(SEED)
    with kept_buffers(original):
        for seed in torch.randint(0, 2**32 - 1, (TRIALS,)).tolist():
            session.progress("check", f"trial {len(trials) + 1} of {TRIALS}")
            trials.append(_trial(session, original, new, seed, numerics, constant))
    passed = state_problem is None and all(t["passed"] for t in trials)
    return {
        "passed": passed,
        "strict": passed and all(t["strict"] for t in trials),
        "state_dict": state_problem or "loads",
        "trials": trials,
        "constant": constant.text(),
        "fallbacks": fallbacks(new),
    }


class _Constant:
    """Whether the check could tell the original's results from zeros, or from those of other inputs."""

    def __init__(self, numerics: str) -> None:
        self.numerics = numerics
        self.zeros, self.same, self.others = True, True, 0
        self.first: Any = None

    def add(self, inputs: list[torch.Tensor], results: list[torch.Tensor]) -> None:
        limits = _limits(results, self.numerics)
        zeros = [torch.zeros_like(t) for t in results]
        self.zeros = self.zeros and bool(results) and max(map(_excess, results, zeros, limits)) <= 1
        if self.first is None:
            self.first = ([t.clone() for t in inputs], [t.clone() for t in results])
            return
        if not self.same or all(map(torch.equal, inputs, self.first[0])):
            return  # a module given as an object has the same inputs every time
        alike = [t.shape for t in results] == [t.shape for t in self.first[1]]
        self.others += 1
        self.same = alike and max(map(_excess, self.first[1], results, limits), default=0.0) <= 1

    def text(self) -> str:
        if self.zeros:
            return "zeros"
        return "the result for other inputs" if self.same and self.others else ""


def fallbacks(new: torch.nn.Module) -> list[str]:
    """Why the drop-in went back to the original forward, if it did."""
    report = getattr(new, "solstice_fallbacks", None)
    return list(report()) if callable(report) else []


def _load_state(original: torch.nn.Module, new: torch.nn.Module) -> Any:
    try:
        new.load_state_dict(original.state_dict(), strict=True)
    except RuntimeError as error:  # how PyTorch reports keys and shapes that do not fit
        return str(error).split("\n")[0]
    return None


def _trial(
    session: Session,
    original: torch.nn.Module,
    new: torch.nn.Module,
    seed: int,
    numerics: str,
    constant: _Constant,
) -> dict[str, Any]:
    given = session.example_inputs(seed)
    copies = map_tensors(lambda t: t.clone(), given)
    reference, written = _called(session, original, given, seed)
    constant.add(tensor_leaves(copies), reference)
    produced, also = _called(session, new, copies, seed)
    for name in {**written, **also}:  # in place; where one side writes nothing, what was there counts
        reference.append(written[name] if name in written else _held(original, given, name))
        produced.append(also[name] if name in also else _held(new, copies, name))
    verdict = {"seed": seed, **_compare(reference, produced, numerics)}
    if verdict["max_excess"] is not None and not verdict["passed"]:
        verdict.update(_distances(session, original, seed, reference, produced, numerics))
    return verdict


def _called(
    session: Session, module: torch.nn.Module, given: tuple[tuple, dict], seed: int
) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """The results, and by name what the call wrote in place: buffers, which are put back, and inputs."""
    inputs = leaves(given)
    versions = [t._version if isinstance(t, torch.Tensor) else None for t in inputs]
    state = running.Buffers(module)
    owned = {t.untyped_storage()._cdata for t in (*tensor_leaves(inputs), *module_tensors(module))}
    torch.manual_seed(seed)
    with torch.no_grad():
        results = [running.own(t, owned) for t in tensor_leaves(module(*given[0], **given[1]))]
        session.synchronize()
        written: dict[str, torch.Tensor] = {**state.take_changes()}
    for i, (tensor, version) in enumerate(zip(inputs, versions)):
        if isinstance(tensor, torch.Tensor) and tensor._version != version:
            written[f"{_ARGUMENT}{i}"] = tensor
    return results, written


def _held(module: torch.nn.Module, given: tuple[tuple, dict], name: str) -> torch.Tensor:
    return leaves(given)[int(name[len(_ARGUMENT) :])] if name.startswith(_ARGUMENT) else module.get_buffer(name)


def _distances(
    session: Session,
    original: torch.nn.Module,
    seed: int,
    reference: list[torch.Tensor],
    produced: list[torch.Tensor],
    numerics: str,
) -> dict[str, float]:
    """How far both are from the float64 result, as multiples of the limit: an original that is further than the limit
    can fail an exact one. Nothing where there is no such result. What is not a result of `forward` (a buffer that it
    wrote) and integers count as off as they differ."""
    args, kwargs = session.example_inputs(seed)
    values = float64_values(original, args, kwargs, seed)
    session.empty_cache()
    if values is None:
        return {}
    whole = excess_of(*([t for t in side if not t.is_floating_point()] for side in (reference, produced)), numerics)
    reference, produced = ([t for t in side if t.is_floating_point()] for side in (reference, produced))
    exact = [value for name, value in values.items() if name.startswith("output.") and value.is_floating_point()]
    own, new = (max(map(_excess, exact, side, _limits(side, numerics)), default=0.0) for side in (reference, produced))
    written = excess_of(reference[len(exact) :], produced[len(exact) :], numerics)
    return {"original_off": min(own, _MOST), "new_off": min(max(new, written, whole), _MOST)}


def _limits(results: list[torch.Tensor], numerics: str) -> list[float]:
    return [tolerance(t.dtype, numerics) for t in results]


def _compare(reference: list[torch.Tensor], produced: list[torch.Tensor], numerics: str) -> dict[str, Any]:
    if [t.shape for t in reference] != [t.shape for t in produced]:
        return {**_FAILED, "reason": "the results have other shapes"}
    if [t.dtype for t in reference] != [t.dtype for t in produced]:
        shown = (", ".join(str(t.dtype)[6:] for t in side) for side in (produced, reference))
        reason = "the results have other dtypes: " + " instead of ".join(shown)
        return {**_FAILED, "reason": reason}
    if [t.device for t in reference] != [t.device for t in produced]:
        shown = (", ".join(str(t.device) for t in side) for side in (produced, reference))
        return {**_FAILED, "reason": "the results are on other devices: " + " instead of ".join(shown)}
    # Excess over the limit, as a multiple of it: at most 1 passes.
    limits = _limits(reference, numerics)
    worst = max(map(_excess, reference, produced, limits), default=0.0)
    passed = worst <= 1.0
    own = _limits(reference, "reference")
    strict = passed and (own == limits or max(map(_excess, reference, produced, own), default=0.0) <= 1.0)
    shown = worst if worst < float("inf") else None
    return {
        "passed": passed,
        "strict": strict,
        "reason": "" if passed else "elements differ by more than the limit",
        "max_excess": shown,
    }


def excess_of(reference: list[torch.Tensor], produced: list[torch.Tensor], numerics: str = "reference") -> float:
    """The largest difference of two lists of results of the same shapes, as a multiple of the check's limit."""
    return max(map(_excess, reference, produced, _limits(produced, numerics)), default=0.0)


def excess_alike(reference: list[torch.Tensor], produced: list[torch.Tensor], numerics: str) -> float:
    """The same of any results; infinite where shapes, dtypes or devices differ. NaN agrees with NaN: on inputs that
    the check does not make, the original may have it."""
    for r, p in zip(reference, produced):
        if (r.shape, r.dtype, r.device) != (p.shape, p.dtype, p.device):
            return float("inf")
    limits = _limits(produced, numerics)
    return max((_excess(r, p, limit, nan=True) for r, p, limit in zip(reference, produced, limits)), default=0.0)


def _excess(reference: torch.Tensor, produced: torch.Tensor, limit: float = FULL, nan: bool = False) -> float:
    """The largest difference as a multiple of the limit. `nan`: two NaN agree."""
    if not reference.numel():
        return 0.0
    if not reference.is_floating_point():
        return 0.0 if torch.equal(reference, produced) else float("inf")
    worst = 0.0
    for r, p in zip(reference.reshape(-1).split(1 << 27), produced.reshape(-1).split(1 << 27)):
        if r.dtype in (torch.float16, torch.bfloat16):  # whose own arithmetic would round the ratio
            r, p = r.float(), p.float()
        ratio = (r - p).abs().div_(p.abs().mul_(limit).add_(limit))
        if nan:
            ratio = torch.where(r.isnan() & p.isnan(), 0.0, ratio)
        # Equal infinities give NaN above and agree; other NaN never agree, as in torch.allclose.
        ratio = torch.where(r == p, 0.0, ratio).nan_to_num_(nan=float("inf"))
        worst = max(worst, ratio.max().item())
    return worst
