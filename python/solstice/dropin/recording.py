"""What a drop-in was recorded for: the facts that its guards compare with each call.

`dropin.json` (schema `solstice.dropin/1`, docs/protocol.md) lies beside model_new.py; the launch plan
next to it says which memory the kernels touch.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from typing import Any, Optional

import torch
from torch.utils import _pytree as pytree

from . import forms
from . import schedule as schedules
from .closed_form import Form
from .errors import DropinError
from .specs import DTYPES, TensorSpec, dtype_of
from .structure import Description

SCHEMA = "solstice.dropin/1"


@dataclass(frozen=True)
class Assumption:
    """A buffer that has to hold a closed form, whether the kernels read it or not."""

    path: str
    dtype: torch.dtype
    shape: tuple
    form: Form

    def text(self) -> str:
        value, otherwise = self.form["value"], self.form.get("otherwise")
        if self.form["kind"] == "arange":
            return f"a range from {value} in steps of {self.form['step']}"
        shown = [v["float"] if isinstance(v, dict) else v for v in (value, otherwise)]
        return f"a {self.form['kind']} of {shown[0]} and {shown[1]}"


@dataclass(frozen=True)
class Recording:
    folder: str
    plan_path: str
    library: str
    target: str
    arguments: list[Any]  # leaves of (args, kwargs): TensorSpec, or the constant itself
    state: list[TensorSpec]  # parameters and module buffers
    outputs: list[TensorSpec]
    results: list[tuple[str, Any]]  # leaves of the result: ("output", i), ("argument", i) or ("value", constant)
    slots: int
    in_tree: Optional[Any]  # None: positional tensors only
    out_tree: Optional[Any]  # None: one leaf
    flags: dict[str, Any]
    structure: Description  # of the module: classes and plain attributes by path
    tied: dict[str, list[str]]  # other paths of a parameter or module buffer
    frozen: bool
    persistent: bool  # the workspace keeps content from prepare on
    assumed: list[Assumption] = field(default_factory=list)  # buffers that have to hold a closed form
    by_place: bool = False  # `forward` counts elements from the beginning of a storage (`as_strided`)
    problem: str = ""  # why the files beside it are not its own; then nothing else here counts
    schedule: Optional[schedules.Schedule] = None  # of a module that PyTorch runs a part of; then there is no plan
    parts: list[dict[str, Any]] = field(default_factory=list)  # what is whose, with times
    in_form: forms.Form = None  # classes of the user's in the arguments, and in the result
    out_form: forms.Form = None

    @property
    def read(self) -> list[tuple[int, int]]:
        """Position and slot of the arguments that the kernels read."""
        return [(i, a.slot) for i, a in enumerate(self.arguments) if isinstance(a, TensorSpec) and a.slot >= 0]

    @property
    def moving(self) -> list[int]:
        """Slots whose address each call brings: arguments, then results."""
        return [slot for _, slot in self.read] + [o.slot for o in self.outputs]


def read(folder: str, record: dict[str, Any]) -> Recording:
    if record.get("schema") != SCHEMA:
        raise DropinError(f"the recording's schema is `{record.get('schema')}`; this runtime reads `{SCHEMA}`")
    problem = _foreign_content(folder, record)
    if problem:
        return _unusable(folder, record, problem)
    if "schedule" in record:
        return _read_scheduled(folder, record)
    plan_path = os.path.join(folder, record["plan"])
    with open(plan_path) as file:
        plan = json.load(file)
    interface = [b for b in plan["buffers"] if b["kind"] in ("input", "output", "param", "state")]
    specs = {b["name"]: _spec(slot, b) for slot, b in enumerate(interface)}
    outputs = [specs[b["name"]] for b in interface if b["kind"] == "output"]
    order = {b["name"]: i for i, b in enumerate(b for b in interface if b["kind"] == "output")}
    return Recording(
        folder=folder,
        plan_path=plan_path,
        library=os.path.join(folder, record["library"]),
        target=plan["target"],
        arguments=[_argument(a, specs) for a in record["arguments"]],
        state=[specs[b["name"]] for b in interface if b["kind"] in ("param", "state")],
        outputs=outputs,
        results=[_result(r, order, record["arguments"]) for r in record["results"]],
        slots=len(interface),
        in_tree=_input_tree(record),
        out_tree=_output_tree(record),
        in_form=_form(record.get("in_tree")),
        out_form=_form(record.get("out_tree")),
        flags=record["flags"],
        structure=record["structure"],
        tied=record.get("tied", {}),
        frozen=record["weights"] == "frozen",
        persistent=any(b.get("persistent", False) for b in plan["buffers"]),
        assumed=[
            Assumption(a["path"], DTYPES[a["dtype"]], tuple(a["shape"]), a["form"]) for a in record.get("assumed", [])
        ],
        by_place=record.get("by_place", False),
    )


def _read_scheduled(folder: str, record: dict[str, Any]) -> Recording:
    """The stages have recordings of their own; what is asked of the module is asked here."""
    if record.get("predicted"):
        why = "its kernels were predicted and not measured: run `solstice optimize` on a GPU"
        return _unusable(folder, record, why)
    structure, library = record["structure"], os.path.join(folder, record["library"])
    stages = {}
    for number, name in record["schedule"]["stages"].items():
        with open(os.path.join(folder, name, "dropin.json")) as file:
            stage = read(os.path.join(folder, name), json.load(file))
        stages[int(number)] = replace(stage, structure=structure, library=library, tied={})
    given = [g for g in record["schedule"]["given"].values() if "state" in g]
    return Recording(
        folder=folder,
        plan_path="",
        library=library,
        target=record["target"],
        arguments=[_argument(a, {}) for a in record["arguments"]],
        state=[
            TensorSpec(-1, dtype_of(g["dtype"]), tuple(g["shape"]), tuple(g["stride"]), 1, g["state"]) for g in given
        ],
        outputs=[],
        results=[],
        slots=0,
        in_tree=_input_tree(record),
        out_tree=_output_tree(record),
        in_form=_form(record.get("in_tree")),
        out_form=_form(record.get("out_tree")),
        flags=record["flags"],
        structure=structure,
        tied=record.get("tied", {}),
        frozen=False,
        persistent=any(stage.persistent for stage in stages.values()),
        assumed=[assumption for stage in stages.values() for assumption in stage.assumed],
        problem=next((stage.problem for stage in stages.values() if stage.problem), ""),
        schedule=schedules.read(record["schedule"], stages),
        parts=record.get("parts", []),
    )


def _foreign_content(folder: str, record: dict[str, Any]) -> str:
    """Which file is not the one that this was recorded with, as after a run that was killed while it replaced them."""
    for name, digest in record.get("content", {}).items():
        try:
            with open(os.path.join(folder, name), "rb") as file:
                found = hashlib.sha256(file.read()).hexdigest()
        except OSError as error:
            return f"{os.path.join(folder, name)} cannot be read: {error.strerror}"
        if found != digest:
            return (
                f"{os.path.join(folder, name)} belongs to another run than dropin.json beside it; "
                "run `solstice optimize` again"
            )
    return ""


def _unusable(folder: str, record: dict[str, Any], problem: str) -> Recording:
    none: dict[str, Any] = {"arguments": [], "state": [], "outputs": [], "results": [], "structure": {}, "tied": {}}
    none.update(
        plan_path="", library="", target="", slots=0, in_tree=None, out_tree=None, frozen=False, persistent=False
    )
    return Recording(folder=folder, flags=record["flags"], problem=problem, **none)


def _spec(slot: int, buffer: dict[str, Any]) -> TensorSpec:
    return TensorSpec(
        slot,
        DTYPES[buffer["dtype"]],
        tuple(buffer["shape"]),
        tuple(buffer["strides"]),
        buffer.get("alignment", 256),
        buffer.get("path", ""),
        buffer.get("written", False),
    )


@dataclass(frozen=True)
class Constant:
    """A leaf of the arguments that is no tensor."""

    value: Any

    def equals(self, value: Any) -> bool:
        return type(value) is type(self.value) and value == self.value


def _argument(entry: dict[str, Any], specs: dict[str, TensorSpec]) -> Any:
    if "value" in entry:
        return Constant(entry["value"])
    if entry.get("buffer") is not None:
        # The caller's layout, not the plan's: a kernel may take a view of what the caller passes.
        spec = specs[entry["buffer"]]
        return TensorSpec(
            spec.slot, DTYPES[entry["dtype"]], tuple(entry["shape"]), tuple(entry["stride"]), spec.alignment
        )
    return TensorSpec(-1, DTYPES[entry["dtype"]], tuple(entry["shape"]), tuple(entry["stride"]), 1)


def _result(entry: dict[str, Any], order: dict[str, int], arguments: list[dict[str, Any]]) -> tuple[str, Any]:
    if "buffer" in entry:
        if entry["buffer"] in order:
            return "output", order[entry["buffer"]]
        passed = [a.get("buffer") for a in arguments]  # the module returns an argument as it is
        return "argument", passed.index(entry["buffer"])
    if "argument" in entry:
        return "argument", entry["argument"]
    return "value", entry["value"]


def _tree(tree: list[Any]) -> Any:
    return pytree.treespec_loads(json.dumps(tree[:2]))


def _form(tree: Optional[list[Any]]) -> forms.Form:
    """It follows the tree, where there are such classes."""
    return tree[2] if tree is not None and len(tree) > 2 else None


def _input_tree(record: dict[str, Any]) -> Optional[Any]:
    tree = record.get("in_tree")
    if tree is None:
        return None
    spec = _tree(tree)
    plain = pytree.tree_flatten(((0,) * len(record["arguments"]), {}))[1]
    return None if spec == plain else spec


def _output_tree(record: dict[str, Any]) -> Optional[Any]:
    tree = record.get("out_tree")
    if tree is None:
        return None
    spec = _tree(tree)
    return None if spec == pytree.tree_flatten(0)[1] else spec
