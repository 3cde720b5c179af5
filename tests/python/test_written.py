"""`optimize PROGRAM.ucut`: a problem that is written by hand, on predicted times, with a module and without PyTorch."""

import json
import pathlib
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = ROOT / "build" / "bin" / "solstice"
ROWS = ROOT / "docs" / "tutorial" / "rms_silu.ucut"
GIVEN = ROOT / "examples" / "programs" / "05_softmax.ucut"
FEW = ("--device", "model", "--budget", "60s,3trials", "--quiet")

HALF = '''import torch


class Model(torch.nn.Module):
    """Two inputs, a parameter, a buffer that is written."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(32))
        self.register_buffer("seen", torch.zeros(32))

    def forward(self, x, y):
        m = x.mean(0)
        self.seen.copy_(0.5 * self.seen + m)
        return torch.relu(x - m) * self.scale + y, x.sum(1)


def get_inputs():
    return [torch.rand(64, 32), torch.rand(64, 32)]


def get_init_inputs():
    return []
'''
# The same under other names, with a schedule.
NAMED = """program mine
dim B = 64, F = 32
param gain : f32[F] "scale"
buffer before : f32[F] "seen"
input y : f32[B, F]
input x : f32[B, F]
output first : f32[B, F]
output total : f32[B]
tensor after : f32[F] into before
tensor mu : f32[F]
kernel stats by reduce {
  mu[f] = mean[b](y[b,f])
}
kernel rest by map {
  after[f] = before[f]/2 + mu[f]
  first[b,f] = relu(y[b,f] - mu[f]) * gain[f] + x[b,f]
}
kernel sums by reduce {
  total[b] = sum[f](y[b,f])
}
"""

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built: `./x build`")


