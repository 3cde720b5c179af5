"""`solstice.optimize`: the caller's process answers a stand-in of the program."""

import copy
import gc
import inspect
import io
import json
import os
import pathlib
import pickle
import tempfile

import pytest
import torch

import solstice
from conftest import ROOT

PROGRAM = str(ROOT / "tests" / "python" / "fake_program.py")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A folder for temporary ones of its own, so that what is left there is seen."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def optimize(*arguments, **options):
    return solstice.optimize(*arguments, program=PROGRAM, **{"progress": False, **options})


def test_the_callers_module_is_the_oracle(tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    out = tmp_path / "out"
    result = optimize(module, (torch.rand(2, 4),), out=out, budget="5s", numerics="high", seed=3, window=0)
    assert type(result).__name__ == "Sequential" and isinstance(result, torch.nn.Sequential)
    report = result.solstice.report
    arguments = report["arguments"]
    for words in (
        ["--budget", "5s"],
        ["--numerics", "high"],
        ["--seed", "3"],
        ["--window", "0"],
        ["--name", "Sequential"],
    ):
        assert arguments[arguments.index(words[0]) + 1] == words[1]
    assert not {"--device", "--weights", "--memory"} & set(arguments)  # a run that goes on has its own
    assert arguments[0] == "optimize" and "--json" in arguments and arguments[arguments.index("--out") + 1] == str(out)
    hello, load, trace, inputs, expected = report["heard"]
    assert load["class_name"] == "Sequential" and load["file"] is None
    assert [n["op"] for n in trace["graph"]["nodes"]] == ["aten.linear.default", "aten.relu.default"]
    assert inputs["inputs"][0]["shape"] == [2, 4] and expected["values"][0]["eager_error"] < 1e-5


def test_generators_are_left_as_they_are_found():
    module, x = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)), torch.rand(2, 4)
    before = torch.get_rng_state()
    optimize(module, x)
    assert torch.equal(before, torch.get_rng_state())


def test_a_module_that_nothing_replaces_says_why(temporary):
    module = torch.nn.Linear(4, 4)
    result = optimize(module, torch.rand(2, 4))
    found = result.solstice
    assert (found.outcome, found.reason, found.faster, found.speedup, found.folder) == (
        "predicted", "no GPU", False, None, None,
    )  # fmt: skip
    assert str(found) == "predicted: no GPU" and list(temporary.iterdir()) == []
    result.eval()
    assert not module.training and result.weight is module.weight  # they are one
    for twin in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert type(twin) is torch.nn.Linear and torch.equal(twin.weight, module.weight)


@pytest.fixture
def won(tmp_path, record, monkeypatch):
    """What the stand-in of the program finds."""
    folder = tmp_path / "won"
    folder.mkdir()
    (folder / "dropin.json").write_text(json.dumps(record))
    (folder / "plan.json").write_text((tmp_path / "plan.json").read_text())
    monkeypatch.setenv("FAKE_DROPIN", str(folder))


def test_the_kernels_live_as_long_as_their_module(won, temporary):
    module = torch.nn.Linear(4, 4)
    fast = optimize(module, torch.rand(2, 4), policy="win")
    found = fast.solstice
    assert (found.outcome, found.speedup, found.interval) == ("faster", 2.0, solstice.result.Interval(1.9, 2.1))
    assert found.original == 2e-3 and found.replacement is None and found.kernels[0].family == "map"
    assert str(found) == "2.00x faster" and fast.weight is module.weight
    (folder,) = temporary.iterdir()
    assert (folder / "plan.json").exists()
    del fast
    gc.collect()
    assert not folder.exists()


def test_a_named_folder_stays(won, tmp_path, temporary):
    fast = optimize(torch.nn.Linear(4, 4), torch.rand(2, 4), policy="win", out=tmp_path / "out")
    assert fast.solstice.folder == tmp_path / "out" and list(temporary.iterdir()) == []
    del fast
    gc.collect()
    assert (tmp_path / "out" / "plan.json").exists()


def test_an_error_of_the_program_has_its_code(temporary):
    with pytest.raises(solstice.Error, match="^this is fail$") as caught:
        optimize(torch.nn.ReLU(), torch.rand(2), policy="fail")
    error = caught.value
    assert (error.code, error.kind, error.file, error.line) == ("bad_argument", "input", "m.py", 3)
    with pytest.raises(solstice.Error, match="ended with status 70: .*oracle done") as caught:
        optimize(torch.nn.ReLU(), torch.rand(2), policy="die")
    assert (caught.value.code, caught.value.kind) == ("program.ended", "internal")
    assert list(temporary.iterdir()) == []


def test_a_run_stopped_early_attaches_no_earlier_outcome(tmp_path):
    (tmp_path / "dropin.json").write_text("{}")
    (tmp_path / "report.json").write_text("{}")
    result = optimize(torch.nn.ReLU(), torch.rand(2), out=tmp_path, policy="stop")
    assert (result.solstice.outcome, result.solstice.reason) == ("interrupted", "this is stop")


