"""Timing on the host, with the GPU's part replaced: what the tests of timing share."""

import pytest
import torch

from solstice.oracle import timing
from solstice.oracle.session import InputSet


class Fails(torch.nn.Module):
    """Out of memory at its `at`-th call."""

    def __init__(self, at):
        super().__init__()
        self.at, self.calls = at, 0

    def forward(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return x


class HostSession:
    device = torch.device("cpu")

    def __init__(self, module):
        self._module, self.emptied, self.news = module, 0, []

    def module(self, variant="built"):
        return self._module

    def empty_cache(self):
        self.emptied += 1

    def progress(self, stage, message=""):
        self.news.append((stage, message))


@pytest.fixture
def host(monkeypatch):
    """Timing on the host: no events, flushes of a few bytes."""
    properties = type("Properties", (), {"L2_cache_size": 512})
    event = type("Event", (), {"record": lambda self: None, "elapsed_time": lambda self, end: 1.0})
    monkeypatch.setattr(timing, "need_gpu", lambda session: None)
    monkeypatch.setattr(timing, "KERNELBENCH_FLUSH_BYTES", 1024)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (1 << 40, 1 << 40))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing=False: event())


def inputs_of(*tensors):
    return InputSet(1, "default", "built", tensors, {})