@pytest.fixture
def call(tmp_path):
    """The program in a folder of its own, with a store there."""

    def run(*arguments, code=0):
        command = [PROGRAM, *map(str, arguments), "--store", str(tmp_path / "store")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


@pytest.fixture
def pair(tmp_path):
    """A module, and its equations by somebody else."""
    (tmp_path / "half.py").write_text(HALF)
    (tmp_path / "mine.ucut").write_text(NAMED)
    return ("mine.ucut", "--of", "half.py")


def same(problem, candidate):
    return subprocess.run([PROGRAM, "same", problem, candidate], capture_output=True, text=True, timeout=120).stdout


def report_in(folder):
    return json.loads((folder / "report.json").read_text())


def test_equations_are_searched_and_predicted(call, tmp_path):
    text = call("optimize", ROWS, *FEW, "--out", "out")
    out = tmp_path / "out"
    report = report_in(out)
    assert (report["outcome"], report["problem"], report["file"]) == ("predicted", "rms_silu", str(ROWS))
    assert report["predicted"] and report["device"] == "model" and report["trials"]["done"] == 3
    assert "--device model: nothing was measured" in report["reason"] and report["reason"] in text
    assert report["predicted_original"] is None and not {"torch", "python"} & set(report["versions"])
    assert (out / "problem.ucut").read_text() == ROWS.read_text()
    assert "kernel " in (out / "program.ucut").read_text() == report["program"]
    assert f"program: {pathlib.Path('out/program.ucut')}" in text
    assert not (out / "model_new.py").exists() and "no model_new.py" in (out / "report.md").read_text()
    if "compiler" in report["versions"]:
        plan = json.loads((out / "plan.json").read_text())
        assert plan["modules"] and all((out / module["cubin"]).exists() for module in plan["modules"])


def test_without_a_gpu_no_python_is_started(call, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("SOLSTICE_PYTHON", "/nowhere/python")
    call("optimize", ROWS, "--budget", "20s,2trials", "--out", "out")
    report = report_in(tmp_path / "out")
    assert report["outcome"] == "predicted" and report["reason"].startswith("no GPU: nothing was measured")
    assert not {"torch", "python"} & set(report["versions"]) and not (tmp_path / "out" / "problem.py").exists()


def test_a_schedule_is_the_first_trial(call, tmp_path):
    call("optimize", GIVEN, *FEW, "--out", "out")
    report = report_in(tmp_path / "out")
    first = report["candidates"][0]
    assert (first["trial"], first["what"], first["meaning"]) == (1, "the given schedule", "proved")
    assert {c["what"] for c in report["candidates"][1:]} >= {"the cost models' first choice"}
    problem = (tmp_path / "out" / "problem.ucut").read_text()
    assert "kernel" not in problem and "e[m,n] = exp(x[m,n] - max[n](x[m,n]))" in problem
    assert same(tmp_path / "out" / "problem.ucut", GIVEN).startswith("proved")


def test_its_own_numerics_and_machine(call, tmp_path):
    written = tmp_path / "high.ucut"
    written.write_text(ROWS.read_text().replace("dim R", "target h100_sxm\nnumerics high\ndim R", 1))
    call("optimize", written, *FEW, "--out", "out")
    report = report_in(tmp_path / "out")
    assert (report["options"]["numerics"], report["machine"]) == ("high", "h100_sxm")
    said = call("optimize", written, *FEW, "--numerics", "reference", code=2)
    assert "high.ucut:3:1: error[E016]: `numerics high` is looser than this run's `reference`" in said


def test_a_run_goes_on(call, tmp_path):
    written = tmp_path / "rows.ucut"
    written.write_text(ROWS.read_text().replace("dim R", "numerics high\ndim R", 1))
    call("optimize", written, *FEW)
    call("optimize", "--resume", "last", "--budget", "5trials", "--quiet")
    report = report_in(tmp_path / "runs" / "rows")
    assert report["trials"]["done"] == 5 and report["options"]["numerics"] == "high"
    assert len(json.loads(call("show", "--json"))) == 1
    assert "names no inputs that another machine could measure with" in call("propose", "last", code=2)
    written.write_text(written.read_text() + "# more\n")
    assert "has changed since the run began" in call("optimize", "--resume", "last", code=2)


def test_other_files_keep_their_folder(call, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.ucut").write_text(ROWS.read_text())
        call("optimize", f"{folder}/p.ucut", *FEW)
    assert [report_in(tmp_path / "runs" / name)["file"][-8:] for name in ("p", "p-2")] == ["a/p.ucut", "b/p.ucut"]


@pytest.mark.parametrize("text", ["", "program p\ndim M = 4\ninput x : f32[M]\noutput y : f32[M]\ny[m] = x[n]\n"])
def test_a_mistake_leaves_nothing(call, tmp_path, text):
    (tmp_path / "p.ucut").write_text(text)
    assert "p.ucut has 1 mistake" in call("optimize", "p.ucut", code=2)
    assert not (tmp_path / "runs").exists() and json.loads(call("show", "--json")) == []


def test_what_no_family_runs_is_unsupported(call, tmp_path):
    text = call("optimize", ROOT / "examples" / "programs" / "11_moe.ucut", *FEW, "--json")
    report = json.loads(text)["report"]
    assert report["outcome"] == "unsupported" and report["reason"].startswith("11_moe.ucut:14: no kernel family runs")
    assert "write it by other equations" in report["reason"] and json.loads(text)["why"]


def test_an_interrupted_search_keeps_its_best(tmp_path):
    command = [
        PROGRAM,
        "optimize",
        GIVEN,
        "--device",
        "model",
        "--budget",
        "60s,1000trials",
        "--window",
        "0",
        "--eps",
        "0",
    ]
    places = ["--store", tmp_path / "store", "--out", tmp_path / "out"]
    with subprocess.Popen([*command, *places], stderr=subprocess.PIPE, text=True, cwd=tmp_path) as running:
        for line in running.stderr:
            if "trial 2: predicted" in line:
                break
        running.send_signal(signal.SIGINT)
        began = time.monotonic()
        running.stderr.read()
        assert running.wait(30) == 130 and time.monotonic() - began < 10
    report = report_in(tmp_path / "out")
    assert report["outcome"] == "interrupted" and "nothing was measured" in report["reason"] and report["program"]


def test_a_program_of_a_module(call, pair, tmp_path):
    text = call("optimize", *pair, *FEW, "--out", "out")
    assert "--device model: nothing was measured" in text
    out = tmp_path / "out"
    report = report_in(out)
    assert (report["outcome"], report["problem"]) == ("predicted", "mine")
    assert report["file"].endswith("mine.ucut") and report["original"].endswith("half.py")
    assert any("mine.ucut; its equations are the module's: proved" in w for w in report["warnings"])
    first = report["candidates"][0]
    assert (first["what"], first["meaning"]) == ("the given schedule", "proved")
    assert report["predicted_original"]["time"] > 0 and "The original: " in (out / "report.md").read_text()
    problem = (out / "problem.ucut").read_text()
    assert "first[b,f] = relu(y[b,f] - mu[f]) * gain[f] + x[b,f]" in problem and "kernel" not in problem


def test_a_program_of_another_module(call, pair, tmp_path):
    (tmp_path / "mine.ucut").write_text(NAMED.replace("relu(y[b,f] - mu[f])", "relu(y[b,f] + mu[f])"))
    said = call("optimize", *pair, *FEW, code=2)
    assert "mine.ucut does not compute half.py: `first[" in said and "`solstice import half.py`" in said
    assert not (tmp_path / "runs").exists()
    (tmp_path / "mine.ucut").write_text(NAMED.replace('"scale"', '"gain"'))
    said = call("optimize", *pair, *FEW, code=2)
    assert 'no `param` or `buffer` of the program has the path "scale"' in said


def test_the_run_of_both_goes_on(call, pair, tmp_path):
    call("optimize", *pair, *FEW)
    call("optimize", "--resume", "last", "--budget", "4trials", "--quiet")
    report = report_in(tmp_path / "runs" / "mine")
    assert report["trials"]["done"] == 4 and report["original"].endswith("half.py")
    said = call("optimize", "--resume", "last", "mine.ucut", "--quiet", code=2)
    assert "--of (the run has `" in said and "given is none" in said
    (tmp_path / "half.py").write_text(HALF + "# more\n")
    assert "has changed since the run began" in call("optimize", "--resume", "last", code=2)


def test_a_candidate_has_names_of_its_own(pair, tmp_path):
    command = [PROGRAM, "run", *pair, "--device", "model", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0 and "its equations are the module's: proved" in done.stdout, done.stdout + done.stderr


def test_numbers_may_be_written_as_they_are_meant(call, tmp_path):
    """The module's are as f32 holds them, for `run` as for `optimize`."""
    module = HALF.replace("torch.relu(x - m) * self.scale + y", "torch.relu(x - m) * self.scale + 0.1 * y")
    (tmp_path / "half.py").write_text(module)
    (tmp_path / "mine.ucut").write_text(NAMED.replace("+ x[b,f]", "+ 0.1 * x[b,f]"))
    given = ("mine.ucut", "--of", "half.py")
    command = [PROGRAM, "run", *given, "--device", "model", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0 and "its equations are the module's: " in done.stdout, done.stdout + done.stderr
    call("optimize", *given, *FEW)
    first = report_in(tmp_path / "runs" / "mine")["candidates"][0]
    assert (first["what"], first["state"]) == ("the given schedule", "predicted")


def test_a_program_with_its_module_goes_to_another_machine(call, pair, tmp_path):
    said = call("propose", "mine.ucut", code=2)
    assert "names no inputs that another machine could measure with" in said and "--of FILE.py" in said
    call("propose", *pair, "--batch", 2, "--out", "one", "--quiet")
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"batch.json", "candidates", "mine.ucut", "half.py"}
    assert (tmp_path / "one" / "candidates" / "1.ucut").read_text() == NAMED  # its own schedule comes first
    command = [PROGRAM, "evaluate", tmp_path / "one", "--device", "model", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["usable"] == 2, done.stdout + done.stderr
    assert "best: trial" in call("absorb", "one")
    call("propose", "last", "--batch", 1, "--out", "two", "--quiet")
    assert (tmp_path / "two" / "half.py").read_text() == HALF