@pytest.mark.parametrize("kind", ["stderr", "stream", "function", "nobody"])
def test_where_progress_goes(kind, capsys):
    stream, lines = io.StringIO(), []
    progress = {"stderr": None, "stream": stream, "function": lines.append, "nobody": False}[kind]
    with pytest.raises(solstice.Error):
        optimize(torch.nn.ReLU(), torch.rand(2), policy="fail", progress=progress)
    printed = capsys.readouterr()
    said = {"stderr": printed.err, "stream": stream.getvalue(), "function": "\n".join(lines), "nobody": ""}[kind]
    assert ("oracle done" in said) == (kind != "nobody") and "error[" not in said
    assert printed.out == "" and (kind == "stderr" or printed.err == "")


def heard(result):
    return [i["shape"] for i in result.solstice.report["heard"][3]["inputs"]]


class Scaled(torch.nn.Module):
    def forward(self, x, other=None, *, scale=None):
        return x * scale if other is None else x + other["y"]


def test_positional_and_keyword_inputs():
    x, y = torch.rand(2, 4), torch.rand(4)
    assert heard(optimize(Scaled(), (x,), {"scale": y})) == [[2, 4], [4]]
    assert heard(optimize(Scaled(), x, {"scale": y})) == [[2, 4], [4]]
    assert heard(optimize(Scaled(), kwargs={"x": x, "scale": y})) == [[2, 4], [4]]
    assert heard(optimize(Scaled(), {"x": x, "scale": y})) == [[2, 4], [4]]
    assert heard(optimize(Scaled(), ((x,), {"scale": y}))) == [[2, 4], [4]]
    assert heard(optimize(Scaled(), (x, {"y": y}), {})) == [[2, 4], [4]]


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        ((lambda x: x, torch.rand(2)), {}, "takes a torch.nn.Module, not function"),
        ((torch.nn.ReLU(), torch.rand(2)), {"bugdet": "5s"}, "unexpected keyword argument 'bugdet'"),
        ((torch.nn.ReLU(), torch.rand(2)), {"agent": {"modle": "x"}}, "no option 'modle'"),
        ((torch.nn.ReLU(), torch.rand(2), [3]), {}, "kwargs must be a mapping"),
        ((torch.nn.ReLU(), torch.rand(2)), {"progress": 3}, "progress is None, False"),
    ],
)
def test_what_is_no_argument(arguments, options, message):
    with pytest.raises(TypeError, match=message):
        optimize(*arguments, **options)


@pytest.mark.parametrize(
    "module, args, message",
    [
        (torch.jit.script(torch.nn.Linear(8, 8)), torch.rand(4, 8), "is TorchScript.*; give the Python module"),
        (torch.jit.trace(torch.nn.ReLU(), torch.rand(2)), torch.rand(2), "is TorchScript.*; give the Python module"),
        (torch.nn.ReLU(), torch.rand(2).numpy(), "NumPy value of the type `ndarray`.*torch.from_numpy"),
        (torch.nn.ReLU(), (torch.rand(2).numpy()[0],), "NumPy value of the type `float32`.*x.item()"),
        (torch.nn.ReLU(), 3, "must be a list, tuple, dict or tensor, not `int`"),
    ],
)
def test_what_cannot_be_traced_is_an_error_in_words_of_the_call(module, args, message):
    with pytest.raises(solstice.Error, match=message) as caught:
        optimize(module, args, device="model", budget="5s")
    assert "get_inputs" not in str(caught.value)


def test_no_program(tmp_path):
    with pytest.raises(solstice.Error, match="not an executable file") as caught:
        solstice.optimize(torch.nn.ReLU(), torch.rand(2), program=str(tmp_path / "none"))
    assert caught.value.code == "optimize.no_program"


def test_importing_it_is_quick():
    import subprocess
    import sys

    script = "import solstice, sys; solstice.Error; print('torch' in sys.modules, dir(solstice))"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.stdout.startswith("False") and "'optimize'" in done.stdout, done.stderr


def test_its_options_are_those_of_the_program():
    """A signature with types; what each option is called there."""
    signature = inspect.signature(solstice.optimize)
    assert all(p.annotation is not p.empty for p in signature.parameters.values())
    assert not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    sources = [pathlib.Path(ROOT / "src/cli" / f).read_text() for f in ("commands/optimize.cpp", "agent_options.cpp")]
    sources += [pathlib.Path(ROOT / "src/cli" / f).read_text() for f in ("stop_options.cpp", "devices.cpp")]
    ours = set(signature.parameters) - {"module", "args", "kwargs", "progress", "out", "baselines", "agent", "program"}
    for name in (*ours, *solstice.optimizing.AGENT_OPTIONS, "no_baselines"):
        assert any(f'"--{name.replace("_", "-")}"' in text for text in sources), name
