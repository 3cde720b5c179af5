"""The cache of traced graphs: a hit says the same, and nothing that matters goes unseen."""

import json
import os
import subprocess
import sys

import pytest
import torch

from conftest import ROOT
from solstice.loading import load_file
from solstice.oracle import requests
from solstice.oracle.session import Session
from solstice.tracing import cache

MODEL = """
    import torch
    from helper_{tag} import scale

    class Model(torch.nn.Module):
        def __init__(self, width, act="relu"):
            super().__init__()
            self.linear = torch.nn.Linear(width, width)
            self.act = act

        def forward(self, x):
            return getattr(torch, self.act)(self.linear(x)) * scale()

    def get_inputs():
        return [torch.rand(2, 4)]

    def get_init_inputs():
        return {init}
"""


def session(tmp_path, write_model, tag, init="[4]", helper="def scale(): return 2.0"):
    """A session on freshly written files; a module's name is used once, since Python keeps it."""
    write_model(helper, name=f"helper_{tag}.py")
    path = write_model(MODEL.replace("{tag}", tag).replace("{init}", init), name=f"model_{tag}.py")
    made = Session(torch.device("cpu"))
    made.subject = load_file(path)
    return made


def trace(made, tmp_path):
    return requests.trace(made, cache_dir=str(tmp_path / "graphs"))


def test_a_second_trace_is_read_back(tmp_path, write_model):
    made = session(tmp_path, write_model, "again")
    first, second = trace(made, tmp_path), trace(made, tmp_path)
    assert not first["cached"] and second["cached"] and first["entry"] == second["entry"]
    assert json.loads(json.dumps(first["graph"])) == second["graph"]


def test_an_entry_that_is_read_is_the_latest_used(tmp_path, write_model):
    made = session(tmp_path, write_model, "used")
    trace(made, tmp_path)
    (entry,) = (tmp_path / "graphs").glob("*.json")
    os.utime(entry, (1e9, 1e9))
    assert trace(made, tmp_path)["cached"]
    assert entry.stat().st_mtime > 1e9 + 1


def key(made):
    return cache.key_of(made.subject, [], torch.device("cpu"))


def test_what_changes_the_key(tmp_path, write_model):
    made = session(tmp_path, write_model, "key")
    base = key(made)
    assert base == key(made)
    made.subject.module.eval()
    assert key(made) != base
    made.subject.module.train()
    made.subject.module.act = "tanh"
    assert key(made) != base
    made.subject.module.act = "relu"
    assert key(made) == base
    made.subject.module.linear.register_buffer("extra", torch.zeros(1))
    assert key(made) != base
    assert cache.key_of(made.subject, ["aten.mish.default"], torch.device("cpu")) != key(made)
    assert cache.key_of(made.subject, [], torch.device("cuda")) != key(made)


@pytest.mark.parametrize("sparse", [torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr()])
def test_sparse_state_has_no_key(tmp_path, write_model, sparse):
    made = session(tmp_path, write_model, "sparse")
    made.subject.module.register_buffer("sparse", sparse)
    assert key(made) is None


def test_the_text_of_a_local_module_counts(tmp_path, write_model):
    first = key(session(tmp_path, write_model, "text"))
    (tmp_path / "helper_text.py").write_text("def scale(): return 3.0")
    made = Session(torch.device("cpu"))
    made.subject = load_file(str(tmp_path / "model_text.py"))
    assert key(made) != first


def test_constructor_arguments_count(tmp_path, write_model):
    first = key(session(tmp_path, write_model, "init"))
    assert key(session(tmp_path, write_model, "init", init='[4, "tanh"]')) != first


def test_a_file_that_forward_imports_is_compared(tmp_path, write_model):
    """It is not loaded yet when the key is made."""
    (tmp_path / "lazy_scale.py").write_text("factor = 2.0")
    helper = "def scale():\n    import lazy_scale\n    return lazy_scale.factor"
    made = session(tmp_path, write_model, "lazy", helper=helper)
    name = key(made)
    entry = trace(made, tmp_path)["entry"]
    assert "lazy_scale" in [source["module"] for source in json.loads(open(entry).read())["sources"]]
    assert cache.find(str(tmp_path / "graphs"), name) is not None
    (tmp_path / "lazy_scale.py").write_text("factor = 5.0")
    assert cache.find(str(tmp_path / "graphs"), name) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "solstice.trace/1"}'])
def test_a_broken_entry_is_a_miss(tmp_path, text):
    (tmp_path / "k.json").write_text(text)
    assert cache.find(str(tmp_path), "k") is None


def test_what_cannot_be_keyed_is_not_kept(tmp_path, write_model):
    made = session(tmp_path, write_model, "unknown")
    made.subject.module.callback = lambda: made
    assert key(made) is None
    assert trace(made, tmp_path)["entry"] == ""


def test_a_full_disk_costs_the_entry_only(tmp_path, write_model, monkeypatch):
    made = session(tmp_path, write_model, "full")

    def no_space(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", no_space)
    reply = trace(made, tmp_path)
    assert reply["graph"]["nodes"] and reply["entry"] == ""
    assert not list((tmp_path / "graphs").iterdir())


def test_a_hit_does_not_import_the_compiler(tmp_path, write_model):
    program = """
import sys, torch
from solstice.oracle import requests
from solstice.oracle.session import Session
session = Session(torch.device("cpu"))
requests.load(session, file=sys.argv[1])
reply = requests.trace(session, cache_dir=sys.argv[2])
requests.prepare_inputs(session, set="a")
print(reply["cached"], "torch._dynamo" in sys.modules)
"""
    session(tmp_path, write_model, "light")
    arguments = [str(tmp_path / "model_light.py"), str(tmp_path / "graphs")]
    said = [
        subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=ROOT / "python", capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert said == [["False", "True"], ["True", "False"]]
