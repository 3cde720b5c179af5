"""What `solstice.optimize` found out: the `.solstice` of the module that it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

OUTCOMES = ("faster", "not faster", "predicted", "interrupted", "unsupported")


@dataclass(frozen=True)
class Interval:
    """A 99.9 % confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Kernel:
    """Of the program that was found."""

    name: str
    family: str


@dataclass(frozen=True)
class Part:
    """Of a module that PyTorch runs a part of: a stage of ours, or a call that stays PyTorch's."""

    what: str
    ours: bool
    time: Optional[float]  # in the replacement
    original: Optional[float]  # in PyTorch
    share: Optional[float]  # of the replacement's time
    predicted: bool
    place: str = ""  # file and line of a call
    why: str = ""  # it stays PyTorch's
    outcome: str = ""  # of a stage's own search
    trials: int = 0  # of that


@dataclass(frozen=True)
class Result:
    """Times are seconds. What was not measured is None."""

    outcome: str  # of OUTCOMES
    reason: str = ""  # why it is not faster
    speedup: Optional[float] = None  # the replacement's forward against the original's
    interval: Optional[Interval] = None  # of the speedup
    original: Optional[float] = None  # median
    replacement: Optional[float] = None
    predicted: bool = False  # times of candidates are a cost model's
    kernels: tuple[Kernel, ...] = ()
    parts: tuple[Part, ...] = ()  # empty: all of the module is ours, or none
    program: str = ""  # the equations with their schedule
    warnings: tuple[str, ...] = ()
    run: str = ""  # in the store: `solstice show RUN`
    folder: Optional[Path] = None  # of report.md, program.ucut and the cubins; None: nothing was to be left behind
    report: dict[str, Any] = field(default_factory=dict, repr=False)  # all of it, as report.json has it

    @property
    def faster(self) -> bool:
        return self.outcome == "faster"

    def __str__(self) -> str:
        if self.faster and self.speedup is not None:
            return f"{self.speedup:.2f}x faster"
        return f"{self.outcome}: {self.reason}" if self.reason else self.outcome


def result_of(module: Any) -> Result:
    """`module.solstice`, for type checkers: to them an attribute of a module is a tensor or a module."""
    result = getattr(module, "solstice", None)
    if not isinstance(result, Result):
        raise TypeError(f"result_of takes what solstice.optimize returned, not {type(module).__name__}")
    return result


def read_report(report: dict[str, Any], folder: Optional[Path]) -> Result:
    headline = report.get("headline") or {}
    speedup, low, high = (headline.get(name) or None for name in ("speedup", "speedup_low", "speedup_high"))
    return Result(
        outcome=report["outcome"],
        reason=report.get("reason", ""),
        speedup=speedup,
        interval=Interval(low, high) if low and high else None,
        original=_median(headline, "original"),
        replacement=_median(headline, "replacement"),
        predicted=report.get("predicted", False),
        kernels=tuple(Kernel(k["name"], k["family"]) for k in report.get("kernels", ())),
        parts=tuple(_part(row) for row in report.get("parts", ())),
        program=report.get("program", ""),
        warnings=(*([report["left_out"]] if report.get("left_out") else []), *report.get("warnings", ())),
        run=report.get("run", ""),
        folder=folder,
        report=report,
    )


def _part(row: dict[str, Any]) -> Part:
    return Part(
        row["what"],
        row["ours"],
        row.get("time"),
        row.get("original"),
        row.get("share"),
        row.get("predicted", False),
        row.get("place", ""),
        row.get("why", ""),
        row.get("outcome", ""),
        row.get("trials", 0),
    )


def _median(headline: dict[str, Any], name: str) -> Optional[float]:
    measured = headline.get(name)
    return measured["median"] if measured else None
