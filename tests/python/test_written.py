"""`optimize PROGRAM.ucut`: a problem that is written by hand, on predicted times and without PyTorch."""

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
FEW = ("--budget", "60s,3trials", "--quiet")

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


def same(problem, candidate):
    return subprocess.run([PROGRAM, "same", problem, candidate], capture_output=True, text=True, timeout=120).stdout


def report_in(folder):
    return json.loads((folder / "report.json").read_text())


def test_equations_are_searched_and_predicted(call, tmp_path):
    text = call("optimize", ROWS, "--device", "model", *FEW, "--out", "out")
    out = tmp_path / "out"
    report = report_in(out)
    assert (report["outcome"], report["problem"], report["file"]) == ("predicted", "rms_silu", str(ROWS))
    assert report["predicted"] and report["device"] == "model" and report["trials"]["done"] == 3
    assert "a program has no inputs and no original" in report["reason"] and report["reason"] in text
    assert report["predicted_original"] is None and not {"torch", "python"} & set(report["versions"])
    assert (out / "problem.ucut").read_text() == ROWS.read_text()
    assert "kernel " in (out / "program.ucut").read_text() == report["program"]
    assert f"program: {pathlib.Path('out/program.ucut')}" in text
    assert not (out / "model_new.py").exists() and "no model_new.py" in (out / "report.md").read_text()
    if "compiler" in report["versions"]:
        plan = json.loads((out / "plan.json").read_text())
        assert plan["modules"] and all((out / module["cubin"]).exists() for module in plan["modules"])


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
    command = [PROGRAM, "optimize", GIVEN, "--budget", "60s,1000trials", "--window", "0", "--eps", "0"]
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
    assert report["outcome"] == "interrupted" and "a program has no inputs" in report["reason"] and report["program"]
