"""What is measured of a problem itself, and opponents that are not ready in time; on the CPU."""

import json
import time

import pytest
import torch

from solstice.handler import collect_requests
from solstice.loading import load_file
from solstice.oracle import rivals, timing
from solstice.oracle.deadline import Expired, within
from solstice.oracle.session import Session

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(64, 8)
        self.unused = torch.nn.Parameter(torch.ones(4))
        self.tiny = torch.nn.Parameter(torch.full((8,), 1e-6))
        self.zero = torch.nn.Parameter(torch.zeros(8))
    def forward(self, x): return RESULT
def get_inputs(): return [torch.rand(16, 64)]
def get_init_inputs(): return []
"""
SOUND = "self.l(x) + self.tiny + self.zero"


@pytest.fixture
def session_of(write_model):
    def make(result=SOUND):
        return Session(torch.device("cpu"), load_file(write_model(MODEL.replace("RESULT", result))))

    return make


def flaws_of(session):
    found = collect_requests(session)["find_flaws"](budget=60)
    json.dumps(found, allow_nan=False)
    return found


def test_removal_is_told_from_what_never_matters(session_of):
    session = session_of()
    before = {name: p.clone() for name, p in session.module().named_parameters()}
    found = flaws_of(session)
    assert found["unseen"] == ["tiny"] and found["dead"] == ["unused"]  # zeros cannot be removed
    assert found["constant"] == "" and found["change"] > 1 and found["off"] < 1
    assert all(torch.equal(before[name], p) for name, p in session.module().named_parameters())


@pytest.mark.parametrize(
    "result, constant",
    [
        ("self.l(x * 1e-6)", "the result for other inputs"),
        ("self.l(x) * 1e-5", "zeros"),
        ("self.l(x).softmax(-1)", ""),
        ("torch.rand(8) + 0 * x.sum()", "the result for other inputs"),  # what forward draws is the same for both
    ],
)
def test_a_constant_that_passes_the_check(session_of, result, constant):
    assert flaws_of(session_of(result))["constant"] == constant


def test_an_original_that_fails_the_check(session_of):
    assert flaws_of(session_of("self.l(x) + 1e4 - 1e4"))["off"] > 1


def test_a_budget_that_is_too_small_is_told(session_of):
    found = collect_requests(session_of())["find_flaws"](budget=-1)
    assert found["note"] == "only the first 0 of 6 tensors were looked at"


def test_a_deadline_ends_what_catches_errors():
    with pytest.raises(Expired):
        with within(0.05):
            while True:
                try:
                    time.sleep(0.01)
                except Exception:
                    pass
    with within(0.05):
        pass
    time.sleep(0.1)


@pytest.fixture
def opponents_on_the_host(monkeypatch):
    monkeypatch.setattr(timing, "need_gpu", lambda session: None)
    monkeypatch.setattr(rivals, "import_compiler", lambda: None)


def test_an_opponent_that_is_not_ready_in_time_says_so(session_of, opponents_on_the_host, monkeypatch):
    class Slow(torch.nn.Module):
        def forward(self, x):
            time.sleep(60)

    monkeypatch.setattr(torch, "compile", lambda module: Slow())
    made = [rivals.describe(r) for r in rivals.prepare(session_of(), deadline=0.2).rivals]
    assert [r["note"] for r in made] == ["", ""] + ["timed out: it was not ready after 0.2 s"] * 2
    assert made[0]["error"] < 1e-6 and made[2]["error"] is None


def test_dropins_stand_beside_the_opponents(session_of, opponents_on_the_host, monkeypatch, write_model):
    monkeypatch.setattr(torch, "compile", lambda module: module)
    new = MODEL.replace("RESULT", SOUND).replace("class Model", "class ModelNew")
    falls_back = new + "\nModelNew.solstice_fallbacks = lambda self: ['no GPU']"
    paths = {"ours": new, "lost": falls_back, "broken": "def"}
    dropins = [dict(name=name, path=write_model(text, f"{name}.py")) for name, text in paths.items()]
    session = session_of()
    with torch.no_grad():
        session.module().l.weight.mul_(2)  # the drop-in gets the module's weights
    made = {r.name: r for r in rivals.prepare(session, dropins).rivals}
    assert not made["ours"].failed and made["ours"].error < 1e-6
    assert made["lost"].note == "the drop-in fell back: no GPU"
    assert made["broken"].note.startswith("it cannot be loaded: ")


@pytest.mark.parametrize(
    "body, note",
    [
        ("return {'mine': lambda x: model(x), 'off': lambda x: model(x) + 1}", None),
        ("import no_such_package", "the Python package `no_such_package` is not installed"),
    ],
)
def test_a_file_may_bring_opponents_of_its_own(opponents_on_the_host, monkeypatch, write_model, body, note):
    monkeypatch.setattr(torch, "compile", lambda module: module)
    text = MODEL.replace("RESULT", SOUND) + f"\ndef opponents(model):\n    {body}\n"
    session = Session(torch.device("cpu"), load_file(write_model(text)))
    own = rivals.prepare(session).rivals[4:]
    if note:
        assert [(r.name, r.failed, r.note) for r in own] == [("the file's opponents", True, note)]
    else:
        assert [r.name for r in own] == ["mine", "off"] and own[0].error < 1e-6 < 0.1 < own[1].error
