"""A drop-in on host memory, with fake_rt.c in place of the runtime: what the tests of drop-ins share."""

import ctypes
import hashlib
import json
import warnings
from typing import Optional

import pytest
import torch

from solstice import dropin
from solstice.dropin import structure
from solstice.dropin.runtime import Runtime

SOURCE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.inner = torch.nn.Module()
        self.inner.w = torch.nn.Parameter(torch.tensor([scale]))
        self.drop = torch.nn.Dropout(0.0)
    def forward(self, x):
        return torch.relu(x * self.inner.w)
def get_inputs(): return [torch.rand(2, 3)]
def get_init_inputs(): return [2.0]
"""


class HostDevice:
    """What CudaDevice is for a GPU, for tensors on the host."""

    index = -1
    several = False
    capturing_into: Optional[int] = None  # the number of a graph
    stream_number = 0

    @classmethod
    def of(cls, leaves):
        return cls()

    def current(self):
        return -1

    def stream(self, index):
        return HostDevice.stream_number

    def capturing(self):
        return HostDevice.capturing_into is not None

    def capture(self, stream):
        return HostDevice.capturing_into

    def enter_thread(self):
        pass

    def empty(self, shape, stride, dtype):
        return torch.empty_strided(shape, stride, dtype=dtype)

    def workspace(self, bytes):
        return torch.empty(bytes, dtype=torch.uint8)

    def mismatch(self, target):
        return None if target == "sm_90a" else f"the kernels are built for {target}"


def buffer(name, kind, shape, **more):
    strides = [shape[1], 1] if len(shape) == 2 else [1]
    return {
        "name": name,
        "kind": kind,
        "dtype": "f32",
        "shape": shape,
        "strides": strides,
        "bytes": 24,
        "alignment": 4,
        **more,
    }


def write_recording(folder, library):
    """The module of SOURCE with a plan and, returned, the recording that goes with it."""
    (folder / "model_original.py").write_text(SOURCE)
    plan = {
        "schema": "solstice.plan/1",
        "program": "p",
        "target": "sm_90a",
        "modules": [],
        "steps": [],
        "buffers": [
            buffer("x", "input", [2, 3]),
            buffer("w", "param", [1], path="inner.w"),
            buffer("y", "output", [2, 3]),
            {"name": "s", "kind": "workspace"},
        ],
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    record = {
        "schema": "solstice.dropin/1",
        "source": {
            "file": "model_original.py",
            "class": "Model",
            "sha256": hashlib.sha256(SOURCE.encode()).hexdigest(),
        },
        "plan": "plan.json",
        "library": str(library),
        "weights": "live",
        "arguments": [{"buffer": "x", "dtype": "f32", "shape": [2, 3], "stride": [3, 1]}],
        "results": [{"buffer": "y"}],
        "flags": {
            "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
            "cudnn_tf32": torch.backends.cudnn.allow_tf32,
            "deterministic": False,
        },
    }
    record["structure"] = structure.describe(dropin.load_original(str(folder), record).Model(2.0))
    return record


class Subject:
    """The module of SOURCE and its drop-in, side by side."""

    def __init__(self, folder, record, library):
        self._folder = folder
        self._counts = ctypes.CDLL(str(library))
        self.original = dropin.load_original(str(folder), record).Model(2.0)
        self.new = self.module(record)
        self.x = torch.randn(2, 3)

    def module(self, record, original=None):
        """The drop-in that a recording makes, of another class than SOURCE's if one is given."""
        recording = dropin.read(str(self._folder), record)
        replace = lambda module, r: Runtime(module, r, HostDevice.of)
        return dropin.replacement(original or type(self.original), recording, replace)(2.0)

    def launches(self):
        return self._counts.fake_launches()

    def prepares(self):
        return self._counts.fake_prepares()

    def live_plans(self):
        return self._counts.fake_live_plans()

    def call(self, x=None, module=None, **kwargs):
        """The result, and whether the kernels made it."""
        before = self.launches()
        result = (module or self.new)(self.x if x is None else x, **kwargs)
        return result, self.launches() > before


class Holder(torch.nn.Module):
    """A module with an attribute that its `forward` gives back."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return x, self.value


def difference(now, was):
    """Between modules that hold these values; None if the drop-in takes one for the other."""
    return structure.difference(Holder(now), structure.describe(Holder(was)))


def reads_value(subject, record, make):
    """A module whose `forward` also returns its attribute `value`, which its constructor makes; recorded as it is."""

    class Original(type(subject.original)):
        def __init__(self, scale):
            super().__init__(scale)
            self.value = make()

        def forward(self, x):
            return torch.relu(x * self.inner.w), self.value

    return subject.module({**record, "structure": structure.describe(Original(2.0))}, Original)


def refused(subject, reason, x=None, module=None, **kwargs):
    x = subject.x if x is None else x
    with pytest.warns(UserWarning, match=reason):
        result, fast = subject.call(x, module, **kwargs)
    assert not fast
    torch.testing.assert_close(result, subject.original(x), equal_nan=True, check_dtype=False)
    with warnings.catch_warnings():  # each reason is said once
        warnings.simplefilter("error")
        subject.call(x, module, **kwargs)
